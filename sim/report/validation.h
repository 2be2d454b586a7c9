// SPDX-License-Identifier: Apache-2.0
// What `wavetail validate` prints: statistics by set and GPU, the rows that are furthest off, and
// why rows were skipped; JSON and CSV have every row.
#pragma once

#include <string>

#include "report/json.h"
#include "study/validation.h"

namespace wavetail::report {

[[nodiscard]] std::string validation_text(const study::Validation& validation);
[[nodiscard]] Json validation_json(const study::Validation& validation);
// A line per row of the file.
[[nodiscard]] std::string validation_csv(const study::Validation& validation);

}  // namespace wavetail::report
