// SPDX-License-Identifier: Apache-2.0
// Quantities as people write them. The shortest exact spelling wins, so that reading the text back
// gives the same quantity: print(Bytes{228 << 10}) == "228 KiB", print(Hertz{1'830'000'000}) ==
// "1830 MHz".
#pragma once

#include <string>

#include "unit/parse.h"

namespace wavetail::unit {

// `count` base units of a dimension that has units.
[[nodiscard]] std::string print_whole(std::int64_t count, Dimension dimension);

// A real number in at most `digits` significant digits, without exponent or trailing zeros.
[[nodiscard]] std::string print_real(double value, int digits = 6);

// A decimal number exactly: {1505, 1} -> "150.5".
[[nodiscard]] std::string print(Decimal number);

template <class Q>
[[nodiscard]] std::string print(Q quantity) {
  return print_whole(quantity.count(), DimensionOf<Q>::value);
}

}  // namespace wavetail::unit
