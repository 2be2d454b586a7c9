// SPDX-License-Identifier: Apache-2.0
// The units of every dimension, once, for the reader and the printer of numbers.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "unit/parse.h"

namespace wavetail::unit {

struct Unit {
  std::string_view name;
  std::int64_t base_units;  // how many base units one of it is
  bool printed = true;      // whether the printer chooses it
};

// Smallest first; empty for bare numbers.
[[nodiscard]] std::span<const Unit> units(Dimension dimension);

}  // namespace wavetail::unit
