// SPDX-License-Identifier: Apache-2.0
// D = A B on tensor cores: the plan of such a kernel, and what its programs are made of. A is
// row-major [m, k]; B is row-major [k, n] or, K-major, [n, k]; D is row-major [m, n]. blockIdx.x
// counts tiles along N, y along M, z groups of columns of tiles (or splits of K):
//
// tiles_n = 8, group = 4:
//
//   z = 0: x = 0 1 2 3    z = 1: x = 0 1 2 3
//   y = 0      0 1 2 3               . . . .
//   y = 1      4 5 6 7               . . . .
//
// Blocks start along x, then y, then z: a wave covers a compact part of D.
//
//   gemm.cc         the template's parameters
//   gemm_plan.cc    parameters to a plan, and their mistakes
//   gemm_choice.cc  tile, cluster and order where the scenario leaves them open
//   gemm_wgmma.cc   TMA and wgmma
//   gemm_mma.cc     cp.async or plain copies and mma.sync
//   gemm_store.cc   epilogues, workspace, the reduction behind split-K
#pragma once

#include <array>
#include <string>
#include <vector>

#include "kernel/share.h"
#include "library/parts.h"

namespace wavetail::library::gemm {

enum class Mainloop : std::uint8_t { Tma, CpAsync, Sync };
enum class Schedule : std::uint8_t { DataParallel, Persistent, StreamK };

struct Shape {
  std::int64_t m = 0, n = 0, k = 0;
  kernel::TensorType type = kernel::TensorType::Bf16;
  int element = 2, out_element = 2;  // bytes of A and B, of D
  bool b_k_major = false;            // B is [n, k]
};

struct Tile {
  std::int64_t m = 0, n = 0, k = 0;
};

// Bytes of a block's shared memory beside the stages: mbarriers and the alignment of the stages to
// the 1 KiB that a 128 B swizzle repeats at.
inline constexpr std::int64_t kBesideStages = 1024;

struct Plan {
  Shape shape;
  Tile tile;
  Mainloop mainloop = Mainloop::Tma;
  Schedule schedule = Schedule::DataParallel;
  bool specialised = false;   // a producer warp and consumer warpgroups
  bool tma_epilogue = false;  // D leaves through shared memory and the TMA
  bool multicast = false;
  std::int64_t cluster_x = 1, cluster_y = 1;
  std::int64_t stages = 1;
  std::int64_t split = 1;
  std::int64_t group = 1;                 // columns of tiles that are walked down together
  std::int64_t tiles_m = 1, tiles_n = 1;  // padded to whole clusters
  std::int64_t steps = 1;                 // of K per tile (and split)
  std::int64_t capacity = 1;              // blocks that are resident at once
  std::string why;                        // what was chosen, for the note

  [[nodiscard]] std::int64_t a_bytes() const { return tile.m * tile.k * shape.element; }

  [[nodiscard]] std::int64_t b_bytes() const { return tile.n * tile.k * shape.element; }

  [[nodiscard]] std::int64_t stage_bytes() const { return a_bytes() + b_bytes(); }

  [[nodiscard]] std::int64_t tiles() const { return tiles_m * tiles_n; }

  [[nodiscard]] std::int64_t cluster() const { return cluster_x * cluster_y; }

  // Warps that multiply, and how they divide the tile among them: wgmma takes blocks of 64 rows, a
  // warpgroup each; mma.sync a grid of warps.
  [[nodiscard]] std::int64_t warps() const;
  [[nodiscard]] std::int64_t row_blocks() const;  // wgmma: blocks of 64 rows per warpgroup
  [[nodiscard]] Tile warp_tile() const;           // mma.sync

  [[nodiscard]] std::int64_t accumulators() const {  // registers per multiplying thread
    return tile.m * tile.n / (warps() * 32);
  }

  // Columns of D that are staged at once: 128 bytes of a row, and how many such buffers there are.
  [[nodiscard]] std::int64_t strip() const;

  [[nodiscard]] std::int64_t strips() const { return tile.n / strip(); }

  [[nodiscard]] std::int64_t buffers() const { return strips() < 2 ? 1 : 2; }

  [[nodiscard]] std::int64_t staging_bytes() const {
    return tma_epilogue ? tile.m * strip() * shape.out_element * buffers() : 0;
  }

  [[nodiscard]] std::int64_t shared_bytes() const {
    return stages * stage_bytes() + staging_bytes() + kBesideStages;
  }

  [[nodiscard]] std::int64_t partial_bytes() const { return tile.m * tile.n * 4; }

  [[nodiscard]] bool loops_over_tiles() const { return schedule != Schedule::DataParallel; }
};

// Registers per thread beside accumulators: addresses, descriptors, fragments.
inline constexpr std::int64_t kOtherRegisters = 40;
inline constexpr std::int64_t kProducerRegisters = 40;
inline constexpr std::int64_t kMostAccumulators = 208;

[[nodiscard]] int out_bytes(kernel::TensorType type);
[[nodiscard]] std::int64_t registers_of(const Plan& plan);  // per thread, as launched

// gemm_plan.cc
[[nodiscard]] std::vector<Mistake> make_plan(const Values& v, const gpu::GpuSpec& gpu, Plan& plan);
// The most stages that fit.
[[nodiscard]] std::int64_t most_stages(const Plan& plan, const gpu::GpuSpec& gpu);
// Tiles along both sides, padded to the cluster.
void count_tiles(Plan& plan);
void count_capacity(Plan& plan, const gpu::GpuSpec& gpu);

// gemm_choice.cc
struct Wanted {  // by the scenario
  bool tile = false, cluster = false, split = false;
};

void choose_tile(Plan& plan, const Wanted& wanted, const gpu::GpuSpec& gpu);
[[nodiscard]] std::int64_t choose_group(const Plan& plan);
[[nodiscard]] double estimate_us(const Plan& plan, const gpu::GpuSpec& gpu);
[[nodiscard]] std::string wave_note(const Plan& plan);

// Programs. Array numbers in all of them:
inline constexpr int kA = 0, kB = 1, kD = 2, kWorkspace = 3;

// Strides of a tile's corner: A moves with y, B with x and z, D with all.
[[nodiscard]] kernel::Strides a_strides(const Plan& plan, const std::vector<std::int64_t>& loop);
[[nodiscard]] kernel::Strides b_strides(const Plan& plan, const std::vector<std::int64_t>& loop);
[[nodiscard]] kernel::Strides d_strides(const Plan& plan);
// Bytes from one step of K to the next.
[[nodiscard]] std::int64_t a_step(const Plan& plan);
[[nodiscard]] std::int64_t b_step(const Plan& plan);
[[nodiscard]] std::int64_t a_pitch(const Plan& plan);
[[nodiscard]] std::int64_t b_pitch(const Plan& plan);
[[nodiscard]] std::int64_t d_pitch(const Plan& plan);

void fill_wgmma(kernel::Kernel& k, const Plan& plan, const gpu::GpuSpec& gpu);
void fill_mma(kernel::Kernel& k, const Plan& plan, const gpu::GpuSpec& gpu);

// What follows the last step of a tile: to D, to the workspace, or as the portion says. `depth`:
// enclosing loops.
[[nodiscard]] Listing finish_tile(const Plan& plan, std::int64_t depth);
// Puts `tile` into the loop over the block's tiles, if there is one.
[[nodiscard]] Listing over_tiles(const Plan& plan, Listing tile);
// One tile's loop over K, of which the first `skip` steps have been done.
[[nodiscard]] Listing over_steps(const Plan& plan, Listing step, std::int64_t skip = 0);
[[nodiscard]] kernel::Kernel reduce_kernel(const Plan& plan, const gpu::GpuSpec& gpu,
                                           const std::string& y);

[[nodiscard]] kernel::Op simple(kernel::OpKind kind, std::int64_t count = 1);
[[nodiscard]] kernel::Op on_mbarrier(kernel::OpKind kind, int mbarrier, bool cluster_wide = false);

}  // namespace wavetail::library::gemm
