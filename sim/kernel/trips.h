// SPDX-License-Identifier: Apache-2.0
// How many trips a loop over Over::Index makes in a block, and in all blocks of a launch together.
#pragma once

#include <algorithm>

#include "kernel/kernel.h"

namespace wavetail::kernel {

[[nodiscard]] inline std::int64_t trips_of(const Trips& t, std::int64_t most, const Dim3& index) {
  const std::int64_t sum = t.offset + t.block_x * index[0] + t.block_y * index[1] +
                           t.block_z * index[2];
  const std::int64_t down = sum / t.divisor - (sum % t.divisor < 0 ? 1 : 0);
  return std::clamp(down, std::min(t.least, most), most);
}

// The most trips of any block, and their mean, over a grid of blocks (or of tiles).
struct TripCount {
  std::int64_t most = 0;
  double mean = 0;
};

// Goes through the axes that matter only.
[[nodiscard]] inline TripCount count_trips(const Trips& t, std::int64_t most, const Dim3& grid) {
  const Dim3 strides{t.block_x, t.block_y, t.block_z};
  Dim3 ends{1, 1, 1};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    if (strides[axis] != 0) { ends[axis] = grid[axis]; }
  }
  TripCount n;
  double sum = 0;
  for (std::int64_t z = 0; z < ends[2]; ++z) {
    for (std::int64_t y = 0; y < ends[1]; ++y) {
      for (std::int64_t x = 0; x < ends[0]; ++x) {
        const std::int64_t trips = trips_of(t, most, {x, y, z});
        n.most = std::max(n.most, trips);
        sum += static_cast<double>(trips);
      }
    }
  }
  n.mean = sum / static_cast<double>(volume(ends));
  return n;
}

// Blocks, or the tiles that they share out.
[[nodiscard]] inline const Dim3& indices_of(const Kernel& k) {
  return k.shares ? k.shares->tiles : k.grid;
}

}  // namespace wavetail::kernel
