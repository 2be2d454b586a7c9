// SPDX-License-Identifier: Apache-2.0
// A counted resource with waiters in arrival order: lines in flight, store buffers. What is taken
// comes back at a time that is known ahead, rounded up to the next 4.096 ns; so whoever finds too
// little free is told at once from when on its share is there. Only as long as too little is known
// to come back does anybody stand in line.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <deque>
#include <functional>
#include <optional>
#include <queue>
#include <utility>
#include <vector>

#include "unit/quantity.h"

namespace wavetail::event {

class Credit {
 public:
  explicit Credit(std::int64_t amount = 0)
      : total_(amount), free_(amount), known_(amount), back_(kBins) {}

  // What is free at `now`.
  [[nodiscard]] std::int64_t free(unit::Time now) {
    collect(now);
    return waiters_.empty() ? free_ : 0;
  }

  // Takes n; returns from when on they are there: `now` if they are free. Nothing if others stand
  // in line, or too little is known to come back. Who wants more than the whole resource gets all
  // of it. `now` may run a little ahead of later calls'.
  std::optional<unit::Time> take(unit::Time now, std::int64_t n) {
    n = std::min(n, total_);
    collect(now);
    if (free_ >= n && waiters_.empty()) {
      free_ -= n;
      known_ -= n;
      return now;
    }
    if (!waiters_.empty() || known_ < n) { return std::nullopt; }
    return std::max(now, consume(n));
  }

  // Takes n whether they are free or not; what is missing is owed by whoever comes next.
  void overdraw(std::int64_t n) {
    free_ -= n;
    known_ -= n;
  }

  // From now on there are `amount`, all free; nothing comes back any more.
  void reset(std::int64_t amount) {
    if (free_ != total_) {
      std::fill(back_.begin(), back_.end(), std::uint16_t{0});
      late_ = {};
      waiters_.clear();
      first_ = cursor_;
    }
    total_ = free_ = known_ = amount;
  }

  // Stands in line for n; `who` comes back from give_back().
  void wait(std::uint32_t who, std::int64_t n) { waiters_.push_back({who, std::min(n, total_)}); }

  // The n that somebody took come back at `at`. Calls granted(who, when) for each waiter for whom
  // enough is known now.
  template <class Granted>
  void give_back(unit::Time at, std::int64_t n, Granted&& granted) {
    n = std::min(n, total_);
    known_ += n;
    const std::int64_t bin = at.picoseconds() >> kBinBits;
    if (bin < cursor_) {
      free_ += n;
    } else {
      std::uint16_t& there = back_[static_cast<std::size_t>(bin) & (kBins - 1)];
      if (bin < cursor_ + kBins && there + n <= UINT16_MAX) {
        there = static_cast<std::uint16_t>(there + n);
        first_ = std::min(first_, bin);
      } else {
        late_.push({bin, n});
      }
    }
    while (!waiters_.empty() && known_ >= waiters_.front().amount) {
      const Waiter next = waiters_.front();
      waiters_.pop_front();
      granted(next.who, consume(next.amount));
    }
  }

 private:
  static constexpr int kBinBits = 12;
  static constexpr std::int64_t kBins = 1024;  // 4.2 us
  static constexpr std::int64_t kBinsPerWord = 4;

  struct Waiter {
    std::uint32_t who;
    std::int64_t amount;
  };

  using Late = std::pair<std::int64_t, std::int64_t>;  // bin, amount

  // Everything that came back in bins that are over by `now`.
  void collect(unit::Time now) {
    const std::int64_t until = now.picoseconds() >> kBinBits;
    if (until <= cursor_) { return; }
    const std::int64_t last = std::min(until, cursor_ + kBins);
    for (std::int64_t bin = std::max(cursor_, first_); bin < last;) {
      if (bin % kBinsPerWord == 0 && bin + kBinsPerWord <= last && word_is_empty(bin)) {
        bin += kBinsPerWord;
      } else {
        free_ += std::exchange(at_bin(bin), std::uint16_t{0});
        ++bin;
      }
    }
    cursor_ = until;
    first_ = std::max(first_, until);
    while (!late_.empty() && late_.top().first < cursor_) {
      free_ += late_.top().second;
      late_.pop();
    }
  }

  // Takes n of what is free or known to come back, the earliest first; returns when the last of it
  // is there.
  unit::Time consume(std::int64_t n) {
    known_ -= n;
    const std::int64_t from_free = std::min(free_, n);
    free_ -= from_free;
    n -= from_free;
    std::int64_t bin = cursor_ - 1;
    while (n > 0) {
      if (first_ < cursor_ + kBins && (late_.empty() || first_ <= late_.top().first)) {
        std::uint16_t& there = at_bin(first_);
        const std::int64_t taken = std::min<std::int64_t>(there, n);
        there = static_cast<std::uint16_t>(there - taken);
        n -= taken;
        bin = first_;
        first_ += there == 0 ? 1 : 0;
      } else {
        Late late = late_.top();
        late_.pop();
        bin = late.first;
        const std::int64_t taken = std::min(late.second, n);
        n -= taken;
        late.second -= taken;
        if (late.second > 0) { late_.push(late); }
      }
    }
    return unit::Time{(bin + 1) << kBinBits};
  }

  // Nothing comes back in the bins from `bin` on, a multiple of kBinsPerWord.
  [[nodiscard]] bool word_is_empty(std::int64_t bin) {
    std::uint64_t word;
    std::memcpy(&word, &at_bin(bin), sizeof word);
    return word == 0;
  }

  std::uint16_t& at_bin(std::int64_t bin) {
    return back_[static_cast<std::size_t>(bin) & (kBins - 1)];
  }

  std::int64_t total_, free_;
  std::int64_t known_;               // free, or known to come back
  std::int64_t cursor_ = 0;          // first bin that is not over
  std::int64_t first_ = 0;           // no bin before it holds anything
  std::vector<std::uint16_t> back_;  // by bin, modulo kBins
  std::priority_queue<Late, std::vector<Late>, std::greater<>> late_;
  std::deque<Waiter> waiters_;
};

}  // namespace wavetail::event
