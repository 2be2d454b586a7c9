// SPDX-License-Identifier: Apache-2.0
// The JSON Schema (draft 2020-12) of `run --format json`, made from result/describe.h.
#pragma once

#include <string>

namespace wavetail::report {

[[nodiscard]] std::string result_schema();

}  // namespace wavetail::report
