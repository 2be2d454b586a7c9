// SPDX-License-Identifier: Apache-2.0
// The launch check: whether the hardware takes a launch at all, before the question how many of its
// blocks fit. Every rule that it breaks is named, not only the first.
#pragma once

#include <string>
#include <vector>

#include "gpu/spec.h"
#include "occupancy/occupancy.h"

namespace wavetail::occupancy {

struct Refusal {
  std::string resource;  // as in Occupancy::limiters; empty where the block itself is malformed
  std::string why;       // "registers: 256 per thread; allowed up to 255"
};

// Empty for a launch that the GPU takes.
[[nodiscard]] std::vector<Refusal> refusals(const gpu::GpuSpec& gpu, const Launch& launch);

// "48 KiB", or "1160 B" where it is no whole number of KiB.
[[nodiscard]] std::string bytes_of(unit::Bytes bytes);

}  // namespace wavetail::occupancy
