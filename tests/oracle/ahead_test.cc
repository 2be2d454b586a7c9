// SPDX-License-Identifier: Apache-2.0
// Resources that are booked ahead: the calendar of a port against a queue and against its own
// capacity, credit against a plain list of what comes back.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>
#include <utility>
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

// What is out at any time is never more than there is, nobody waits longer than necessary, and
// whoever asked first is served first.
TEST(Credit, AgreesWithAPlainList) {
  constexpr std::int64_t kTotal = 100;
  constexpr std::int64_t kStep = 4096;
  std::mt19937_64 random(13);
  Credit credit(kTotal);
  std::multimap<std::int64_t, std::int64_t> coming;  // when, how much
  std::int64_t free = kTotal;
  std::vector<std::int64_t> line;                    // amounts of those who wait, in order
  std::vector<std::int64_t> out;                     // granted and not yet given back
  auto rounded = [&](std::int64_t t) { return (t / kStep + 1) * kStep; };
  auto take = [&](std::int64_t now, std::int64_t n) {  // the earliest that comes back
    std::int64_t when = now;
    n -= std::exchange(free, std::max<std::int64_t>(0, free - n)) - free;
    while (n > 0) {
      const auto first = coming.begin();
      const std::int64_t some = std::min(first->second, n);
      when = std::max(when, first->first);
      n -= some;
      first->second -= some;
      if (first->second == 0) { coming.erase(first); }
    }
    return when;
  };
  auto known = [&] {
    std::int64_t sum = free;
    for (const auto& c : coming) { sum += c.second; }
    return sum;
  };
  std::int64_t waits = 0;
  for (std::int64_t now = 1; now < 40'000'000; now += static_cast<std::int64_t>(random() % 4'000)) {
    while (!coming.empty() && coming.begin()->first <= now) {
      free += coming.begin()->second;
      coming.erase(coming.begin());
    }
    const auto n = 1 + static_cast<std::int64_t>(random() % 16);
    if (random() % 2 == 0 && line.size() < 5) {
      const auto got = credit.take(Time{now}, n);
      if (line.empty() && known() >= n) {
        ASSERT_TRUE(got.has_value());
        ASSERT_EQ(*got, Time{take(now, n)});
        out.push_back(n);
      } else {
        ASSERT_FALSE(got.has_value());
        credit.wait(static_cast<std::uint32_t>(line.size()), n);
        line.push_back(n);
        ++waits;
      }
    } else if (!out.empty()) {
      const std::int64_t back = out.back();
      out.pop_back();
      const auto when = now + static_cast<std::int64_t>(
                                  random() % (random() % 20 == 0 ? 9'000'000U : 300'000U));
      coming.emplace(rounded(when), back);
      credit.give_back(Time{when}, back, [&](std::uint32_t, Time granted) {
        ASSERT_FALSE(line.empty());
        ASSERT_GE(known(), line.front());
        ASSERT_EQ(std::max(granted, Time{now}), Time{take(now, line.front())});
        out.push_back(line.front());
        line.erase(line.begin());
      });
      if (!line.empty()) { ASSERT_LT(known(), line.front()); }
    }
  }
  EXPECT_GT(waits, 100);
}

}  // namespace
}  // namespace wavetail::event
