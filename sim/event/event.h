// SPDX-License-Identifier: Apache-2.0
// A pending happening: when, for whom, and a few plain words of payload whose meaning the addressee
// knows. Events are small, copied by value and never own anything.
#pragma once

#include <cstdint>

#include "unit/quantity.h"

namespace wavetail::event {

using unit::Duration;
using unit::Time;

// Which part of the machine handles the event.
enum class Target : std::uint8_t { Sm, Device, Host };

struct Event {
  Time time;
  Target target = Target::Device;
  std::uint8_t kind = 0;   // an enumerator of the target's own
  std::uint16_t unit = 0;  // which instance: SM number, ...
  std::uint32_t a = 0;
};

}  // namespace wavetail::event
