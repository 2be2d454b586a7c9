// SPDX-License-Identifier: Apache-2.0
#include "config/diagnostics.h"

#include <gtest/gtest.h>

namespace wavetail::config {
namespace {

std::shared_ptr<const Source> source(const std::string& text) {
  return std::make_shared<const Source>(Source{"f.yaml", text});
}

TEST(Diagnostics, AreSortedByPlaceAndSaidOnce) {
  const auto s = source("first\nsecond\n");
  Diagnostics d;
  d.error({s, 2, 1}, "later");
  d.error({s, 1, 3}, "b");
  d.error({s, 1, 3}, "a");
  d.error({s, 1, 3}, "b");
  ASSERT_EQ(d.sorted().size(), 3U);
  EXPECT_EQ(d.sorted()[0].message, "b");
  EXPECT_EQ(d.sorted()[1].message, "a");
  EXPECT_EQ(d.sorted()[2].message, "later");
}

TEST(Diagnostics, TheCaretStandsUnderTheCharacter) {
  Diagnostics d;
  d.error({source("  na\xC3\xAFve: x\n"), 1, 10}, "m");  // two bytes, one character
  EXPECT_EQ(d.render(),
            "f.yaml:1:10: error: m\n"
            "    na\xC3\xAFve: x\n"
            "          ^\n"
            "1 error; nothing was simulated.\n");
}

TEST(Diagnostics, LongLinesAreCutAroundThePlace) {
  Diagnostics d;
  d.error({source(std::string(100'000, 'x')), 1, 50'000}, "m");
  EXPECT_LT(d.render().size(), 500U);
  EXPECT_NE(d.render().find(std::string(80, ' ') + "^"), std::string::npos);
}

TEST(Diagnostics, APlaceBehindTheTextShowsNoLine) {
  Diagnostics d;
  d.error({source("a\n"), 9, 9}, "m");
  EXPECT_EQ(d.render(), "f.yaml:9:9: error: m\n1 error; nothing was simulated.\n");
  EXPECT_EQ(Diagnostics().render(), "");
}

TEST(Diagnostics, ThousandsOfMistakesAreCounted) {
  const auto s = source("x\n");
  Diagnostics d;
  for (int i = 1; i <= 5000; ++i) { d.error({s, 1, i}, "m"); }
  EXPECT_NE(d.render().find("(4900 more)\n5000 errors"), std::string::npos);
}

}  // namespace
}  // namespace wavetail::config
