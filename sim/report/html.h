// SPDX-License-Identifier: Apache-2.0
// A page in one file, without scripts or outside references: the text report's tables, and bars for
// where the time goes and what warps wait for.
#pragma once

#include <string>
#include <string_view>

#include "report/table.h"
#include "result/result.h"

namespace wavetail::report {

[[nodiscard]] std::string to_html(const result::RunResult& run);

[[nodiscard]] std::string html_of_table(std::string_view title, const Table& table);

// A page around text that is already laid out.
[[nodiscard]] std::string html_of_text(std::string_view title, std::string_view text);

}  // namespace wavetail::report
