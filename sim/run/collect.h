// SPDX-License-Identifier: Apache-2.0
// From counters to the figures that users read: rates, percentages, occupancy, the bound beside
// each kernel.
#pragma once

#include "result/result.h"
#include "run/simulate.h"
#include "scenario/scenario.h"

namespace wavetail::run {

// `trace`: also the intervals of host calls and launches.
[[nodiscard]] result::RunResult collect(const scenario::Scenario& scenario,
                                        const Happened& happened, bool trace);

}  // namespace wavetail::run
