// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.h"

#include <gtest/gtest.h>

#include <vector>

#include "base/check.h"

namespace wavetail::base {
namespace {

TEST(Nearest, CountsTypingSlips) {
  EXPECT_EQ(edit_distance("channels", "channels"), 0);
  EXPECT_EQ(edit_distance("chanels", "channels"), 1);
  EXPECT_EQ(edit_distance("chnanels", "channels"), 1);  // neighbours swapped
  EXPECT_EQ(edit_distance("Clock", "clock"), 0);
  EXPECT_EQ(edit_distance("", "abc"), 3);
}

TEST(Nearest, SuggestsOnlyWhatIsClose) {
  const std::vector<std::string> words{"kernels", "timeline", "expect", "gpu"};
  EXPECT_EQ(nearest_word("kernals", words), "kernels");
  EXPECT_EQ(nearest_word("gpus", words), "gpu");
  EXPECT_EQ(nearest_word("zebra", words), std::nullopt);
  EXPECT_EQ(nearest_word("", words), std::nullopt);
  EXPECT_EQ(nearest_word(std::string(100'000, 'x'), words), std::nullopt);
}

TEST(Nearest, HintNamesTheWordOrAllThatAreAllowed) {
  const std::vector<std::string> words{"kernels", "expect"};
  EXPECT_EQ(hint("kernals", words), "; did you mean 'kernels'?");
  EXPECT_EQ(hint("zebra", words), "; allowed: kernels, expect");
  EXPECT_EQ(hint("zebra", words, false), "");
}

TEST(Check, ABrokenInvariantStopsTheProgram) {
  check(true, "fine");
  EXPECT_DEATH(check(false, "two and two are four"), "internal error: two and two are four");
}

}  // namespace
}  // namespace wavetail::base
