// SPDX-License-Identifier: Apache-2.0
// Kernels with random programs over random arrays, launchable on the GPU at hand.
#pragma once

#include <string>

#include "kernel/kernel.h"
#include "support/random_gpu.h"

namespace wavetail::tests {

// `prefix` goes before the arrays' names: kernels with one prefix may share memory.
[[nodiscard]] kernel::Kernel random_kernel(Dice& dice, const gpu::GpuSpec& gpu,
                                           const std::string& name, const std::string& prefix);

}  // namespace wavetail::tests
