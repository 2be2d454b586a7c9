// SPDX-License-Identifier: Apache-2.0
// A kernel as the machine sees it at launch: a grid of blocks, what each block occupies, and the
// program of every warp role. Plain values; library/ and scenario/ make them, sm/ compiles them,
// device/ runs them.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernel/op.h"
#include "unit/quantity.h"

namespace wavetail::kernel {

using Dim3 = std::array<std::int64_t, 3>;  // x, y, z

constexpr std::int64_t volume(const Dim3& d) { return d[0] * d[1] * d[2]; }

// A named range of global memory. Arrays of the same name in different kernels of one scenario are
// the same memory (the producer's output is the consumer's input, and may still be in L2).
struct Array {
  std::string name;
  Bytes bytes;
  bool per_launch = false;  // every launch gets its own copy: weights of successive layers
  // Its lines stay in L2 as far as the set-aside for persisting accesses goes (CUDA: an access
  // policy window with hitProp persisting over the whole array).
  bool persisting = false;
  // Launches of a kernel take so many copies in turn: launch n has copy n modulo `copies`
  // (benchmarks rotate weights so that caches do not hold all of them). Not with per_launch.
  std::int64_t copies = 1;

  bool operator==(const Array&) const = default;
};

// Warps of a block that run the same program (a plain kernel has one role).
struct Role {
  std::string name;
  std::int64_t warps = 0;
  std::optional<std::int64_t> registers;  // setmaxnreg; residency is decided by Kernel::registers
  Program program;

  bool operator==(const Role&) const = default;
};

// Work that the blocks share out among themselves (kernel/share.h): a grid of tiles, larger than
// the launch's, of so many steps each. Loops and branches of a program refer to it (op.h).
struct Shares {
  Dim3 tiles{1, 1, 1};  // the cluster divides it in every dimension
  std::int64_t steps = 1;
  // Every cluster takes an equal share of all steps in a row (stream-K); else whole tiles, dealt
  // out in turn (a persistent kernel).
  bool contiguous = false;
  // Not contiguous: of this many clusters n, cluster c takes only the last (c + 1) / n of its first
  // tile, so that clusters come and go one after the other, as in the middle of a long launch.
  std::int64_t staggered = 0;

  bool operator==(const Shares&) const = default;
};

struct Kernel {
  std::string name;
  std::string role;  // qkv, attention, ... for reports; may be empty
  Dim3 grid{1, 1, 1};
  Dim3 cluster{1, 1, 1};  // blocks per cluster; divides the grid in every dimension
  // Columns of the grid, or of the tiles that are shared out, that are gone down together before
  // the next so many (kernel/band.h); the cluster divides it. 0: all of them.
  std::int64_t band = 0;
  bool portable = false;          // without the opt-in to clusters above the portable size
  std::int64_t block = 0;         // threads per block
  std::int64_t registers = 0;     // per thread, as launched
  Bytes shared_memory;            // static + dynamic, per block
  std::int64_t tmem_columns = 0;  // of tensor memory, per block: 0 or a power of two from 32 on
  std::optional<Bytes> carveout;  // shared memory per SM that it prefers; else what its blocks need
  std::vector<Array> arrays;
  std::vector<Mbarrier> mbarriers;  // of every block
  std::vector<Role> roles;
  std::optional<Shares> shares;
  // a stand-in of stated duration: nothing is simulated inside
  std::optional<unit::Duration> duration;

  // How random its data are: 1 random bits, 0 all zero. Scales what they cost (gpu::EnergySpec).
  double randomness = 1;

  // What the algorithm has to move and compute at least, for the bound (set by templates; own
  // programs get them from their arrays and ops). Bytes count each touched byte once.
  std::optional<Bytes> compulsory_read, compulsory_write;
  double flops = 0;                          // floating-point operations of the whole launch
  std::optional<std::int64_t> accumulators;  // registers of a block that hold FP32 sums
  std::string note;                          // what a template chose and why, one line
  std::string template_name;                 // empty for a program of the scenario's own

  bool operator==(const Kernel&) const = default;
};

}  // namespace wavetail::kernel
