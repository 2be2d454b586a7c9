// SPDX-License-Identifier: Apache-2.0
// A pointwise kernel over tensors of possibly different element types, as a framework's vectorised
// elementwise kernel: a few vectors per thread, no loop. Shared by `elementwise` and the eager norm
// chain.
#pragma once

#include <string>
#include <vector>

#include "library/parts.h"

namespace wavetail::library {

struct Tensor {
  std::string array;
  std::string dtype;
  std::int64_t elements = 0;  // fewer than the kernel's: broadcast, read again and again
  bool per_row = false;       // one value for many: every block reads one of them for all its lanes
  std::int64_t first = 0;     // element of the array at which the tensor begins
};

struct Pointwise {
  std::int64_t elements = 0;
  std::vector<Tensor> inputs = {}, outputs = {};
  std::int64_t flops = 1;  // per element
  std::int64_t sfu = 0;    // special-function operations per element
  std::int64_t threads = 256;
};

// The index of the tensor's array in `arrays`, which grows to hold it in whole `unit`s of elements:
// tensors may be parts of one array.
[[nodiscard]] int array_of(const Tensor& t, std::int64_t unit, std::vector<kernel::Array>& arrays);

[[nodiscard]] kernel::Kernel pointwise_kernel(const Pointwise& p, const gpu::GpuSpec& gpu);

}  // namespace wavetail::library
