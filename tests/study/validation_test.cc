// SPDX-License-Identifier: Apache-2.0
// Statistics of errors against sums done by hand.
#include "study/validation.h"

#include <gtest/gtest.h>

namespace wavetail::study {
namespace {

RowResult result(const std::string& set, std::optional<double> predicted,
                 std::optional<double> measured) {
  RowResult r;
  r.row.set = set;
  r.row.gpu = "G";
  r.row.unit = "us";
  r.row.value = measured;
  r.predicted = predicted;
  r.gpu = "g";
  return r;
}

TEST(Statistics, MeansMedianAndBias) {
  Validation v;
  v.rows = {result("A", 110, 100.0), result("A", 80, 100.0), result("A", 100, 100.0),
            result("A", 5, {}), result("A", {}, 7.0)};
  compare(v);
  ASSERT_EQ(v.sets.size(), 1U);
  const Statistics& s = v.sets.front().statistics;
  EXPECT_EQ(s.n, 4);
  EXPECT_EQ(s.skipped, 1);
  EXPECT_EQ(s.compared, 3);
  EXPECT_NEAR(*s.mape_pct, 10, 1e-9);
  EXPECT_NEAR(*s.median_ape_pct, 10, 1e-9);
  EXPECT_NEAR(*s.bias_pct, -10.0 / 3, 1e-9);
  EXPECT_FALSE(s.outside_pct);
  EXPECT_FALSE(v.rows[3].error_pct);
}

TEST(Statistics, DistanceToARangeIsNoughtInside) {
  Validation v;
  v.rows = {result("A", 80, 100.0), result("A", 100, 100.0), result("A", 150, 100.0)};
  for (RowResult& r : v.rows) {
    r.row.lo = 90;
    r.row.hi = 120;
  }
  compare(v);
  EXPECT_NEAR(*v.rows[0].outside_pct, 100.0 / 9, 1e-9);
  EXPECT_EQ(*v.rows[1].outside_pct, 0);
  EXPECT_NEAR(*v.rows[2].outside_pct, 25, 1e-9);
  EXPECT_NEAR(*v.sets.front().statistics.outside_pct, (100.0 / 9 + 25) / 3, 1e-9);
}

TEST(Statistics, GroupsHaveTightRowsAndDecadesOfDuration) {
  Validation v;
  v.rows = {result("A", 9, 8.0), result("A", 12, 10.0), result("A", 700, 1000.0),
            result("B", 1, 1.0)};
  v.rows[1].row.lo = 9;
  v.rows[1].row.hi = 11;
  v.rows[1].row.notes = "collections=4";
  compare(v);
  ASSERT_EQ(v.groups.size(), 2U);
  const Group& a = v.groups.front();
  EXPECT_EQ(a.set, "A");
  EXPECT_EQ(a.gpu, "g");
  EXPECT_EQ(a.tight.n, 1);
  EXPECT_NEAR(*a.tight.mape_pct, 20, 1e-9);
  ASSERT_EQ(a.decades.size(), 3U);
  EXPECT_EQ(a.decades[0].from_us, 1);
  EXPECT_EQ(a.decades[1].from_us, 10);
  EXPECT_EQ(a.decades[1].to_us, 100);
  EXPECT_EQ(a.decades[2].from_us, 1000);
}

}  // namespace
}  // namespace wavetail::study
