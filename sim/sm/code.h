// SPDX-License-Identifier: Apache-2.0
// A warp program as the SM executes it: the tree of ops flattened to instructions with jumps, named
// walks resolved to strides, pipe timing filled in from the GpuSpec. Compiled once per kernel and
// GPU.
#pragma once

#include <array>
#include <cstdint>
#include <deque>
#include <span>
#include <vector>

#include "gpu/spec.h"
#include "isa/mbarriers.h"
#include "isa/tensor.h"
#include "kernel/kernel.h"
#include "memory/shape.h"
#include "sm/shared_code.h"

namespace wavetail::sm {

enum class InstrKind : std::uint8_t {
  Arithmetic,
  SharedLoad,
  SharedStore,
  Load,
  Store,
  WaitLoads,
  WaitShared,
  Barrier,
  LoopEnd,      // next trip of loop `depth` at `target`, or fall through
  Branch,       // enters one way of a divergent branch
  SkipUnless,   // jumps to `target` unless this warp takes way `way` of `ways`
  TilesBegin,   // first portion of the block's share, or jumps to `target` if there is none
  TilesEnd,     // next portion at `target`, or fall through
  StepsBegin,   // step `count` of the portion, or jumps to `target` if it ends before
  StepsEnd,     // next step at `target`, or fall through
  SkipPortion,  // jumps to `target` unless the portion is of kind `way`
  SkipRank,     // jumps to `target` unless the block's rank takes way `way` of `ways`
  IndexBegin,   // a loop whose trips the block's index says; jumps to `target` if there are none
  IndexEnd,     // next trip at `target`, or fall through
  Exit,
  // Asynchronous, tensor and cluster instructions; all but the first take an issue slot.
  CpAsyncWait,
  CpAsync,
  CpAsyncCommit,
  TmaLoad,
  TmaStore,
  TmaStoreWait,
  MbarrierWait,
  MbarrierArrive,
  Wgmma,
  WgmmaWait,
  Mma,
  Tcgen05Mma,
  Tcgen05Copy,
  Tcgen05Commit,
  Tcgen05Load,
  Tcgen05Store,
  Tcgen05Wait,
  NamedBarrier,
  ClusterBarrier,
  PeerLoad,
  PeerStore,
  SetMaxRegisters,
};

struct Instr {
  InstrKind kind = InstrKind::Exit;
  kernel::Pipe pipe = kernel::Pipe::Fp32;
  std::uint8_t depth = 0;   // LoopEnd
  std::int16_t lanes = 32;  // active
  std::int32_t flops_per_lane = 0;
  std::int64_t count = 1;  // instructions; LoopEnd: trips; waits: loads that may stay outstanding
  std::int32_t interval = 1;     // cycles between two of them in one warp (dependency)
  std::int32_t pipe_cycles = 1;  // cycles that one keeps its pipe
  std::int32_t latency = 1;      // last issue to dependent issue
  std::int32_t crossing = 0;     // Arithmetic: longer wait for a result of another pipe
  std::int32_t access = -1;      // Load, Store, CpAsync; SharedLoad, SharedStore: of shared
  std::int32_t object = -1;  // into the table of its kind: boxes, tensor, barriers, peers, trips
  std::int32_t mbarrier = -1;
  std::int32_t target = 0;
  std::int16_t ways = 1, way = 0;
  bool beside = false;        // as kernel::Op
  bool counts_trips = false;  // the end of a long loop (Code::long_loops)
};

// A loop of many trips that stands in no other loop but that over tiles. Trips of it may be left
// out, as many of every warp of a launch (device/trip_skip.h).
struct LongLoop {
  std::int32_t first = 0, end = 0;  // instructions: behind its begin, its end
  std::int32_t depth = 0;
};

// Where a memory instruction goes: array base + sum of index x stride, modulo the array.
struct CompiledAccess {
  int array = 0;
  int width = 4;
  bool bypass_l1 = false;
  bool atomic = false, aggregate = true;  // as in kernel::MemoryAccess
  bool random = false;
  std::uint64_t seed = 0;
  std::int64_t wrap = 0;  // bytes; addresses are taken modulo this
  // Bytes of the array, in whole lines, and how far the lanes reach from the instruction's address:
  // those that lie beyond the array's end wrap to its start.
  std::int64_t bytes = 0, reach = 0;
  std::int64_t offset = 0;
  std::array<std::int64_t, 3> block{};
  std::vector<std::int64_t> at_z;  // in place of block[2]
  std::int64_t warp = 0, count = 0;
  std::array<std::int64_t, kernel::kMaxLoopDepth> loop{};
  int depth = 0;                           // enclosing loops
  std::vector<std::int64_t> lane_offsets;  // of the active lanes

  int first_lane = 0;  // the first of them
  // A copy past L1: its data pass the banks where they land, taken to be side by side.
  bool lands_in_order = false;
  // Of two passes of lanes with the same addresses (memory/banks.h).
  bool merge_pairs = false;
  std::int64_t unit_bytes = 0;  // that the load/store unit moves per cycle, thousandths
  std::int64_t unit_lanes = 0;  // whose addresses it takes per cycle; 0: all

  // What one instruction touches, its wavefronts in the banks of the data, and how long these and
  // its addresses keep the load/store unit; its tags may keep it longer if it has more lines than
  // cycles.
  struct Request {
    memory::Shape shape;
    memory::BankAccess banks;
    std::int64_t cycles = 0;
  };

  // What blockIdx.z adds.
  [[nodiscard]] std::int64_t of_z(std::int64_t z) const {
    return at_z.empty() ? z * block[2] : at_z[static_cast<std::size_t>(z)];
  }

  // Whether all lanes of an instruction at this offset from the array's start lie in the array.
  [[nodiscard]] bool holds_lanes(std::int64_t from_start) const {
    return from_start + reach <= bytes;
  }

  // At an address with this misalignment (address modulo 128); made when first needed.
  [[nodiscard]] const Request& request(int misalignment) const;
  // Of active lanes at these offsets from the instruction's address.
  [[nodiscard]] Request request_of(std::span<const std::int64_t> offsets,
                                   std::int64_t address) const;

 private:
  mutable std::array<std::int16_t, memory::kLineBytes> known_{};  // index + 1 into requests_
  mutable std::deque<Request> requests_;
};

// Where a box goes: array base + sum of index x stride, modulo the array, moved down by whole
// rows if it would reach beyond its end.
struct CompiledBox {
  kernel::Box box;
  std::int64_t array_bytes = 0;
  CompiledAccess place;                  // its strides
  std::int64_t receivers = 1;            // blocks that it lands in
  std::int64_t rows = 1, row_bytes = 0;  // of the share that one block fetches
};

struct CompiledBulk {
  std::vector<CompiledBox> boxes;
  std::int64_t bytes = 0;  // that land in each receiver
  bool pair = false;       // they complete a phase at the pair's first block
};

// A run of tensor instructions: thousandths of a cycle each.
struct CompiledTensor {
  isa::TensorCost cost;
  std::int64_t interval = 0;  // mma: from one to the next of its chain
  std::int64_t start = 0;     // wgmma: of the pipe, per group
  std::int64_t ctas = 1;      // tcgen05: SMs that work on it
};

struct CompiledPeer {
  int sectors = 0;
  std::int64_t bytes = 0, cycles = 1;  // of the load/store unit
  std::int64_t to = 1;
};

// Whose mbarrier an arrival is for, in Instr::target: the block's own, all of the cluster's, those
// of the pair (MbarrierArrive: of its first block).
inline constexpr std::int32_t kAtBlock = 0, kAtCluster = 1, kAtPair = 2;

// Instructions that one turn of a warp passes at most, with those that cost nothing: loops, waits
// for what is there already. Beyond that the turn ends, so that no event goes on for ever.
inline constexpr int kMaxTurnSteps = 512;

// Loads that a warp can have outstanding.
inline constexpr std::uint32_t kMaxScoreboard = 64;

// Instructions per turn of a warp whose program has mma.sync: fragments, products and copies of all
// warps want the load/store unit and the tensor pipes within a few cycles of each other, and longer
// turns let one warp run too far ahead of the others.
inline constexpr std::int64_t kMmaTurn = 1;
// Of one whose products stand in longer runs, as attention's do: the copies and fragments that
// other warps want in between wait for half of a run at most.
inline constexpr std::int64_t kLongMmaRun = 16, kLongMmaTurn = 8;

struct Code {
  std::vector<Instr> instrs;
  std::int64_t longest_turn = INT64_MAX;  // instructions
  // Some wait lets loads stay outstanding: it matters when each load returns.
  bool partial_waits = false;
  // Loads of a warp that can be told apart: a power of two, enough for what the program has
  // outstanding, at most kMaxScoreboard.
  std::uint32_t scoreboard = kMaxScoreboard;
  std::vector<CompiledAccess> accesses;
  std::vector<CompiledShared> shared;
  std::vector<CompiledBulk> bulks;
  std::vector<CompiledTensor> tensors;
  std::vector<kernel::BarrierUse> barriers;
  std::vector<CompiledPeer> peers;
  std::vector<kernel::Trips> trips;
  std::vector<LongLoop> long_loops;
  std::vector<isa::MbarrierPlan> mbarriers;  // of the block
  std::vector<std::string> operations;       // by instruction, for hang reports
  // Mbarriers that every warp of the role waits for, one bit each.
  std::uint64_t waits_for = 0;
  bool asynchronous = false;     // some role of the kernel has such instructions
  bool cluster_barrier = false;  // some role comes to the cluster's barrier
  bool shares = false;           // some loop runs over portions of Kernel::shares
};

// One Code per role of the kernel, and one more for the block's last warp if the threads of a block
// do not fill it.
[[nodiscard]] std::vector<Code> compile(const kernel::Kernel& kernel, const gpu::GpuSpec& gpu);

}  // namespace wavetail::sm
