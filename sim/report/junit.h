// SPDX-License-Identifier: Apache-2.0
// The outcome of `wavetail check`: one checked file, the line it prints, and all of them as JUnit
// XML for build servers.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "result/result.h"

namespace wavetail::report {

enum class CheckStatus { Passed, Failed, KnownMiss };

struct Checked {
  std::string file;
  CheckStatus status = CheckStatus::Passed;
  std::string problem;  // why it could not be judged: a mistake in the file, a hang, a budget
  std::vector<result::ExpectationResult> expectations;
};

// Failed if there is a problem or a failed expectation, else KnownMiss if there is one of those.
[[nodiscard]] CheckStatus status_of(std::string_view problem,
                                    const std::vector<result::ExpectationResult>& expectations);

// "passed  FILE (4 expectations)"; failures on lines of their own below it.
[[nodiscard]] std::string check_line(const Checked& checked);

// "12 passed, 1 failed, 2 known misses"
[[nodiscard]] std::string check_summary(const std::vector<Checked>& checked);

[[nodiscard]] std::string to_junit(const std::vector<Checked>& checked);

// A line per expectation, and one for a file that could not be judged.
[[nodiscard]] std::string check_csv(const std::vector<Checked>& checked);
[[nodiscard]] std::string check_json(const std::vector<Checked>& checked);

}  // namespace wavetail::report
