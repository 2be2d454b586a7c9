// SPDX-License-Identifier: Apache-2.0
// Bytes under way between one SM and the memory, integrated over time where they live: raised when
// a load leaves, lowered when its data have crossed the SM's port. Together with the latency
// stamped on every request this gives Little's law two sums that are kept apart.
#pragma once

#include <cstdint>
#include <deque>

#include "unit/quantity.h"

namespace wavetail::memory {

using unit::Time;

class InFlight {
 public:
  // A load leaves at `now`, which may lie a little before a time already seen: the level is then
  // corrected from `now` on.
  void depart(Time now, std::int64_t bytes) {
    settle(now);
    level_ += bytes;
  }

  // The data will have arrived at `done`; calls come in order of `done`.
  void arrive(Time done, std::int64_t bytes) { arrivals_.push_back({done, bytes}); }

  // Byte-picoseconds up to `now`.
  [[nodiscard]] double integral(Time now) {
    settle(now);
    return static_cast<double>(integral_);
  }

 private:
  struct Arrival {
    Time done;
    std::int64_t bytes;
  };

  void advance(Time t) {
    integral_ += level_ * (t - last_).count();
    last_ = t;
  }

  void settle(Time now) {
    while (!arrivals_.empty() && arrivals_.front().done <= now) {
      advance(arrivals_.front().done);
      level_ -= arrivals_.front().bytes;
      arrivals_.pop_front();
    }
    advance(now);
  }

  Time last_;
  std::int64_t level_ = 0, integral_ = 0;
  std::deque<Arrival> arrivals_;
};

}  // namespace wavetail::memory
