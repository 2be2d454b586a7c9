// SPDX-License-Identifier: Apache-2.0
// Softmax over rows: shared by `softmax` and `cross_entropy`.
#pragma once

#include <string>
#include <vector>

#include "library/row_kernel.h"

namespace wavetail::library {

struct SoftmaxShape {
  std::int64_t rows = 0, cols = 0;
  std::string dtype;
  std::string method;        // empty: as an eager framework chooses
  std::string x, y;          // array names
  std::int64_t threads = 0;  // per block; 0: chosen
};

// Appends the kernel, or says why the method does not go with the shape.
[[nodiscard]] std::vector<Mistake> softmax(const SoftmaxShape& shape, const gpu::GpuSpec& gpu,
                                           std::vector<kernel::Kernel>& out);

}  // namespace wavetail::library
