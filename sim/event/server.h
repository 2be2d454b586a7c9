// SPDX-License-Identifier: Apache-2.0
// The ways in which a resource of the machine makes work wait.
//
//   Server  serves one after another, first come first served, and is busy until a known time:
//           an issue slot, a pipe, a crossbar port.
//   Calendar (calendar.h)  a port whose users are known ahead.
//   Credit (credit.h)  a counted resource with waiters in arrival order.
//   (A resource that chooses among its waiters when it becomes free keeps its own queue: the warp
//   scheduler in sm/, the block scheduler in device/.)
#pragma once

#include <algorithm>
#include <cstdint>

#include "unit/quantity.h"

namespace wavetail::event {

// `Point` is unit::Time, or a cycle number where the owner counts in its own clock.
template <class Point, class Span>
class BasicServer {
 public:
  struct Slot {
    Point start, end;
  };

  // Takes the resource for `amount` from `now` on, or as soon as earlier work is done. Callers come
  // in order of `now`.
  Slot reserve(Point now, Span amount) {
    const Point start = std::max(now, free_at_);
    free_at_ = start + amount;
    return {start, free_at_};
  }

  [[nodiscard]] Point free_at() const { return free_at_; }

 private:
  Point free_at_{};
};

using Server = BasicServer<unit::Time, unit::Duration>;
using CycleServer = BasicServer<std::int64_t, std::int64_t>;

}  // namespace wavetail::event
