// SPDX-License-Identifier: Apache-2.0
#include "run/expect.h"

#include <gtest/gtest.h>

#include "support/cpu_time.h"

namespace wavetail::run {
namespace {

using result::Verdict;
using scenario::Expectation;

result::RunResult example() {
  result::RunResult r;
  r.time_us = 7800;
  r.kernel_time_us = 5200;
  r.gaps.launch_bound_us = 1800;
  r.gaps.launch_bound_count = 324;
  r.gaps.tail_us = 12;
  result::KernelResult k;
  k.name = "layer.qkv";
  k.launches = 32;
  k.time_us = 16.04;
  k.waves = 2;
  k.dram_gbps = 2900;
  k.dram_pct = 86.5;
  k.limiters = {"registers", "shared_memory"};
  k.stall_pct = {{"long_scoreboard", 72.7}};
  k.bound = {.name = "dram", .time_us = 14, .chain = {}};
  k.bound.chain.push_back({"DRAM", "dram_us", "bytes / bandwidth", "", 14, "us"});
  r.kernels.push_back(k);
  r.closed_form.push_back({"bytes in flight", "needed_in_flight_bytes", "", "", 2.01e6, "bytes"});
  result::RunResult slow = r;
  slow.variant = "slow";
  slow.kernels[0].time_us = 32.08;
  r.variants.push_back(slow);
  return r;
}

Expectation value(std::string path, double v, std::string unit, std::string wanted = {}) {
  Expectation e;
  e.path = std::move(path);
  e.value = v;
  e.unit = std::move(unit);
  e.wanted = std::move(wanted);
  return e;
}

Expectation text(std::string path, std::string t) {
  Expectation e;
  e.path = std::move(path);
  e.kind = Expectation::Kind::Text;
  e.text = std::move(t);
  return e;
}

Verdict verdict(const Expectation& e) { return judge({e}, example()).front().verdict; }

std::string got(const Expectation& e) { return judge({e}, example()).front().got; }

TEST(Expect, PathsDropTheSuffixOfTheUnit) {
  EXPECT_EQ(verdict(value("time", 7800, "us", "7800 us")), Verdict::Passed);
  EXPECT_EQ(verdict(value("kernels.layer.qkv.waves", 2, "")), Verdict::Passed);
  EXPECT_EQ(verdict(value("gaps.launch_bound", 1800, "us", "1.8 ms")), Verdict::Passed);
  EXPECT_EQ(verdict(value("gaps.launch_bound_count", 324, "")), Verdict::Passed);
  EXPECT_EQ(verdict(value("kernels.layer.qkv.stall.long_scoreboard", 72.7, "pct", "72.7 %")),
            Verdict::Passed);
  EXPECT_EQ(verdict(value("kernels.layer.qkv.bound.time", 14, "us", "14 us")), Verdict::Passed);
  EXPECT_EQ(verdict(value("kernels.layer.qkv.bound.dram", 14, "us", "14 us")), Verdict::Passed);
  EXPECT_EQ(verdict(value("closed_form.needed_in_flight", 2.0e6, "bytes", "2.0 MB")),
            Verdict::Passed);
  EXPECT_EQ(verdict(value("variants.slow.kernels.layer.qkv.time", 32.08, "us", "32.08 us")),
            Verdict::Passed);
}

TEST(Expect, TheUnitTellsKeysApart) {
  EXPECT_EQ(got(value("kernels.layer.qkv.dram", 2900, "GB/s", "2.9 TB/s")), "2.90 TB/s");
  EXPECT_EQ(got(value("kernels.layer.qkv.dram", 86.5, "pct", "86.5 %")), "86.5 %");
  EXPECT_EQ(got(value("kernels.layer.qkv.dram", 1, "us", "1 us")),
            "'kernels.layer.qkv.dram' is in GB/s or pct, not in us");
}

TEST(Expect, AValueIsExactToTheDigitsWritten) {
  EXPECT_EQ(verdict(value("time", 7800, "us", "7.8 ms")), Verdict::Passed);
  EXPECT_EQ(verdict(value("kernels.layer.qkv.time", 16.0, "us", "16.0 us")), Verdict::Passed);
  EXPECT_EQ(verdict(value("kernels.layer.qkv.time", 16.0, "us", "16.00 us")), Verdict::Failed);
  EXPECT_EQ(verdict(value("kernels.layer.qkv.time", 17, "us", "17 us")), Verdict::Failed);
  EXPECT_EQ(verdict(value("gaps.tail", 0, "us", "0.0 ms")), Verdict::Passed);  // 12 us
  EXPECT_EQ(verdict(value("gaps.tail", 0, "us", "0 us")), Verdict::Failed);
  EXPECT_EQ(verdict(value("kernels.layer.qkv.launches", 32.4, "", "32.4")), Verdict::Failed);
}

TEST(Expect, TolerancesAndLimits) {
  auto e = value("kernels.layer.qkv.time", 15, "us", "15 us");
  e.within_pct = 7;
  EXPECT_EQ(verdict(e), Verdict::Passed);
  e.within_pct = 6.9;
  EXPECT_EQ(verdict(e), Verdict::Failed);
  Expectation limits;
  limits.path = "time";
  limits.unit = "us";
  limits.at_least = 7800;
  limits.at_most = 7800;
  EXPECT_EQ(verdict(limits), Verdict::Passed);
  limits.at_most = 7799.9;
  EXPECT_EQ(verdict(limits), Verdict::Failed);
}

TEST(Expect, Ratios) {
  auto e = value("variants.slow.kernels.layer.qkv.time", 2, "", "2");
  e.ratio_to = "kernels.layer.qkv.time";
  EXPECT_EQ(verdict(e), Verdict::Passed);
  EXPECT_EQ(got(e), "2x (32.1 us / 16.0 us)");
  e.ratio_to = "kernels.layer.qkv.launches";
  EXPECT_EQ(verdict(e), Verdict::Failed);
  e.unit = "pct";
  e.ratio_to = "kernels.layer.qkv.time";
  e.value = 200;
  EXPECT_EQ(verdict(e), Verdict::Passed);
}

TEST(Expect, Texts) {
  EXPECT_EQ(verdict(text("kernels.layer.qkv.limiters", "[registers, shared_memory]")),
            Verdict::Passed);
  EXPECT_EQ(verdict(text("kernels.layer.qkv.limiters", "registers")), Verdict::Failed);
  EXPECT_EQ(verdict(text("kernels.layer.qkv.bound.name", "dram")), Verdict::Passed);
}

TEST(Expect, AKnownMissThatPassesIsAFailure) {
  auto e = value("time", 7000, "us", "7.0 ms");
  e.known_miss = "host-model";
  EXPECT_EQ(verdict(e), Verdict::KnownMiss);
  EXPECT_FALSE(is_failure(verdict(e)));
  e.value = 7800;
  EXPECT_EQ(verdict(e), Verdict::UnexpectedPass);
  EXPECT_TRUE(is_failure(verdict(e)));
}

TEST(Expect, AFigureThatIsNotThereFailsWithAHint) {
  EXPECT_EQ(got(value("kernels.layer.qkv.wafes", 2, "")),
            "no figure 'kernels.layer.qkv.wafes'; did you mean 'kernels.layer.qkv.waves'?");
  EXPECT_EQ(verdict(value("kernels.layer.qkv.wafes", 2, "")), Verdict::Failed);
  EXPECT_EQ(got(value("mbu", 62, "pct", "62 %")), "does not apply");
}

TEST(Expect, ThousandsOfVariantsTakeTimeInProportion) {
  const auto seconds = [](int variants) {
    result::RunResult run;
    run.kernels.push_back({});
    run.kernels.back().name = "k";
    std::vector<Expectation> all;
    for (int v = 0; v < variants; ++v) {
      result::RunResult variant = run;
      variant.variants.clear();
      variant.variant = "v" + std::to_string(v);
      all.push_back(value("variants." + variant.variant + ".kernels.k.time", 0, "us", "0 us"));
      run.variants.push_back(std::move(variant));
    }
    return tests::cpu_seconds([&] {
      const auto judged = judge(all, run);
      EXPECT_EQ(judged.back().verdict, Verdict::Passed) << judged.back().got;
    });
  };
  EXPECT_LT(seconds(1600) / seconds(200), 24);
}

}  // namespace
}  // namespace wavetail::run
