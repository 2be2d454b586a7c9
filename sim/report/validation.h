// SPDX-License-Identifier: Apache-2.0
// What `wavetail validate` prints: statistics by set and GPU, the rows that are furthest off, and
// why rows were skipped; JSON and CSV have every row.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "report/json.h"
#include "study/validation.h"

namespace wavetail::report {

// The rows that are furthest off, and why rows were skipped (id, reason): parts of such reports,
// with an empty line in front; empty where there are none.
[[nodiscard]] std::string worst_text(const std::vector<study::RowResult>& rows);
[[nodiscard]] std::string skipped_text(
    const std::vector<std::pair<std::string, std::string>>& skipped);

[[nodiscard]] std::string validation_text(const study::Validation& validation);
[[nodiscard]] Json validation_json(const study::Validation& validation);
[[nodiscard]] Json statistics_json(const study::Statistics& statistics);
// A line per row of the file.
[[nodiscard]] std::string validation_csv(const study::Validation& validation);

}  // namespace wavetail::report
