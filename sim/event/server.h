// SPDX-License-Identifier: Apache-2.0
// The three ways in which a resource of the machine makes work wait.
//
//   Server  serves one after another, first come first served, and is busy until a known time:
//           an issue slot, a pipe, a crossbar port.
//   Credit  a counted resource with waiters in arrival order: lines in flight, store buffers.
//   (A resource that chooses among its waiters when it becomes free keeps its own queue: the warp
//   scheduler in sm/, the block scheduler in device/.)
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>

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

class Credit {
 public:
  explicit Credit(std::int64_t amount = 0) : free_(amount), total_(amount) {}

  // Takes n if they are free and nobody waits. A request larger than the whole resource is granted
  // when all of it is free.
  bool try_take(std::int64_t n) {
    if (!waiters_.empty() || !fits(n)) { return false; }
    free_ -= n;
    return true;
  }

  // Stands in line for n; `who` comes back from release().
  void wait(std::uint32_t who, std::int64_t n) { waiters_.push_back({who, n}); }

  // Gives n back and calls wake(who) for each waiter that has its n now, in order of arrival.
  template <class Wake>
  void release(std::int64_t n, Wake&& wake) {
    free_ += n;
    while (!waiters_.empty() && fits(waiters_.front().amount)) {
      const Waiter first = waiters_.front();
      waiters_.pop_front();
      free_ -= first.amount;
      wake(first.who);
    }
  }

  [[nodiscard]] std::int64_t free() const { return free_; }

  [[nodiscard]] std::int64_t taken() const { return total_ - free_; }

  [[nodiscard]] std::size_t waiting() const { return waiters_.size(); }

 private:
  struct Waiter {
    std::uint32_t who;
    std::int64_t amount;
  };

  [[nodiscard]] bool fits(std::int64_t n) const { return n <= free_ || free_ == total_; }

  std::int64_t free_, total_;
  std::deque<Waiter> waiters_;
};

}  // namespace wavetail::event
