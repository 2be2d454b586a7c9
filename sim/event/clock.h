// SPDX-License-Identifier: Apache-2.0
// A clock domain. Edges are numbered from 0; the time of edge n is computed from n and never
// accumulated, so there is no drift. The frequency may change during a run: each change opens an
// epoch, and the earlier ones are kept, so that times and edges before it can still be asked for.
#pragma once

#include <cstdint>
#include <vector>

#include "unit/quantity.h"

namespace wavetail::event {

using unit::Cycles;
using unit::Duration;
using unit::Hertz;
using unit::Time;

__extension__ using Wide = unsigned __int128;

class Clock {
 public:
  explicit Clock(Hertz frequency);  // 100 MHz to 100 GHz

  // The time of edge n; whole picoseconds.
  [[nodiscard]] Time edge(std::int64_t n) const {
    if (n < n0_) [[unlikely]] { return edge_before(n); }
    const auto product = static_cast<Wide>(static_cast<std::uint64_t>(n - n0_)) * period_;
    return Time{t0_ + static_cast<std::int64_t>(product >> kShift)};
  }

  // The first edge that does not lie before t.
  [[nodiscard]] std::int64_t at_or_after(Time t) const {
    if (t.picoseconds() < t0_) [[unlikely]] { return at_or_after_before(t); }
    const auto elapsed = static_cast<std::uint64_t>(t.picoseconds() - t0_);
    std::int64_t n = n0_ + static_cast<std::int64_t>((static_cast<Wide>(elapsed) * rate_) >> 64);
    while (edge(n) < t) { ++n; }
    return n;
  }

  // How long n cycles take at the present frequency, rounded up to the picosecond.
  [[nodiscard]] Duration span(Cycles n) const;

  // One cycle at the present frequency, rounded up to the picosecond.
  [[nodiscard]] Duration period() const {
    return Duration{static_cast<std::int64_t>((period_ + (1ULL << kShift) - 1) >> kShift)};
  }

  [[nodiscard]] Hertz frequency() const { return frequency_; }

  // From the first edge at or after t on, the clock runs at `frequency`; t not before the last
  // change.
  void change(Time t, Hertz frequency);

 private:
  static constexpr int kShift = 46;
  void set(Hertz frequency);
  // The same for what lies before the present epoch.
  [[nodiscard]] Time edge_before(std::int64_t n) const;
  [[nodiscard]] std::int64_t at_or_after_before(Time t) const;

  struct Epoch {
    std::int64_t t0, n0;
    Hertz frequency;
  };

  explicit Clock(const Epoch& epoch) : t0_(epoch.t0), n0_(epoch.n0), frequency_(epoch.frequency) {
    set(epoch.frequency);
  }

  std::int64_t t0_ = 0, n0_ = 0;
  Hertz frequency_;
  std::uint64_t period_ = 0;  // picoseconds << kShift, rounded up
  std::uint64_t rate_ = 0;    // cycles per picosecond << 64, rounded down
  std::vector<Epoch> past_;   // epochs that are over, the oldest first
};

}  // namespace wavetail::event
