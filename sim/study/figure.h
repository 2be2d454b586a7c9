// SPDX-License-Identifier: Apache-2.0
// What a measurement is a measure of, and its value in the unit that the row asks for: a protocol
// gives seconds, bytes per second and so on; "cycles" and "B/clk" count the SM clock of the run.
#pragma once

#include <cstdint>
#include <string_view>

#include "unit/quantity.h"

namespace wavetail::study {

enum class Quantity : std::uint8_t {
  Time,       // seconds
  DataRate,   // bytes per second
  OpRate,     // operations per second
  Frequency,  // events per second
  Size,       // bytes
  Count,      // a bare number
};

// `value` (in the base unit above) in `unit`; `sms`, those that took part, is what "/SM" divides
// by. Throws Unmapped where the unit is not one of that quantity, with those that are.
[[nodiscard]] double in_unit(double value, Quantity quantity, std::string_view unit,
                             unit::Hertz clock, std::int64_t sms);

}  // namespace wavetail::study
