// SPDX-License-Identifier: Apache-2.0
// The instructions of a synthetic warp program, as plain values. A program is a list of ops;
// counted loops and divergent branches hold programs of their own.
//
//   repeat 8 { load x, 16 B per lane, contiguous, 2 of them; wait until none is outstanding;
//              16 FMA; store y }
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "kernel/async.h"
#include "kernel/shared_access.h"
#include "unit/quantity.h"

namespace wavetail::kernel {

using unit::Bytes;

// Redux: reductions over the lanes of a warp (redux.sync).
enum class Pipe : std::uint8_t { Fp32, Int32, Fp64, Sfu, Redux };
inline constexpr std::size_t kPipes = 5;

enum class OpKind : std::uint8_t {
  Arithmetic,  // `count` instructions on `pipe`, each depending on the one `distance` before it
  Load,        // `count` global loads, asynchronous until waited for
  Store,       // `count` global stores
  WaitLoads,   // wait until all but the newest `count` load instructions of this warp have returned
  SharedLoad,  // `count` loads from shared memory, asynchronous until waited for
  SharedStore,    // `count` stores to shared memory
  WaitShared,     // as WaitLoads, for loads from shared memory
  BlockBarrier,   // __syncthreads()
  Repeat,         // `count` times body[0]
  Diverge,        // the lanes (or warps) of a warp (or block) go separate ways, one per body entry
  CpAsync,        // `count` copies from global to shared memory, past the registers (cp.async)
  CpAsyncCommit,  // what was copied since the last one becomes a group
  CpAsyncWait,    // wait until all but the newest `count` groups have landed
  TmaLoad,        // boxes to shared memory; one elected thread of the role's first warp
  TmaStore,       // boxes to global memory, one group; the same thread
  TmaStoreWait,   // until all but the newest `count` groups have left shared memory
  MbarrierWait,   // until the phase of `mbarrier` is complete
  // One arrival per warp; `cluster_wide`: at every block, `pair`: at the pair's first; by `count`
  // lanes, one after the other.
  MbarrierArrive,
  Wgmma,           // `count` warpgroup instructions, asynchronous, one group
  WgmmaWait,       // until all but the newest `count` groups are done
  Mma,             // `count` mma.sync, each depending on the one `distance` before it
  Mfma,            // the same of AMD's v_mfma
  Tcgen05Mma,      // `count` tcgen05.mma, asynchronous, by one thread of the role's first warp
  Tcgen05Copy,     // tcgen05.cp: `bytes` from shared to tensor memory, in order with the products
  Tcgen05Commit,   // an arrival at `mbarrier` when all of the thread's products so far are done
  Tcgen05Load,     // `count` tcgen05.ld of `columns` from tensor memory, asynchronous
  Tcgen05Store,    // `count` tcgen05.st of `columns` to it
  Tcgen05Wait,     // tcgen05.wait: until all of the warp's loads (`count` 0) or stores (1) are done
  NamedBarrier,    // bar.sync, bar.arrive
  ClusterBarrier,  // barrier.cluster
  PeerLoad,        // `count` loads from a peer's shared memory, waited for as global loads are
  PeerStore,       // `count` stores to it
  SetMaxRegisters,  // setmaxnreg: `count` registers per thread
};

// How the lanes of one warp instruction spread around the instruction's address.
enum class Pattern : std::uint8_t {
  Contiguous,  // lane i at i * width
  Strided,     // lane i at i * stride
  RowPerLane,  // as Strided with stride = row pitch: each lane walks a row of its own
  Broadcast,   // all lanes at offset 0
  Random,      // each lane at a seeded random multiple of width within the array
  Listed,      // lane i at offsets[i]; lanes beyond the end of the list are inactive
};

// How the instruction's address moves over the array from block to block, warp to warp and trip to
// trip. Named walks are resolved to strides by the compiler; every address wraps at the array's
// end.
enum class WalkKind : std::uint8_t {
  Grid,      // grid-stride loop: all warps of the grid side by side, then the next trip
  Block,     // each block owns a contiguous region, its warps side by side
  Warp,      // each warp owns a contiguous region
  Thread,    // each thread owns its elements: lanes are (elements per thread) x width apart
  Same,      // every block reads the same data, its warps side by side
  Everyone,  // every warp reads the same data
  Strides,   // as `strides` says
};

struct MemoryAccess {
  int array = -1;  // index into Kernel::arrays
  int width = 4;   // bytes per lane: 1, 2, 4, 8 or 16
  Pattern pattern = Pattern::Contiguous;
  // Read, modified and written back in L2. A load brings the old value (PTX atom), a store does not
  // (PTX red). `aggregate`: lanes with one address leave the SM as one operation.
  bool atomic = false, aggregate = true;
  std::int64_t stride = 0;                 // bytes, for Strided and RowPerLane
  std::vector<std::int64_t> offsets = {};  // bytes, for Listed
  std::uint64_t seed = 0;                  // for Random
  int lanes = 0;                           // active lanes; 0: the whole warp
  bool bypass_l1 = false;  // streaming: does not allocate in L1 (ld.global.L1::no_allocate, .cg)
  WalkKind walk = WalkKind::Grid;
  Strides strides = {};     // for WalkKind::Strides
  std::int64_t offset = 0;  // bytes, added to every address

  bool operator==(const MemoryAccess&) const = default;
};

// Portion: the block goes one of three ways: its portion is a whole tile, steps of one that others
// continue, or its last steps (kernel/share.h). Rank: block i of a cluster goes way i modulo the
// number of ways.
enum class DivergeBy : std::uint8_t { Lane, Warp, Portion, Rank };

// What a counted loop runs over. Tiles: the portions of Kernel::shares that fall to the block;
// inside, strides per block are strides per tile. Steps, inside Tiles: the steps of its portion but
// the first `skip`; strides per trip count from the tile's first step. Index: as many trips as the
// index of the block (inside Tiles: of its tile) gives, see Trips.
enum class Over : std::uint8_t { Count, Tiles, Steps, Index };

// Trips of a loop that differ from block to block, as the blocks of keys that a causal tile of
// queries attends to: (offset + index . block_x/y/z) / divisor, rounded down, but `least` at least
// and at most Op::count.
struct Trips {
  std::int64_t offset = 0;
  std::int64_t block_x = 0, block_y = 0, block_z = 0;  // may be negative
  std::int64_t divisor = 1;
  std::int64_t least = 0;

  bool operator==(const Trips&) const = default;
};

struct Op {
  OpKind kind = OpKind::Arithmetic;
  // instructions; Repeat: trips; waits: what may stay outstanding
  std::int64_t count = 1;
  Pipe pipe = Pipe::Fp32;     // Arithmetic
  std::int64_t distance = 1;  // Arithmetic: instructions between dependent ones
  int flops_per_lane = 0;     // Arithmetic: floating-point operations per lane and instruction
  // Arithmetic: bookkeeping beside asynchronous products, which nothing waits for; the run issues
  // in one turn of its warp, however long it is.
  bool beside = false;
  MemoryAccess access = {};   // Load, Store, CpAsync
  SharedAccess shared = {};   // SharedLoad, SharedStore
  int mbarrier = -1;          // of Kernel::mbarriers: waited for, arrived at, signalled
  bool cluster_wide = false;  // MbarrierArrive
  // Of a pair of blocks with neighbouring ranks. MbarrierArrive, TmaLoad: at the first one's
  // mbarrier; Tcgen05Commit: at those of both.
  bool pair = false;
  std::int64_t columns = 0;     // Tcgen05Load, Tcgen05Store: of 4 bytes per lane
  std::int64_t bytes = 0;       // Tcgen05Copy
  std::vector<Box> boxes = {};  // TmaLoad, TmaStore
  TensorShape tensor = {};      // Wgmma, Mma, Mfma, Tcgen05Mma
  BarrierUse barrier = {};      // NamedBarrier, ClusterBarrier
  PeerAccess peer = {};         // PeerLoad, PeerStore
  DivergeBy diverge_by = DivergeBy::Lane;
  Over over = Over::Count;  // Repeat; `count` is then the most trips of any block
  Trips trips = {};         // Repeat over Index
  std::int64_t skip = 0;
  // Repeat: one; Diverge: one per way (lanes are split evenly)
  std::vector<std::vector<Op>> bodies = {};

  bool operator==(const Op&) const = default;
};

using Program = std::vector<Op>;

// Deepest nesting of counted loops in a program.
inline constexpr int kMaxLoopDepth = 6;

}  // namespace wavetail::kernel
