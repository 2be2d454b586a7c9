// SPDX-License-Identifier: Apache-2.0
// What is allowed in a scenario and seldom meant: addresses that a program lays out by itself and
// that run past the end of their array, where they begin again at its start; kernels that the
// timeline never launches.
#pragma once

#include <string>
#include <vector>

#include "scenario/scenario.h"

namespace wavetail::run {

// A sentence each, in the order of the kernels. Of accesses only those with `strides` or an
// `offset` are looked at: a walk by name lays its pieces side by side and wraps by design; and so
// do templates where a last block or warp is not full.
[[nodiscard]] std::vector<std::string> warnings_of(const scenario::Scenario& scenario);

}  // namespace wavetail::run
