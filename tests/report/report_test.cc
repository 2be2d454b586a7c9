// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <set>

#include "example.h"
#include "report/csv.h"
#include "report/diagnose.h"
#include "report/json.h"
#include "report/junit.h"
#include "report/metrics.h"
#include "report/table.h"
#include "report/text.h"

namespace wavetail::report {
namespace {

TEST(Number, SixDigitsAndWholeNumbersWhole) {
  EXPECT_EQ(number(1.0 / 3).dump(), "0.333333");
  EXPECT_EQ(number(12345678.9).dump(), "12345700");
  EXPECT_EQ(number(15'012'345'678.0).dump(), "15012345678");
  EXPECT_EQ(number(0).dump(), "0");
  EXPECT_EQ(number(-2.5).dump(), "-2.5");
  EXPECT_TRUE(number(std::numeric_limits<double>::quiet_NaN()).is_null());
  EXPECT_TRUE(number(std::numeric_limits<double>::infinity()).is_null());
}

TEST(Json, WhatDoesNotApplyIsNull) {
  const auto json = to_json(examples::decode());
  EXPECT_TRUE(json["kernels"][1]["waves"].is_null());
  EXPECT_TRUE(json["mfu_pct"].is_null());
  EXPECT_FALSE(json.contains("simulator"));
  EXPECT_EQ(json["variants"]["graph"]["time_us"], 3510);
}

TEST(Csv, CellsAreQuotedWhereTheyMustBe) {
  EXPECT_EQ(csv_cell("plain"), "plain");
  EXPECT_EQ(csv_cell("a,b"), "\"a,b\"");
  EXPECT_EQ(csv_cell("say \"so\""), "\"say \"\"so\"\"\"");
}

TEST(Table, ColumnsLineUp) {
  Table t({{"name", Table::Align::Left}, {"value"}});
  t.add({"a", "1"});
  t.add({"bc", "234"});
  EXPECT_EQ(t.text(2), "  name  value\n  a         1\n  bc      234\n");
}

TEST(Shares, SumToExactlyAHundred) {
  EXPECT_EQ(shares_text({{"a", 33.3333}, {"b", 33.3333}, {"c", 33.3334}}),
            "c 33.4 %, a 33.3 %, b 33.3 %");
  EXPECT_EQ(shares_text({{"a", 99.96}, {"b", 0.04}}), "a 100.0 %");
  EXPECT_EQ(shares_text({}), "");
}

TEST(Check, StatusFollowsTheWorstVerdict) {
  auto e = examples::decode().expect;
  EXPECT_EQ(status_of("", {e[0]}), CheckStatus::Passed);
  EXPECT_EQ(status_of("", e), CheckStatus::KnownMiss);
  e[1].verdict = result::Verdict::UnexpectedPass;
  EXPECT_EQ(status_of("", e), CheckStatus::Failed);
  EXPECT_EQ(status_of("hang", {}), CheckStatus::Failed);
}

TEST(Metrics, EveryOneHasASentenceAndItsOwnPath) {
  std::set<std::string> paths;
  for (const auto& m : metrics()) {
    EXPECT_FALSE(m.sentence.empty()) << m.path;
    EXPECT_TRUE(paths.insert(m.path).second) << m.path;
  }
  EXPECT_TRUE(paths.contains("kernels[].stall_pct.long_scoreboard"));
}

std::string binds(const result::KernelResult& k) { return diagnose(k).binds; }

TEST(Diagnose, AStreamNearThePinsIsBoundByDram) {
  const auto d = diagnose(examples::stream());
  EXPECT_EQ(d.binds, "dram");
  EXPECT_NEAR(d.ceiling_pct, 83.3, 0.1);
  EXPECT_NE(d.verdict.find("near the best"), std::string::npos);
  EXPECT_NE(d.occupancy.find("enough"), std::string::npos);
}

// The three ways in which a small matrix-vector product stays below the bandwidth.
TEST(Diagnose, TooFewBlocks) {
  auto k = examples::stream();
  k.dram_pct = 25;
  k.time_us = 290;
  k.sms_reached = 36;
  k.slot_pct = {{"issued", 1}, {"stalled", 26}, {"no_warp", 0}, {"not_reached", 73}};
  k.bytes_in_flight = 400'000;
  EXPECT_EQ(binds(k), "too_few_blocks");
  EXPECT_NEAR(*diagnose(k).findings.front().estimate_us, 290 * 0.27, 0.1);
}

TEST(Diagnose, LoadsTooNarrow) {
  auto k = examples::stream();
  k.dram_pct = 40;
  k.time_us = 180;
  k.sectors_per_request = 4;
  k.bytes_in_flight = 500'000;
  EXPECT_EQ(binds(k), "narrow_loads");
  EXPECT_GE(*diagnose(k).findings.front().estimate_us, k.bound.time_us);
}

TEST(Diagnose, LaunchGapsThatRivalTheKernel) {
  auto run = examples::decode();
  run.kernels = {examples::stream()};
  run.kernels[0].time_us = 4;
  run.gaps = {};
  run.gaps.launch_bound_us = 300;
  run.gaps.launch_bound_count = 60;
  run.time_us = 540;
  const auto findings = diagnose_timeline(run);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].mechanism, "launch_gaps");
  EXPECT_EQ(diagnose(run.kernels[0], run.gaps).binds, "launch_gaps");
  EXPECT_EQ(diagnose(run.kernels[0]).binds, "dram");
  EXPECT_NE(findings[0].evidence.find("the gap rivals gate_up (4.00 us)"), std::string::npos)
      << findings[0].evidence;
}

TEST(Diagnose, OtherMechanismsByName) {
  auto k = examples::stream();
  k.dram_pct = 40;
  k.time_us = 180;
  auto few_loads = k;
  few_loads.bytes_in_flight = 500'000;
  EXPECT_EQ(binds(few_loads), "too_few_loads");
  auto few_warps = few_loads;
  few_warps.theoretical_occupancy_pct = 12.5;
  EXPECT_EQ(binds(few_warps), "too_few_warps");
  auto scattered = k;
  scattered.useful_sector_pct = 12.5;
  scattered.sectors_per_request = 32;
  EXPECT_EQ(binds(scattered), "coalescing");
  auto divergent = k;
  divergent.active_lanes_pct = 3.125;
  EXPECT_EQ(binds(divergent), "divergence");
  auto tail = k;
  tail.waves = 2;
  tail.wave_efficiency_pct = 53;
  EXPECT_EQ(binds(tail), "wave_tail");
  auto busy = k;
  busy.issue_slot_pct = 90;
  EXPECT_EQ(binds(busy), "issue");
}

// The conflicts are named where shared memory costs time, and what is left without them is bounded
// by the other ceilings and by the wavefronts that remain.
TEST(Diagnose, BankConflictsWhereSharedMemoryCostsTime) {
  auto k = examples::stream();
  k.dram_pct = 10;
  k.time_us = 400;
  k.bank_wavefronts_per_request = 32;
  k.bank_conflict_pct = 75;
  k.shared_busy_pct = 80;
  k.bound.name = "shared";
  k.bound.time_us = 320;
  k.bound.chain.push_back({"shared memory", "shared_us", "", "", 320, "us"});
  EXPECT_EQ(binds(k), "bank_conflicts");
  const auto found = diagnose(k).findings.front();
  EXPECT_NE(found.remedy.find("swizzle"), std::string::npos);
  EXPECT_NEAR(*found.estimate_us, 400 * (1 - 0.8 * 0.75), 1e-9);
  k.bank_conflict_pct = 0;
  EXPECT_EQ(binds(k), "shared_memory");
  k.shared_busy_pct = 5;
  k.bank_conflict_pct = 90;
  EXPECT_NE(binds(k), "bank_conflicts");
}

TEST(Diagnose, EveryMechanismIsDocumented) {
  std::set<std::string_view> known;
  for (const auto& m : mechanisms()) { known.insert(m.name); }
  auto k = examples::stream();
  k.dram_pct = 40;
  k.time_us = 400;
  k.useful_sector_pct = 10;
  k.active_lanes_pct = 10;
  k.issue_slot_pct = 90;
  k.fp32_pct = 90;
  k.waves = 2;
  k.wave_efficiency_pct = 50;
  k.stall_pct = {{"barrier", 25}, {"lg_throttle", 25}, {"start", 25}, {"long_scoreboard", 25}};
  k.bytes_in_flight = 1000;
  k.bank_wavefronts_per_request = 4;
  k.bank_conflict_pct = 50;
  k.shared_busy_pct = 70;
  const auto d = diagnose(k);
  EXPECT_GE(d.findings.size(), 8U);
  for (const auto& f : d.findings) {
    EXPECT_TRUE(known.contains(f.mechanism)) << f.mechanism;
    if (f.estimate_us) { EXPECT_GE(*f.estimate_us, k.bound.time_us) << f.mechanism; }
  }
}

}  // namespace
}  // namespace wavetail::report
