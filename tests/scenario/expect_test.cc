// SPDX-License-Identifier: Apache-2.0
#include "scenario/expect.h"

#include <gtest/gtest.h>

#include "support.h"

namespace wavetail::scenario {
namespace {

const std::string
    kRun = kHead +
           "kernels:\n  k: {duration: 5 us}\n  c: {template: copy, bytes: 64 MiB}\n"
           "timeline: [{launch: k}, {launch: c}]\nvariants: {slow: {gpu.hbm.latency: x1.5}}\n"
           "sweep: {kernels.c.bytes: [4 KiB, 8 KiB]}\n";

Expectation expectation(const std::string& line) {
  const Study study = load(kRun + "expect:\n  " + line + "\n");
  return study.base.expect.empty() ? Expectation{} : study.base.expect.at(0);
}

TEST(Expect, ABareQuantityIsAValueInTheUnitOfTheKey) {
  const Expectation e = expectation("kernels.k.time: 5.0 us");
  EXPECT_EQ(e.path, "kernels.k.time");
  EXPECT_EQ(e.kind, Expectation::Kind::Value);
  EXPECT_EQ(e.value, 5.0);
  EXPECT_EQ(e.unit, "us");
  EXPECT_EQ(e.wanted, "5.0 us");
  EXPECT_EQ(e.place, "test.yaml:11:3");
  EXPECT_FALSE(e.within_pct);
}

TEST(Expect, UnitsAreConverted) {
  EXPECT_EQ(expectation("time: 2.1 ms").value, 2100);
  EXPECT_EQ(expectation("kernels.c.dram_read: 2 MB").value, 2e6);
  EXPECT_EQ(expectation("kernels.c.mean_latency: 0.6 us").value, 600);
  EXPECT_EQ(expectation("kernels.c.dram_gbps: 3.35 TB/s").value, 3350);
  EXPECT_EQ(expectation("kernels.c.wave_efficiency: 53 %").value, 53);
  EXPECT_EQ(expectation("kernels.c.waves: 2").value, 2);
  EXPECT_EQ(expectation("kernels.c.clock: 1.83 GHz").value, 1830);
  EXPECT_EQ(expectation("kernels.c.stall.long_scoreboard: 70 %").unit, "pct");
  EXPECT_EQ(expectation("gaps.launch_bound: 1.8 ms").unit, "us");
}

TEST(Expect, TheUnitChoosesAmongKeysOfOneName) {
  EXPECT_EQ(expectation("kernels.c.dram: 90 %").unit, "pct");
  EXPECT_EQ(expectation("kernels.c.dram: 3 TB/s").unit, "GB/s");
}

TEST(Expect, TolerancesBoundsAndKnownMisses) {
  Expectation e = expectation("kernel_time: {value: 2.1 ms, within: 10 %}");
  EXPECT_EQ(e.value, 2100);
  EXPECT_EQ(e.within_pct, 10);
  EXPECT_EQ(e.wanted, "2.1 ms within 10 %");
  e = expectation("time: {at_least: 1 ms, at_most: 2 ms}");
  EXPECT_EQ(e.at_least, 1000);
  EXPECT_EQ(e.at_most, 2000);
  EXPECT_EQ(e.wanted, "at least 1 ms, at most 2 ms");
  e = expectation("kernels.c.time: {at_least: 143 us, known_miss: block-rate}");
  EXPECT_EQ(e.known_miss, "block-rate");
}

TEST(Expect, RatiosAreBareOrInPercent) {
  Expectation e = expectation(
      "variants.slow.kernels.c.time: {ratio_to: kernels.c.time, value: 1.5, within: 5 %}");
  EXPECT_EQ(e.ratio_to, "kernels.c.time");
  EXPECT_EQ(e.value, 1.5);
  EXPECT_EQ(e.unit, "");
  EXPECT_EQ(e.wanted, "1.5 x kernels.c.time within 5 %");
  e = expectation("variants.slow.kernels.c.time: {ratio_to: kernels.c.time, at_least: 100 %}");
  EXPECT_EQ(e.unit, "pct");
  EXPECT_EQ(e.at_least, 100);
}

TEST(Expect, VariantsOfASweepAreNamedByTheirValue) {
  EXPECT_EQ(expectation("variants.4 KiB.kernels.c.time: 1 us").path,
            "variants.4 KiB.kernels.c.time");
  EXPECT_EQ(expectation("variants.4KiB.kernels.c.time: 1 us").path,
            "variants.4 KiB.kernels.c.time");
}

TEST(Expect, Texts) {
  Expectation e = expectation("kernels.c.limiters: [registers, shared_memory]");
  EXPECT_EQ(e.kind, Expectation::Kind::Text);
  EXPECT_EQ(e.text, "registers, shared_memory");
  EXPECT_EQ(expectation("kernels.c.bound.name: dram").text, "dram");
  e = expectation("kernels.c.bound.name: {value: dram, known_miss: l2-pages}");
  EXPECT_EQ(e.text, "dram");
  EXPECT_EQ(e.known_miss, "l2-pages");
}

TEST(Expect, LinksOfAChainTakeTheUnitOfTheFile) {
  Expectation e = expectation("closed_form.needed_in_flight_bytes: 2.0 MB");
  EXPECT_EQ(e.value, 2e6);
  EXPECT_EQ(e.unit, "bytes");
  EXPECT_EQ(expectation("kernels.c.bound.traffic_time: 30 us").unit, "us");
  EXPECT_EQ(expectation("closed_form.ratio: 2.5").unit, "");
}

TEST(Expect, ARefusalIsCarriedByTheStudy) {
  const std::string bad = kHead + "kernels:\n  k: {duration: 5}\ntimeline: [{launch: k}]\n";
  Study study = load(bad + "expect: {error: a unit is needed}\n");
  ASSERT_TRUE(study.expected_error);
  EXPECT_EQ(study.expected_error->text, "a unit is needed");
  EXPECT_EQ(study.expected_error->place, "test.yaml:7:17");
  EXPECT_NE(study.expected_error->refusal.find(
                "test.yaml:5:17: error: 'kernels.k.duration': a unit is needed"),
            std::string::npos);
  study = load(kRun + "expect: {error: a unit is needed}\n");  // accepted: the run says so
  ASSERT_TRUE(study.expected_error);
  EXPECT_EQ(study.expected_error->refusal, "");
  EXPECT_EQ(study.base.kernels.size(), 2U);
}

}  // namespace
}  // namespace wavetail::scenario
