// SPDX-License-Identifier: Apache-2.0
// The launch rules: how many blocks of a kernel fit on one SM, what keeps more from fitting, and
// how many rounds of blocks the grid needs. Exact, without simulation.
//
//   Launch a{.block = 256, .registers = 128, .shared_memory = 48_KiB};
//   occupy(h100, a)  ->  2 blocks, 16 of 64 warps, 25 %, limited by registers
//
// Tensor memory is handed out per block in columns, a power of two from 32 on. Registers are handed
// out per warp in units, from the file of the sub-partition where the warp
// lives; shared memory per block in units, with the driver's reserve on top. `setmaxnreg` moves
// registers inside a block and changes none of this. Limits and units come from the GPU's file or,
// by compute capability, from gpu/architecture.h.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "gpu/spec.h"
#include "kernel/kernel.h"
#include "unit/quantity.h"

namespace wavetail::occupancy {

// Blocks of a cluster that every part with clusters takes (CUDA C++ Programming Guide, thread block
// clusters); more need cudaFuncAttributeNonPortableClusterSizeAllowed.
inline constexpr std::int64_t kPortableCluster = 8;

struct Launch {
  std::int64_t block = 0;       // threads per block
  std::int64_t registers = 0;   // per thread
  unit::Bytes shared_memory{};  // per block, static and dynamic, without the driver's reserve
  std::int64_t cluster = 1;     // blocks per cluster
  std::int64_t grid = 0;        // blocks, not clusters; 0: not known
  bool portable = false;        // without the opt-in to clusters above kPortableCluster
  // Shared memory per SM that the kernel prefers (cudaFuncAttributePreferredSharedMemoryCarveout);
  // the next step is taken, or the one that holds a block. Without it the driver's choice: as much
  // as the blocks need that everything else allows.
  std::optional<unit::Bytes> carveout = {};
  std::int64_t tmem_columns = 0;  // of tensor memory, per block
};

// Blocks per SM that each resource allows on its own; nothing where a block takes none of it.
struct Limits {
  std::optional<std::int64_t> registers, shared_memory, tmem;
  std::int64_t warps = 0, blocks = 0;
};

struct Occupancy {
  bool launchable = false;
  // The binding limits, with what a block takes of each and what there is; or everything for which
  // the launch is refused.
  std::string reason;
  std::int64_t blocks_per_sm = 0;
  std::int64_t warps_per_block = 0;
  std::int64_t warps_per_sm = 0;
  double theoretical_pct = 0;  // warps_per_sm / the SM's warp slots
  double lane_pct = 0;         // threads of a block / lanes of its warps
  Limits limits;
  // Every resource that allows no more than blocks_per_sm; of a refused launch, every one that
  // refuses it.
  std::vector<std::string> limiters;
  unit::Bytes carveout;            // the step of shared memory that the SM is set to
  unit::Bytes l1;                  // what the carve-out leaves
  std::int64_t reachable_sms = 0;  // SMs on which a cluster can place a block; 0: not known
  std::int64_t waves = 0;          // rounds of blocks; 0 if the grid is not known
  double wave_efficiency_pct = 0;  // grid / (waves x blocks that fit at once)

  // Blocks that are resident at once when the grid is large enough; 0 if the SMs are not known.
  [[nodiscard]] std::int64_t capacity() const { return reachable_sms * blocks_per_sm; }
};

[[nodiscard]] Launch launch_of(const kernel::Kernel& kernel);

// Never fails: a launch that the hardware refuses comes back with launchable = false, 0 blocks and
// a reason that names every resource. A GPU without `gpcs` (gpu::rules_of) leaves SMs and waves
// out.
[[nodiscard]] Occupancy occupy(const gpu::GpuSpec& gpu, const Launch& launch);

// Registers that one warp takes from its sub-partition.
[[nodiscard]] std::int64_t registers_per_warp(const gpu::GpuSpec& gpu,
                                              std::int64_t registers_per_thread);

// Shared memory that one block takes from its SM, reserve included.
[[nodiscard]] unit::Bytes shared_memory_per_block(const gpu::GpuSpec& gpu, unit::Bytes asked);

// SMs that blocks can reach when every cluster has to lie inside one GPC, one block of it per SM.
[[nodiscard]] std::int64_t reachable_sms(const gpu::GpuSpec& gpu, std::int64_t cluster);

}  // namespace wavetail::occupancy
