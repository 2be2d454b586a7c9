// SPDX-License-Identifier: Apache-2.0
// What `wavetail calibrate` prints: the fitted values with their uncertainty, the errors of the
// rows before and after, and of rows that were left out; JSON has every row, CSV a line per value.
#pragma once

#include <string>

#include "report/json.h"
#include "study/calibration.h"

namespace wavetail::report {

[[nodiscard]] std::string calibration_text(const study::Calibration& calibration);
[[nodiscard]] Json calibration_json(const study::Calibration& calibration);
[[nodiscard]] std::string calibration_csv(const study::Calibration& calibration);

// "yes", "unfelt", "walled", "at_bound", "with_others"
[[nodiscard]] std::string_view name(study::Told told);

// JSON Schema of calibration_json().
[[nodiscard]] std::string calibration_schema();

}  // namespace wavetail::report
