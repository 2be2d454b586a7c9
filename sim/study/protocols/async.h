// SPDX-License-Identifier: Apache-2.0
// What protocols of asynchronous copies share: operations, and kernels whose blocks are alike warps
// that loop.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "library/parts.h"
#include "study/protocols/bench.h"

namespace wavetail::study {

// A box of `rows` rows of the array `array` that moves as `strides` says.
[[nodiscard]] kernel::Box box(std::int64_t rows, std::int64_t row_bytes, std::int64_t pitch,
                              kernel::Strides strides);

[[nodiscard]] kernel::Op tma_load(std::vector<kernel::Box> boxes, int mbarrier);
[[nodiscard]] kernel::Op mbarrier_wait(int mbarrier);
[[nodiscard]] kernel::Op cluster_barrier();

// Dependent operations from a wait's end to the next request of a loop, as compiled for the GPUs on
// which the benchmarks ran (nvcc 13.0, -O3): branches, predicates and moves to uniform registers
// keep a lone warp about four cycles each.
inline constexpr std::int64_t kNextRange = 22;      // tma_bw, cuda::barrier, sm_90
inline constexpr std::int64_t kNextTensorBox = 24;  // tma_bw_2d, tma_bw_3d, likewise
inline constexpr std::int64_t kNextOfRing = 15;     // tma2d_tput, sm_100
inline constexpr std::int64_t kNextOfStep = 25;     // tma2dmcast_tput, sm_100
inline constexpr std::int64_t kNextCopy = 3;        // ldgsts_tput, four trips unrolled, sm_100

// One copy per lane, `width` bytes wide, the lanes side by side.
[[nodiscard]] kernel::Op cp_async(std::int64_t width, std::int64_t count, kernel::Strides strides,
                                  std::int64_t offset = 0);
[[nodiscard]] kernel::Op cp_async_commit();
[[nodiscard]] kernel::Op cp_async_wait(std::int64_t newest_left);

// "128x16 fp32", with that `suffix`: elements of a row and rows of a box, 1 to 256 each.
[[nodiscard]] std::pair<std::int64_t, std::int64_t> sides_of(std::string_view key,
                                                             const std::string& text,
                                                             std::string_view suffix);

// A ring of mbarriers that boxes land on.
[[nodiscard]] kernel::Mbarrier ring(std::string name, std::int64_t stages);

// How many rounds of `bytes` each take at least `least` rounds and `traffic` bytes.
[[nodiscard]] std::int64_t rounds_for(double traffic, double bytes, std::int64_t least);

}  // namespace wavetail::study
