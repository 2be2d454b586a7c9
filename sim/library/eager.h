// SPDX-License-Identifier: Apache-2.0
// Pointwise kernels as an eager framework (PyTorch's TensorIterator) launches them: blocks of 128
// threads, in one of three forms. Tensors of one type and shape go in vectors. Tensors of different
// types go element by element, four per thread, one after the other.
// Where a tensor is broadcast along rows or columns, every thread computes the place of each of its
// two or four elements in each tensor by divisions (multiply and shift), one after the other too.
#pragma once

#include <string>
#include <vector>

#include "library/elementwise.h"

namespace wavetail::library {

inline constexpr std::int64_t kEagerThreads = 128;

// In place of elements per thread: the form for tensors whose rows do not lie side by side (views).
inline constexpr std::int64_t kPlaces = 0;

// `per_thread`: elements of a thread in the vectorised form (a framework's release decides: 4, or
// 8), or the constant above. `p.threads` is not looked at.
[[nodiscard]] kernel::Kernel eager_kernel(const Pointwise& p, const gpu::GpuSpec& gpu,
                                          std::int64_t per_thread = 4);

// The sum of every row of an FP32 tensor, as the framework's reduction along the last dimension:
// vectors of four elements, four per thread and trip.
[[nodiscard]] kernel::Kernel eager_row_sum(std::int64_t rows, std::int64_t cols,
                                           const std::string& from, const std::string& to,
                                           const gpu::GpuSpec& gpu);

}  // namespace wavetail::library
