// SPDX-License-Identifier: Apache-2.0
// Where a warp stands in its block's share of a launch's tiles.
#pragma once

#include "kernel/share.h"

namespace wavetail::sm {

struct WarpShare {
  kernel::Dim3 index{};     // the tile that strides per block refer to; outside the loop, blockIdx
  kernel::Portion portion;  // of the cluster
  std::int64_t cluster = 0;
};

}  // namespace wavetail::sm
