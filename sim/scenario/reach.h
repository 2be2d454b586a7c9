// SPDX-License-Identifier: Apache-2.0
// How far a kernel's accesses walk, before addresses wrap at the array's end. Distances are whole
// numbers of bytes in 64 bits; a walk that would leave them is refused when the file is read.
#pragma once

#include "gpu/spec.h"
#include "kernel/kernel.h"

namespace wavetail::scenario {

constexpr double kFarthest = 1e18;  // bytes

// The largest distance from an array's start that any access of the kernel reaches.
[[nodiscard]] double reach(const kernel::Kernel& kernel, const gpu::GpuSpec& gpu);

}  // namespace wavetail::scenario
