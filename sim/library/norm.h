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

// Beyond the fused RMSNorm forward: which mean is taken, which way, and where a row stays.
struct NormWay {
  bool layer = false;     // LayerNorm: mean and variance, scale and bias
  bool backward = false;  // gradients of the input and, summed over rows, of the scale (and bias)
  bool again = false;     // the row is read again behind the statistics, not kept in registers
  bool residual = false;
  std::int64_t threads = 0;  // per block; 0: as Triton kernels choose, or 128 where read again
};

// norm_rows.cc. One kernel; backward a second one, NAME.sum, that sums what the blocks have left.
[[nodiscard]] std::vector<Mistake> norm_rows(const NormShape& shape, const NormWay& way,
                                             const gpu::GpuSpec& gpu,
                                             std::vector<kernel::Kernel>& out);

// The chain in launch order, named "1" to "8".
[[nodiscard]] std::vector<kernel::Kernel> eager_norm(const NormShape& shape,
                                                     const gpu::GpuSpec& gpu);

}  // namespace wavetail::library
