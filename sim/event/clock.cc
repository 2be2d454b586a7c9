// SPDX-License-Identifier: Apache-2.0
#include "event/clock.h"

namespace wavetail::event {

namespace {
constexpr std::uint64_t kPicosecondsPerSecond = 1'000'000'000'000ULL;
}

Clock::Clock(Hertz frequency) { set(frequency); }

void Clock::set(Hertz frequency) {
  frequency_ = frequency;
  const auto hertz = static_cast<std::uint64_t>(frequency.count());
  period_ = static_cast<std::uint64_t>(
      ((static_cast<Wide>(kPicosecondsPerSecond) << kShift) + hertz - 1) / hertz);
  rate_ = static_cast<std::uint64_t>((static_cast<Wide>(hertz) << 64) / kPicosecondsPerSecond);
}

Duration Clock::span(Cycles n) const {
  const auto hertz = static_cast<std::uint64_t>(frequency_.count());
  const Wide product = static_cast<Wide>(static_cast<std::uint64_t>(n.count())) *
                       kPicosecondsPerSecond;
  return Duration{static_cast<std::int64_t>((product + hertz - 1) / hertz)};
}

void Clock::change(Time t, Hertz frequency) {
  const std::int64_t n = at_or_after(t);
  t0_ = edge(n).picoseconds();
  n0_ = n;
  set(frequency);
}

}  // namespace wavetail::event
