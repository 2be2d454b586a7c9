// SPDX-License-Identifier: Apache-2.0
// The JSON Schema (draft 2020-12) of `run --format json`, made from result/describe.h, and the
// parts that schemas of results are made of.
#pragma once

#include <string>

#include "report/json.h"

namespace wavetail::report {

[[nodiscard]] std::string result_schema();

[[nodiscard]] Json of_type(const char* type);
[[nodiscard]] Json or_null(const char* type);
// An object that has all of these, in this order.
[[nodiscard]] Json object_schema(Json properties);
[[nodiscard]] Json list_schema(Json items);

}  // namespace wavetail::report
