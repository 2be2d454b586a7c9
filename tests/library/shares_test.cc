// SPDX-License-Identifier: Apache-2.0
// Shares of tiles, as persistent and stream-K products take them.
#include "kernel/share.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace wavetail::library {
namespace {

using ::testing::Each;
using ::testing::SizeIs;

// Every step of every tile falls to one cluster, and no share is a step larger than another.
TEST(Shares, SharesCoverEveryStepOnce) {
  for (const bool contiguous : {false, true}) {
    for (const auto& [grid, cluster, tiles] :
         {std::tuple{kernel::Dim3{132, 1, 1}, kernel::Dim3{2, 1, 1}, kernel::Dim3{28, 5, 1}},
          {kernel::Dim3{7, 1, 1}, kernel::Dim3{1, 1, 1}, kernel::Dim3{3, 4, 5}},
          {kernel::Dim3{16, 2, 1}, kernel::Dim3{2, 2, 1}, kernel::Dim3{4, 2, 3}},
          {kernel::Dim3{24, 1, 1}, kernel::Dim3{1, 1, 1}, kernel::Dim3{5, 1, 1}}}) {
      kernel::Kernel k;
      k.grid = grid;
      k.cluster = cluster;
      k.shares = kernel::Shares{tiles, 13, contiguous};
      std::map<kernel::Dim3, std::vector<int>> done;
      std::int64_t most = 0, least = 1 << 30, portions = 0, finished = 0;
      for (std::int64_t c = 0; c < kernel::clusters_of(k); ++c) {
        std::int64_t steps = 0;
        for (std::int64_t n = 0; n < kernel::portions_of(k, c); ++n) {
          const auto p = kernel::portion_of(k, c, n);
          auto& times = done[p.tile];
          times.resize(13);
          for (std::int64_t s = p.first; s < p.last; ++s) { ++times[static_cast<std::size_t>(s)]; }
          steps += p.last - p.first;
          ++portions;
          finished += way_of(p, *k.shares) != kernel::PortionWay::Early ? 1 : 0;
          for (std::size_t a = 0; a < 3; ++a) { EXPECT_EQ(p.tile[a] % cluster[a], 0); }
        }
        most = std::max(most, steps);
        least = std::min(least, steps);
      }
      EXPECT_THAT(done, SizeIs(kernel::tile_groups_of(k)));
      for (const auto& [tile, times] : done) { EXPECT_THAT(times, Each(1)); }
      EXPECT_LE(most - least, contiguous ? 1 : 13);
      const auto count = kernel::count_portions(k);
      EXPECT_EQ(count.portions, portions);
      EXPECT_EQ(count.whole + count.last, finished);
      EXPECT_EQ(finished, kernel::tile_groups_of(k));
    }
  }
}

// What others continue is done before a cluster's own last steps.
TEST(Shares, ContiguousSharesBeginWithWhatOthersContinue) {
  kernel::Kernel k;
  k.grid = {8, 1, 1};
  k.shares = kernel::Shares{{12, 1, 1}, 10, true};
  const auto first = kernel::portion_of(k, 1, 0), second = kernel::portion_of(k, 1, 1);
  EXPECT_EQ(first.tile[0], 2);
  EXPECT_EQ(first.last, 10);
  EXPECT_EQ(second.tile[0], 1);
  EXPECT_EQ(second.first, 5);
  EXPECT_EQ(kernel::portion_of(k, 0, 0).tile[0], 1);
  EXPECT_EQ(kernel::portion_of(k, 0, 0).last, 5);
}

}  // namespace
}  // namespace wavetail::library
