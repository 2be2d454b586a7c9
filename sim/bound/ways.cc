// SPDX-License-Identifier: Apache-2.0
// Which lanes, warps and blocks go which way of a divergent operation.
#include <algorithm>

#include "bound/work.h"

namespace wavetail::bound {

Lanes lanes_of_warp(const kernel::Kernel& kernel, std::int64_t warp, std::int64_t warp_size) {
  const auto left = std::clamp<std::int64_t>(kernel.block - warp * warp_size, 0, warp_size);
  return {0, static_cast<int>(left)};
}

double ranks_of_way(const kernel::Kernel& kernel, std::size_t way, std::size_t ways) {
  const auto blocks = static_cast<std::size_t>(kernel::volume(kernel.cluster));
  const std::size_t taken = blocks / ways + (blocks % ways > way ? 1 : 0);
  return static_cast<double>(taken) / static_cast<double>(blocks);
}

std::size_t way_of_warp(std::int64_t warp, std::size_t ways) {
  return static_cast<std::size_t>(warp) % ways;
}

Lanes lanes_of_way(Lanes active, std::size_t way, std::size_t ways) {
  const auto at = [&](std::size_t w) {
    return active.first + static_cast<int>(static_cast<std::size_t>(active.count) * w / ways);
  };
  return {at(way), at(way + 1) - at(way)};
}

}  // namespace wavetail::bound
