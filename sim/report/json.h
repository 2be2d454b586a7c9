// SPDX-License-Identifier: Apache-2.0
// Results as JSON. Keys and their order come from result/describe.h; what does not apply is null.
// Numbers are rounded here and nowhere else: whole numbers are written whole, all others in six
// significant digits.
#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "result/result.h"

namespace wavetail::report {

using Json = nlohmann::ordered_json;

// One number as it is written: null if it is not finite.
[[nodiscard]] Json number(double value);

[[nodiscard]] Json number_or_null(const std::optional<double>& value);

[[nodiscard]] Json to_json(const result::RunResult& run);
[[nodiscard]] Json to_json(const result::ChainLink& link);
[[nodiscard]] Json to_json(const result::ExpectationResult& expectation);

// Two spaces of indentation and a newline at the end.
[[nodiscard]] std::string text_of(const Json& json);

}  // namespace wavetail::report
