// SPDX-License-Identifier: Apache-2.0
// D = A B in FP32 on the FP32 pipe, once or for a batch: what such a kernel is made of. A is
// row-major [m, k], B row-major [k, n] or, K-major, [n, k]; D is row-major [m, n]. A block holds a
// tile of D in its threads' registers and walks K in steps through a ring of stages in shared
// memory; a warp multiplies a part of the tile, each lane a patch of it. blockIdx.x counts tiles
// along N, y along M, z the batch (and parts of K).
//
// Copies take 16 B per lane where rows are whole multiples of that, else a word. Sliced tiles, as
// cuBLAS's sliced1x4: groups of warps hold the whole tile each and take a share of every step of K;
// the epilogue sums them.
#pragma once

#include <string>
#include <vector>

#include "library/parts.h"

namespace wavetail::library::sgemm {

struct Plan {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  bool b_k_major = true;
  std::int64_t tile_m = 0, tile_n = 0, tile_k = 8;
  std::int64_t threads = 0, slices = 1, stages = 3, split = 1;
  bool async = true;       // cp.async; else through registers
  bool word_wise = false;  // fragments a word at a time, as a first version of a kernel has them
  bool converted = false;  // fragments are turned into FP32, an instruction per element
  bool aligned = true;     // copies of 16 B; else of a word along K, as kernels for any K have them
  std::int64_t steps_run = 0;  // steps of K, where a study cuts them; 0: all
  std::string why;             // what was chosen, for the note

  [[nodiscard]] std::int64_t warps() const { return threads / 32; }

  // Warps of a slice stand in a grid over the tile that makes their parts as square as can be.
  [[nodiscard]] std::int64_t warps_m() const;

  [[nodiscard]] std::int64_t warps_n() const { return warps() / slices / warps_m(); }

  [[nodiscard]] std::int64_t patch() const { return tile_m * tile_n * slices / threads; }

  [[nodiscard]] std::int64_t tiles() const {
    return ceil_div(m, tile_m) * ceil_div(n, tile_n) * batch * split;
  }

  [[nodiscard]] std::int64_t steps() const { return ceil_div(ceil_div(k, tile_k), split); }

  [[nodiscard]] std::int64_t trips() const { return steps_run > 0 ? steps_run : steps(); }

  [[nodiscard]] std::int64_t stage_bytes() const { return (tile_m + tile_n) * tile_k * 4; }

  [[nodiscard]] std::int64_t registers() const;
};

// Of a plan with a split: sums its parts, NAME.reduce.
[[nodiscard]] kernel::Kernel sum_of_parts(const Plan& plan, const gpu::GpuSpec& gpu,
                                          const std::string& y);

// The fastest of the tiles that cuBLAS has, by how the grid fills the SMs and by what a step costs
// on the FP32 pipe and in shared memory; sets tile, threads and split of a plan with a shape.
void choose(Plan& plan, const gpu::GpuSpec& gpu, bool split_too);

[[nodiscard]] kernel::Kernel main_kernel(const Plan& plan, const gpu::GpuSpec& gpu,
                                         const std::string& x, const std::string& weights,
                                         const std::string& y);

}  // namespace wavetail::library::sgemm
