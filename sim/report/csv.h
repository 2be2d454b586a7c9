// SPDX-License-Identifier: Apache-2.0
// Tables for spreadsheets and scripts (RFC 4180): one line per kernel and run, a column per scalar
// figure of result/describe.h; what does not apply is empty.
#pragma once

#include <string>
#include <string_view>

#include "result/result.h"

namespace wavetail::report {

// Base and variants; the first column is the variant's name, empty for the base.
[[nodiscard]] std::string to_csv(const result::RunResult& run);

// A cell, quoted where it must be.
[[nodiscard]] std::string csv_cell(std::string_view text);

}  // namespace wavetail::report
