// SPDX-License-Identifier: Apache-2.0
// Judges a scenario's expectations against what the run gave.
//
// A value without a tolerance is exact to the digits written: `2.0 MB` accepts 1.95 to 2.05 MB, `25
// %` accepts 24.5 to 25.5 %; a bare number (a count or a ratio) is exact to one part in 10^9.
// `within` is relative to the value; `at_least` and `at_most` include their ends.
#pragma once

#include <vector>

#include "result/result.h"
#include "scenario/scenario.h"

namespace wavetail::run {

// In the file's order. A figure that does not exist or does not apply fails with the reason in
// `got`. An expectation with a known miss never comes back as Passed or Failed: it is KnownMiss, or
// UnexpectedPass (which counts as a failure) when the figure has come right.
[[nodiscard]] std::vector<result::ExpectationResult> judge(
    const std::vector<scenario::Expectation>& expectations, const result::RunResult& run);

// Whether the verdict counts as a failure of the scenario.
[[nodiscard]] bool is_failure(result::Verdict verdict);

}  // namespace wavetail::run
