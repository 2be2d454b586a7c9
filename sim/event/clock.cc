// SPDX-License-Identifier: Apache-2.0
#include "event/clock.h"

#include <algorithm>

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
  const std::int64_t n = std::max(n0_, at_or_after(t));
  const std::int64_t t0 = edge(n).picoseconds();
  past_.push_back({t0_, n0_, frequency_});
  t0_ = t0;
  n0_ = n;
  set(frequency);
}

Time Clock::edge_before(std::int64_t n) const {
  const auto epoch = std::find_if(past_.rbegin(), past_.rend(),
                                  [&](const Epoch& e) { return e.n0 <= n; });
  return epoch == past_.rend() ? Time{} : Clock(*epoch).edge(n);
}

std::int64_t Clock::at_or_after_before(Time t) const {
  const auto epoch = std::find_if(past_.rbegin(), past_.rend(),
                                  [&](const Epoch& e) { return e.t0 <= t.picoseconds(); });
  return epoch == past_.rend() ? 0 : Clock(*epoch).at_or_after(t);
}

}  // namespace wavetail::event
