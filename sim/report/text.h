// SPDX-License-Identifier: Apache-2.0
// The text report that an engineer reads from top to bottom: what ran on what, where the time went
// and what to do about it, the kernels side by side, each large kernel in detail with its
// closed-form chain beside the simulated figures, and the expectations.
#pragma once

#include <string>
#include <vector>

#include "report/table.h"
#include "result/result.h"

namespace wavetail::report {

[[nodiscard]] std::string to_text(const result::RunResult& run);

// Parts of it that other reports use.
[[nodiscard]] std::string header_text(const result::RunResult& run);
[[nodiscard]] std::string time_text(const result::RunResult& run);
[[nodiscard]] Table kernel_table(const result::RunResult& run);
[[nodiscard]] std::string kernel_text(const result::KernelResult& kernel,
                                      const result::RunResult& run);
[[nodiscard]] std::string chain_text(const result::KernelResult& kernel, int indent);
[[nodiscard]] std::string expect_text(const std::vector<result::ExpectationResult>& expectations);

// Shares in tenths of a percent that sum to exactly 100.0 (largest remainders), largest first,
// zeros left out: "long_scoreboard 84.1 %, wait 15.9 %".
[[nodiscard]] std::string shares_text(const std::map<std::string, double>& shares);

}  // namespace wavetail::report
