// SPDX-License-Identifier: Apache-2.0
#include "unit/human.h"

#include <gtest/gtest.h>

namespace wavetail::unit {
namespace {

TEST(Human, ThreeDigitsAndTheShortestPrefix) {
  EXPECT_EQ(human(2.01e6, "bytes"), "2.01 MB");
  EXPECT_EQ(human(0.143, "us"), "143 ns");
  EXPECT_EQ(human(7812.5, "us"), "7.81 ms");
  EXPECT_EQ(human(3350, "GB/s"), "3.35 TB/s");
  EXPECT_EQ(human(999.9, "us"), "1.00 ms");
  EXPECT_EQ(human(0, "bytes"), "0 B");
}

TEST(Human, CountsStayWhole) {
  EXPECT_EQ(human(1000000, ""), "1000000");
  EXPECT_EQ(human(15.54, ""), "15.5");
  EXPECT_EQ(human(2, "ratio"), "2x");
  EXPECT_EQ(human(1830, "MHz"), "1830 MHz");
}

TEST(Human, Percentages) {
  EXPECT_EQ(human(61.63, "pct"), "61.6 %");
  EXPECT_EQ(human(25, "pct"), "25 %");
  EXPECT_EQ(human(0.000139, "pct"), "<0.01 %");
  EXPECT_EQ(human(0, "pct"), "0 %");
}

TEST(Human, SignificantDigitsRoundUpWithoutGrowing) {
  EXPECT_EQ(significant(9.996, 3), "10.0");
  EXPECT_EQ(significant(0.09996, 3), "0.100");
  EXPECT_EQ(significant(12345.6, 3), "12346");
  EXPECT_EQ(significant(-2.5, 3), "-2.50");
}

}  // namespace
}  // namespace wavetail::unit
