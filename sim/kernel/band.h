// SPDX-License-Identifier: Apache-2.0
// The order in which blocks take the cells of a grid: along x, then y, then z; or down bands of so
// many columns, the last of which may be narrower. Operands that neighbours share stay in L2 then.
//
//   5 columns, bands of 2:   0 1 | 6 7 | 12
//                            2 3 | 8 9 | 13
//                            4 5 | 10 11 | 14
#pragma once

#include <algorithm>

#include "kernel/kernel.h"

namespace wavetail::kernel {

// The nth of the cells; `band` columns at a time, 0: all.
[[nodiscard]] inline Dim3 nth_cell(const Dim3& cells, std::int64_t band, std::int64_t n) {
  const std::int64_t plane = cells[0] * cells[1], z = n / plane, in_plane = n % plane;
  if (band <= 0 || band >= cells[0]) { return {in_plane % cells[0], in_plane / cells[0], z}; }
  const std::int64_t first = in_plane / (band * cells[1]) * band;
  const std::int64_t width = std::min(band, cells[0] - first);
  const std::int64_t in_band = in_plane - first * cells[1];
  return {first + in_band % width, in_band / width, z};
}

// The cluster of blocks, as a cell of the grid of clusters, that is the nth in order.
[[nodiscard]] inline Dim3 nth_cluster(const Dim3& blocks, const Kernel& k, std::int64_t n) {
  const Dim3 cells{blocks[0] / k.cluster[0], blocks[1] / k.cluster[1], blocks[2] / k.cluster[2]};
  const Dim3 cell = nth_cell(cells, k.band / k.cluster[0], n);
  return {cell[0] * k.cluster[0], cell[1] * k.cluster[1], cell[2] * k.cluster[2]};
}

}  // namespace wavetail::kernel
