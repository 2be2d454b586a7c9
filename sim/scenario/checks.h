// SPDX-License-Identifier: Apache-2.0
// Rules across the keys of a kernel: what no single value shows. They are checked once every value
// of the kernel is good.
#pragma once

#include <map>
#include <string>

#include "config/value.h"
#include "gpu/spec.h"
#include "kernel/kernel.h"

namespace wavetail::scenario {

// Roles and block, barriers that all warps reach, waits, program length, and whether the GPU can
// hold one block.
void check_kernel(const config::At& at, const kernel::Kernel& kernel, const gpu::GpuSpec& gpu);

// Whether a block of the kernel, a template's too, fits the GPU at all.
void check_launch(const config::At& at, const kernel::Kernel& k, const gpu::GpuSpec& gpu);

// By name: the first program's array of that name, and that kernel's name.
struct SharedArray {
  kernel::Array array;
  std::string kernel;
};

using SharedArrays = std::map<std::string, SharedArray>;

// Arrays of one name are one piece of memory: programs must agree about its size and kind.
// Templates may look at a part of it. Adds the kernel's arrays to those that are known.
void check_shared_arrays(const config::At& at, const kernel::Kernel& kernel, SharedArrays& known);

// Floating-point operations of a whole launch, from the program.
[[nodiscard]] double flops(const kernel::Kernel& kernel, const gpu::GpuSpec& gpu);

}  // namespace wavetail::scenario
