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

// The bound grants L2 what it may keep; the verdict goes by the bytes that moved.
TEST(Diagnose, ThePinsBindWhereTheBoundIsLow) {
  auto k = examples::stream();
  k.bound.chain.push_back({"compulsory bytes", "compulsory_bytes", "", "", 240e6, "bytes"});
  k.bound.chain[3].value = 50;  // us: 167.5 MB
  k.bound.time_us = 50;
  EXPECT_EQ(diagnose(k).verdict,
            "85.3 % of the pins' rate: DRAM binds; the bound is lower as it grants L2 what it may "
            "keep (72.5 MB)");
  k.dram_read_bytes = 480e6;
  k.dram_gbps = 2 * *k.dram_gbps;
  k.dram_pct = 99;
  k.bound.chain[3].value = 41;
  k.bound.time_us = 41;
  EXPECT_NE(diagnose(k).verdict.find("480 MB moved, of which 240 MB are compulsory"),
            std::string::npos)
      << diagnose(k).verdict;
}

// No remedy that leaves the bytes can do better than they allow.
TEST(Diagnose, EstimatesStayAboveWhatTheBytesTake) {
  auto k = examples::stream();
  k.bound.time_us = 10;
  k.dram_pct = 40;
  k.time_us = 180;
  k.traffic_us = 150;
  k.bytes_in_flight = 300'000;
  k.useful_sector_pct = 90;
  k.active_lanes_pct = 10;
  k.stall_pct = {{"barrier", 50}, {"lg_throttle", 50}, {"start", 50}, {"long_scoreboard", 50}};
  for (const auto& f : diagnose(k).findings) {
    if (f.estimate_us) { EXPECT_GE(*f.estimate_us, 150) << f.mechanism; }
  }
  k.useful_sector_pct = 12.5;  // fewer bytes take less
  const auto found = diagnose(k).findings;
  const auto at = std::find_if(found.begin(), found.end(),
                               [](const auto& f) { return f.mechanism == "coalescing"; });
  ASSERT_NE(at, found.end());
  EXPECT_NEAR(*at->estimate_us, 180 * 0.125, 1e-9);
}

TEST(Diagnose, WidestLoadsAreNotAskedToBeWider) {
  auto k = examples::stream();
  k.dram_pct = 40;
  k.time_us = 180;
  k.bytes_in_flight = 500'000;
  k.sectors_per_request = 2;  // four lanes of 16 B
  k.issue_slot_pct = 90;
  k.stall_pct = {{"lg_throttle", 50}, {"long_scoreboard", 50}};
  for (const auto& f : diagnose(k).findings) {
    EXPECT_NE(f.mechanism, "narrow_loads");
    EXPECT_EQ(f.remedy.find("wide"), std::string::npos) << f.remedy;
  }
}

TEST(Diagnose, WholeSectorsComeBeforeFewerBytes) {
  auto k = examples::stream();
  k.useful_sector_pct = 12.5;
  const auto d = diagnose(k);
  EXPECT_EQ(d.binds, "coalescing");
  EXPECT_EQ(d.findings[1].mechanism, "dram");
  EXPECT_NE(d.findings[1].remedy.find("whole sectors first"), std::string::npos);
}

TEST(Diagnose, AStartIsNoGapAndAGraphIsNoRemedyForGraphs) {
  auto run = examples::decode();
  run.gaps = {};
  run.gaps.launch_bound_us = run.gaps.startup_us = 2000;
  run.gaps.launch_bound_count = 1;
  EXPECT_TRUE(diagnose_timeline(run).empty());
  EXPECT_EQ(time_text(run).find("What to do"), std::string::npos);
  run.gaps.dependency_us = 1000;
  run.gaps.dependency_count = 30;
  run.gaps.from_graphs = true;
  run.kernels[0].from_graphs = true;
  ASSERT_EQ(diagnose_timeline(run).size(), 1U);
  EXPECT_EQ(diagnose_timeline(run)[0].remedy.find("graph"), std::string::npos);
  run.kernels[0].gap_us = 1000;
  EXPECT_EQ(diagnose(run.kernels[0]).findings[1].mechanism, "launch_gaps");
  EXPECT_EQ(diagnose(run.kernels[0]).findings[1].remedy.find("graph"), std::string::npos);
}

TEST(Text, ARunThatWasCutShortNamesWhatWasRunning) {
  auto run = examples::decode();
  run.outcome = result::Outcome::OverBudget;
  run.unfinished = {{.kernel = "gate_up",
                     .started_us = 4000,
                     .ran_us = 1310,
                     .blocks = 1056,
                     .blocks_done = 12,
                     .warp_instructions = 5000,
                     .dram_read_bytes = 2e6,
                     .dram_write_bytes = 0}};
  EXPECT_NE(time_text(run).find("still running: 12 of 1056 blocks done, 5000 warp instructions, "
                                "DRAM 2.00 MB read, 0 B written"),
            std::string::npos)
      << time_text(run);
  EXPECT_EQ(to_json(run)["unfinished"][0]["kernel"], "gate_up");
}

TEST(Text, CeilingsThatSayNothingHaveNoRow) {
  auto k = examples::stream();
  k.bound.chain.push_back({"instruction issue", "issue_us", "", "", 0.08, "us"});
  EXPECT_EQ(chain_text(k, 2).find("instruction issue"), std::string::npos);
  k.bound.chain.back().value = 0.09;
  EXPECT_NE(chain_text(k, 2).find("instruction issue"), std::string::npos);
}

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
  k.bound.load_width = 4;
  k.bytes_in_flight = 500'000;
  EXPECT_EQ(binds(k), "narrow_loads");
  EXPECT_GE(*diagnose(k).findings.front().estimate_us, k.bound.time_us);
}

TEST(Diagnose, LaunchGapsThatRivalTheKernel) {
  auto run = examples::decode();
  run.kernels = {examples::stream()};
  run.kernels[0].time_us = 4;
  run.kernels[0].gap_us = 5;
  run.gaps = {};
  run.gaps.launch_bound_us = 300;
  run.gaps.launch_bound_count = 60;
  run.time_us = 540;
  const auto findings = diagnose_timeline(run);
  ASSERT_EQ(findings.size(), 1U);
  EXPECT_EQ(findings[0].mechanism, "launch_gaps");
  EXPECT_EQ(diagnose(run.kernels[0]).binds, "dram");  // the pins are busy all the same
  EXPECT_EQ(diagnose(run.kernels[0]).findings[1].mechanism, "launch_gaps");
  run.kernels[0].dram_pct = 20;
  EXPECT_EQ(diagnose(run.kernels[0]).binds, "launch_gaps");
  run.kernels[0].dram_pct = 85;
  run.kernels[0].gap_us = 1;
  EXPECT_EQ(diagnose(run.kernels[0]).findings.size(), 1U);
  EXPECT_NE(findings[0].evidence.find("gaps rival gate_up (4.00 us)"), std::string::npos)
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
  divergent.issue_slot_pct = 30;
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
