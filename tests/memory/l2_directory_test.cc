// SPDX-License-Identifier: Apache-2.0
#include "memory/l2_directory.h"

#include <gtest/gtest.h>

namespace wavetail::memory {
namespace {

// A range of fewer pages than are held is looked up page by page, a larger one by going through the
// directory: the answers are the same, from the least to the most recently used.
TEST(L2Directory, CountsSmallRangesAsLargeOnes) {
  L2Directory l2(1 << 16);
  for (std::int64_t n = 0; n < 100; ++n) {
    l2.restore({n * 37 % 100, {1ULL << (n % 64), 0}, {n % 2 == 0 ? 0 : 1ULL << (n % 64), 0}});
  }
  const std::vector<L2Directory::Range> all{{0, 1 << 30}};
  const auto pages = l2.pages_within(all);
  ASSERT_EQ(pages.size(), 100U);
  for (std::int64_t n = 0; n < 100; ++n) {
    EXPECT_EQ(pages[static_cast<std::size_t>(n)].page, n * 37 % 100);
  }
  EXPECT_EQ(l2.census(all)[0].lines, 100);
  EXPECT_EQ(l2.census(all)[0].dirty_sectors, 50);
  L2Directory::Census sum;
  for (std::int64_t first = 0; first < 100; first += 10) {
    const std::vector<L2Directory::Range> ten{{first, first + 10}};
    const auto within = l2.pages_within(ten);
    std::vector<std::int64_t> expected;
    for (const auto& p : pages) {
      if (p.page >= first && p.page < first + 10) { expected.push_back(p.page); }
    }
    ASSERT_EQ(within.size(), expected.size());
    for (std::size_t i = 0; i < within.size(); ++i) { EXPECT_EQ(within[i].page, expected[i]); }
    sum.lines += l2.census(ten)[0].lines;
    sum.dirty_sectors += l2.census(ten)[0].dirty_sectors;
  }
  EXPECT_EQ(sum.lines, 100);
  EXPECT_EQ(sum.dirty_sectors, 50);
}

}  // namespace
}  // namespace wavetail::memory
