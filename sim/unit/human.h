// SPDX-License-Identifier: Apache-2.0
// Figures for people: three or four significant digits and the prefix that keeps the number short.
// For reports only; what must read back exactly is printed by unit/print.h.
//
//   human(2010.0e3, "bytes") == "2.01 MB"     human(0.143, "us") == "143 ns"     human(61.6, "pct")
//   == "61.6 %"
#pragma once

#include <string>
#include <string_view>

#include "unit/quantity.h"

namespace wavetail::unit {

// `unit` is a unit of result/describe.h: "us", "ns", "bytes", "GB/s", "pct", "MHz", "TFLOP/s",
// "FLOP/B", "ratio", "W", "cycles" or anything else, which is appended as it stands.
[[nodiscard]] std::string human(double value, std::string_view unit);

// The number alone, in `digits` significant digits with thousands kept whole: 12345.6 -> "12346".
[[nodiscard]] std::string significant(double value, int digits);

[[nodiscard]] std::string human(Bandwidth rate);
[[nodiscard]] std::string human(Duration time);
[[nodiscard]] std::string human(Bytes bytes);

}  // namespace wavetail::unit
