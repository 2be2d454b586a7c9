// SPDX-License-Identifier: Apache-2.0
// Rules across the keys of a kernel: what no single value shows. They are checked once every value
// of the kernel is good.
#pragma once

#include <vector>

#include "config/value.h"
#include "gpu/spec.h"
#include "kernel/kernel.h"

namespace wavetail::scenario {

// Roles and block, barriers that all warps reach, waits, program length, and whether the GPU can
// hold one block.
void check_kernel(const config::At& at, const kernel::Kernel& kernel, const gpu::GpuSpec& gpu);

// Whether a block of the kernel, a template's too, fits the GPU at all.
void check_launch(const config::At& at, const kernel::Kernel& k, const gpu::GpuSpec& gpu);

// Arrays of one name are one piece of memory: programs must agree about its size and kind.
// Templates may look at a part of it.
void check_shared_arrays(const config::At& at, const std::vector<kernel::Kernel>& others,
                         const kernel::Kernel& kernel);

// Floating-point operations of a whole launch, from the program.
[[nodiscard]] double flops(const kernel::Kernel& kernel, const gpu::GpuSpec& gpu);

}  // namespace wavetail::scenario
