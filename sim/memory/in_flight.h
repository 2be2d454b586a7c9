// SPDX-License-Identifier: Apache-2.0
// Bytes under way between one SM and the memory, integrated over time where they live: raised when
// a load leaves, lowered when its data have crossed the SM's port. Together with the latency
// stamped on every request this gives Little's law two sums that are kept apart.
#pragma once

#include <cstdint>

#include "unit/quantity.h"

namespace wavetail::memory {

using unit::Time;

class InFlight {
 public:
  // A load leaves at `t`, which may lie a little before a time already seen: the level is then
  // corrected from `t` on.
  void depart(Time t, std::int64_t bytes) {
    advance(t);
    level_ += bytes;
  }

  // The data are at the port now and will have crossed it at `done`.
  void arrive(Time now, Time done, std::int64_t bytes) {
    advance(now);
    level_ -= bytes;
    integral_ += bytes * (done - now).count();
  }

  // Byte-picoseconds up to `now`.
  [[nodiscard]] double integral(Time now) {
    advance(now);
    return static_cast<double>(integral_);
  }

  // Bytes at the time last seen.
  [[nodiscard]] std::int64_t level() const { return level_; }

 private:
  void advance(Time t) {
    integral_ += level_ * (t - last_).count();
    last_ = t;
  }

  Time last_;
  std::int64_t level_ = 0, integral_ = 0;
};

}  // namespace wavetail::memory
