// SPDX-License-Identifier: Apache-2.0
// Shapes of a normalisation (RMSNorm) and its eager form: the eight kernels that a framework
// launches when nothing is fused, with FP32 intermediates.
#pragma once

#include <string>
#include <vector>

#include "library/parts.h"

namespace wavetail::library {

struct NormShape {
  std::int64_t rows = 0, cols = 0;
  std::string dtype;
  std::string x, y, weights;  // array names
  bool fresh = false;         // weights of its own per launch
};

// The chain in launch order, named "1" to "8".
[[nodiscard]] std::vector<kernel::Kernel> eager_norm(const NormShape& shape,
                                                     const gpu::GpuSpec& gpu);

}  // namespace wavetail::library
