// SPDX-License-Identifier: Apache-2.0
// Resources that are booked ahead: the calendar of a port against a queue and against its own
// capacity, credit against a plain list of what comes back.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <vector>

#include "event/calendar.h"
#include "event/credit.h"
#include "event/server.h"

namespace wavetail::event {
namespace {

using unit::Duration;
using unit::Time;

constexpr std::int64_t kBin = 8192;  // picoseconds, of a calendar

TEST(Calendar, ALoneBookingStartsAtOnce) {
  Calendar port;
  for (std::int64_t n = 1; n < 5'000; ++n) {
    const std::int64_t at = n * 100'003;
    const std::int64_t amount = 1 + n * 37 % 50'000;
    ASSERT_EQ(port.reserve(Time{at}, Duration{amount}), Time{at + amount}) << n;
  }
}

// In the order of their arrival bookings are served as by a queue, but for the bin that two share.
TEST(Calendar, InOrderItIsAQueue) {
  std::mt19937_64 random(11);
  for (const std::int64_t spread : {500, 2'000, 3'900, 4'100, 20'000}) {
    Calendar port;
    Server queue;
    std::int64_t at = 0;
    for (int n = 0; n < 1'500; ++n) {
      at += static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(spread));
      const Duration amount{500 + static_cast<std::int64_t>(random() % 3'000)};
      const Time end = port.reserve(Time{at}, amount);
      const Time queued = queue.reserve(Time{at}, amount).end;
      ASSERT_LE(end, queued + Duration{kBin}) << spread;
      ASSERT_GE(end + Duration{kBin}, std::min(queued, Time{at} + amount)) << spread;
    }
  }
}

// In any order: nothing ends before it can, and no stretch of time gives more than it lasts.
TEST(Calendar, NeverGivesTimeTwice) {
  std::mt19937_64 random(12);
  Calendar port;
  std::map<std::int64_t, std::int64_t> served;  // by bin in which a booking ended
  std::int64_t total = 0;
  std::int64_t last = 0;
  for (int n = 0; n < 3'000; ++n) {
    const auto at = static_cast<std::int64_t>(n) * 1'500 +
                    static_cast<std::int64_t>(random() % 2'000'000);
    const auto amount = 200 + static_cast<std::int64_t>(random() % 2'500);
    const std::int64_t end = port.reserve(Time{at}, Duration{amount}).picoseconds();
    ASSERT_GE(end, at + amount);
    served[end / kBin] += amount;
    total += amount;
    last = std::max(last, end);
  }
  EXPECT_LE(total, last);
  for (auto from = served.begin(); from != served.end(); ++from) {
    std::int64_t sum = 0;
    auto to = from;
    for (int bins = 0; bins < 40 && to != served.end(); ++bins, ++to) {
      sum += to->second;
      // What ended in these bins may have begun in the one before.
      ASSERT_LE(sum, (to->first - from->first + 2) * kBin);
    }
  }
}

// Keeps a list of what comes back and gives out the earliest of it.
class PlainCredit {
 public:
  explicit PlainCredit(std::int64_t total) : free_(total) {}

  void advance(std::int64_t now) {
    while (!coming_.empty() && coming_.begin()->first <= now) {
      free_ += coming_.begin()->second;
      coming_.erase(coming_.begin());
    }
  }

  // Free, or known to come back.
  [[nodiscard]] std::int64_t known() const {
    std::int64_t sum = free_;
    for (const auto& [when, amount] : coming_) { sum += amount; }
    return sum;
  }

  void give_back(std::int64_t when, std::int64_t n) {
    constexpr std::int64_t kStep = 4096;
    coming_.emplace((when / kStep + 1) * kStep, n);
  }

  std::int64_t take(std::int64_t now, std::int64_t n) {
    std::int64_t when = now;
    const std::int64_t at_once = std::min(free_, n);
    free_ -= at_once;
    for (n -= at_once; n > 0;) {
      const auto first = coming_.begin();
      const std::int64_t some = std::min(first->second, n);
      when = std::max(when, first->first);
      n -= some;
      first->second -= some;
      if (first->second == 0) { coming_.erase(first); }
    }
    return when;
  }

 private:
  std::int64_t free_;
  std::multimap<std::int64_t, std::int64_t> coming_;  // when, how much
};

// Nobody gets more than there is or waits longer than necessary, and whoever asked first is served
// first.
TEST(Credit, AgreesWithAPlainList) {
  std::mt19937_64 random(13);
  Credit credit(100);
  PlainCredit plain(100);
  std::vector<std::int64_t> line;  // amounts of those who wait, in order
  std::vector<std::int64_t> out;   // granted and not yet given back
  int waits = 0;
  for (std::int64_t now = 1; now < 40'000'000; now += static_cast<std::int64_t>(random() % 4'000)) {
    plain.advance(now);
    const auto n = 1 + static_cast<std::int64_t>(random() % 16);
    if (random() % 2 == 0 && line.size() < 5) {
      const auto got = credit.take(Time{now}, n);
      ASSERT_EQ(got.has_value(), line.empty() && plain.known() >= n);
      if (got) {
        ASSERT_EQ(*got, Time{plain.take(now, n)});
        out.push_back(n);
      } else {
        credit.wait(0, n);
        line.push_back(n);
        ++waits;
      }
    } else if (!out.empty()) {
      const auto when = now + static_cast<std::int64_t>(
                                  random() % (random() % 20 == 0 ? 9'000'000U : 300'000U));
      const std::int64_t back = out.back();
      out.pop_back();
      plain.give_back(when, back);
      credit.give_back(Time{when}, back, [&](std::uint32_t, Time granted) {
        ASSERT_FALSE(line.empty());
        ASSERT_GE(plain.known(), line.front());
        ASSERT_EQ(std::max(granted, Time{now}), Time{plain.take(now, line.front())});
        out.push_back(line.front());
        line.erase(line.begin());
      });
      if (!line.empty()) { ASSERT_LT(plain.known(), line.front()); }
    }
  }
  EXPECT_GT(waits, 100);
}

}  // namespace
}  // namespace wavetail::event
