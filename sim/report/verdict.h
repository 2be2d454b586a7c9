// SPDX-License-Identifier: Apache-2.0
// Sentences on one kernel: how near it is to what it could do at best, whether its occupancy is
// worth a look, and the figures that a kernel's author checks first.
#pragma once

#include <string>
#include <vector>

#include "result/result.h"

namespace wavetail::report {

// Where the pins are busier with the bytes that really moved than the highest ceiling allows for,
// the pins bind: a ceiling grants the caches whatever they may keep.
[[nodiscard]] std::string verdict_of(const result::KernelResult& kernel);

// Empty where nothing is known of it.
[[nodiscard]] std::string occupancy_of(const result::KernelResult& kernel);

// Bytes moved, coalescing, bank conflicts, dtype, L2 reuse.
[[nodiscard]] std::vector<std::string> checklist_of(const result::KernelResult& kernel);

// Whether the pins were at work for at least 70 % of the time: above that, DRAM binds.
[[nodiscard]] bool pins_bind(const result::KernelResult& kernel);

}  // namespace wavetail::report
