// SPDX-License-Identifier: Apache-2.0
// Clock edges against exact arithmetic in 128 bits.
#include "event/clock.h"

#include <gtest/gtest.h>

#include <random>

namespace wavetail::event {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000'000;

// n / hertz in picoseconds, rounded down.
std::int64_t exact(std::int64_t n, std::int64_t hertz) {
  return static_cast<std::int64_t>(static_cast<Wide>(n) * static_cast<Wide>(kSecond) /
                                   static_cast<Wide>(hertz));
}

TEST(Clock, OneSecondIsExactlyItsFrequency) {
  for (const std::int64_t hertz : {1'755'000'000, 1'830'000'000, 1'410'000'000, 100'000'000}) {
    const Clock clock{Hertz{hertz}};
    EXPECT_EQ(clock.edge(hertz).picoseconds(), kSecond) << hertz;
    EXPECT_EQ(clock.at_or_after(Time{kSecond}), hertz);
  }
}

TEST(Clock, EdgesAreExactToThePicosecond) {
  std::mt19937_64 random(7);
  for (int trial = 0; trial < 200'000; ++trial) {
    const auto hertz = static_cast<std::int64_t>(100'000'000 + random() % 9'900'000'000ULL);
    const Clock clock{Hertz{hertz}};
    // Up to ten seconds.
    const auto n = static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(10 * hertz));
    const std::int64_t off = clock.edge(n).picoseconds() - exact(n, hertz);
    ASSERT_GE(off, 0) << n << " at " << hertz;
    ASSERT_LE(off, 1) << n << " at " << hertz;
  }
}

TEST(Clock, TheEdgeAtOrAfterIsTheFirst) {
  std::mt19937_64 random(8);
  for (int trial = 0; trial < 200'000; ++trial) {
    const auto hertz = static_cast<std::int64_t>(100'000'000 + random() % 9'900'000'000ULL);
    const Clock clock{Hertz{hertz}};
    const Time t{static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(kSecond))};
    const std::int64_t n = clock.at_or_after(t);
    ASSERT_GE(clock.edge(n), t);
    if (n > 0) { ASSERT_LT(clock.edge(n - 1), t); }
    ASSERT_EQ(clock.at_or_after(clock.edge(n)), n);
  }
}

TEST(Clock, SpansAreRoundedUp) {
  std::mt19937_64 random(9);
  for (int trial = 0; trial < 100'000; ++trial) {
    const auto hertz = static_cast<std::int64_t>(100'000'000 + random() % 9'900'000'000ULL);
    const auto n = static_cast<std::int64_t>(random() % 1'000'000'000);
    const std::int64_t down = exact(n, hertz);
    const bool whole = static_cast<Wide>(down) * static_cast<Wide>(hertz) ==
                       static_cast<Wide>(n) * static_cast<Wide>(kSecond);
    ASSERT_EQ(Clock{Hertz{hertz}}.span(Cycles{n}).count(), down + (whole ? 0 : 1));
  }
}

// The clock changes many times; edges keep their numbers and never go back in time.
TEST(Clock, EpochsJoinWithoutAGap) {
  std::mt19937_64 random(10);
  Clock clock{Hertz{1'000'000'000}};
  Time t;
  std::int64_t n = 0;
  std::int64_t hertz = 1'000'000'000;
  for (int epoch = 0; epoch < 1000; ++epoch) {
    t += Duration{static_cast<std::int64_t>(random() % 1'000'000'000)};
    const std::int64_t joint = clock.at_or_after(t);
    const Time before = clock.edge(joint);
    ASSERT_GE(joint, n);
    hertz = static_cast<std::int64_t>(500'000'000 + random() % 2'000'000'000);
    clock.change(t, Hertz{hertz});
    ASSERT_EQ(clock.edge(joint), before);
    const std::int64_t off = (clock.edge(joint + 1'000'000) - before).count() -
                             exact(1'000'000, hertz);
    ASSERT_TRUE(off == 0 || off == 1);
    ASSERT_EQ(clock.frequency(), Hertz{hertz});
    n = joint;
    t = before;
  }
}

}  // namespace
}  // namespace wavetail::event
