// SPDX-License-Identifier: Apache-2.0
// How often a timeline launches each kernel, counted without going through it.
#pragma once

#include <cstddef>
#include <vector>

#include "host/timeline.h"

namespace wavetail::host {

// Launches by kernel, of `kernels` kernels; real numbers, since nested repeats may be huge.
[[nodiscard]] std::vector<double> count_launches(const Timeline& timeline, std::size_t kernels);

}  // namespace wavetail::host
