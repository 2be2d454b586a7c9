// SPDX-License-Identifier: Apache-2.0
// What counts as steady, on marks that are made up.
#include "device/steady.h"

#include <gtest/gtest.h>

#include <cmath>

namespace wavetail::device {
namespace {

// Marks a period apart that grows by `drift` of itself per mark, each off by up to `jitter`.
std::vector<Mark> marks(int n, double period, double drift, double jitter) {
  std::vector<Mark> all;
  double at = 0;
  for (int i = 0; i < n; ++i) {
    const double off = jitter * std::sin(7.0 * i);
    all.push_back({unit::Time{} + unit::Duration{std::llround(at + off)}, {}});
    at += period * (1 + drift * i);
  }
  return all;
}

TEST(Rhythm, IsThePeriodOfEvenMarks) {
  const auto rhythm = rhythm_of(marks(24, 1000, 0, 20), 12, 0.005);
  ASSERT_TRUE(rhythm);
  EXPECT_NEAR(rhythm->period, 1000, 5);
  EXPECT_EQ(rhythm->first, 8U);
}

TEST(Rhythm, WaitsForEnoughMarks) {
  EXPECT_FALSE(rhythm_of(marks(16, 1000, 0, 0), 12, 0.005));
  EXPECT_TRUE(rhythm_of(marks(18, 1000, 0, 0), 12, 0.005));
  EXPECT_FALSE(rhythm_of(marks(18, 1000, 0, 0), 13, 0.005));
}

TEST(Rhythm, IsNoneWhereThePeriodGrows) {
  EXPECT_FALSE(rhythm_of(marks(24, 1000, 0.003, 0), 12, 0.005));
}

TEST(Rhythm, IsNoneWhereMarksAreUncertain) {
  EXPECT_FALSE(rhythm_of(marks(24, 1000, 0, 400), 12, 0.005));
  EXPECT_TRUE(rhythm_of(marks(240, 1000, 0, 400), 12, 0.005));
}

TEST(Steady, ComparesTheLaterHalf) {
  EXPECT_FALSE(first_compared(marks(4, 1000, 0, 0)));
  EXPECT_EQ(first_compared(marks(17, 1000, 0, 0)), 8U);
  EXPECT_TRUE(steady(marks(17, 1000, 0, 1), 8, 0.005));
  EXPECT_FALSE(steady(marks(17, 1000, 0.01, 0), 8, 0.005));
}

}  // namespace
}  // namespace wavetail::device
