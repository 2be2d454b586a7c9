// SPDX-License-Identifier: Apache-2.0
// What a row must say to be predicted, and the words with which it is skipped otherwise; which GPU
// and clock it gets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rows.h"
#include "study/gpus.h"
#include "study/protocol.h"

namespace wavetail::study {
namespace {

using testing::HasSubstr;

const std::string kInit =
    "kernel=init;block=1024;blocks_per_sm=2;grid=2048;elem=fp64_8B;elems=2097152;"
    "stores_per_thread=1;bytes_per_thread=8";

std::string reason(const Measurement& m, const std::string& gpu = "h200-sxm") {
  try {
    (void)plan_of(m, shipped_gpu(gpu));
  } catch (const Unmapped& why) { return why.what(); }
  return "planned";
}

std::string stream_reason(const std::string& params, const std::string& metric = "bandwidth",
                          const std::string& unit = "GB/s") {
  return reason(row("H200", "stream_bw_vs_occupancy", params, metric, unit));
}

TEST(Mapping, SaysWhatIsMissingUnknownOrContradictory) {
  EXPECT_EQ(stream_reason(kInit), "planned");
  EXPECT_EQ(stream_reason("kernel=init;elem=fp64_8B"), "parameter 'block' is missing");
  EXPECT_THAT(
      stream_reason(kInit + ";grdi=1"),
      HasSubstr("parameter 'grdi' is unknown to stream_bw_vs_occupancy; did you mean 'grid'?"));
  EXPECT_THAT(stream_reason("kernel=copy;block=32"),
              HasSubstr("kernel=copy: there is init, write"));
  EXPECT_THAT(stream_reason("kernel=init;block=-4;elem=fp64_8B"),
              HasSubstr("block=-4: a whole number of at least 1"));
  EXPECT_EQ(stream_reason("kernel=read;block=32;elem=fp64_8B;bytes_per_thread=16"),
            "bytes_per_thread=16, but the other parameters give 8");
  EXPECT_THAT(stream_reason(kInit, "latency"), HasSubstr("metric 'latency'"));
  EXPECT_EQ(stream_reason(kInit, "bandwidth", "furlongs"),
            "unit 'furlongs': this figure is given in TB/s, GB/s, B/clk, B/clk/SM, B/clk/SM total");
}

TEST(Mapping, UnknownKindsAndThoseWithoutAProtocolAreSkipped) {
  EXPECT_EQ(reason(row("H200", "stream_bw_vs_ocupancy", "", "m", "us")),
            "kind 'stream_bw_vs_ocupancy' has no protocol; did you mean 'stream_bw_vs_occupancy'?");
  EXPECT_THAT(reason(row("H200", "llm_decode", "", "m", "us")), HasSubstr("whole models"));
}

TEST(Mapping, GpusMatchByNameAliasAndBrackets) {
  config::Diagnostics diagnostics;
  GpuShelf shelf(shipped(), diagnostics);
  const auto name = [&](const std::string& gpu) {
    return shelf.for_row(row(gpu, "k", "", "m", "us")).name;
  };
  EXPECT_EQ(name("H100-SXM-80GB"), "h100-sxm");
  EXPECT_EQ(name("h100_sxm5 (330 W)"), "h100-sxm");
  EXPECT_EQ(name("A100"), "a100-sxm-80gb");
  EXPECT_EQ(name("H200-SXM"), "h200-sxm");
}

TEST(Mapping, AnUnknownGpuNamesTheNearest) {
  const Validation v = predict(
      {row("H30-SXM-80GB", "stream_bw_vs_occupancy", kInit, "bandwidth", "GB/s"),
       row("Hopper (unnamed)", "stream_bw_vs_occupancy", kInit, "bandwidth", "GB/s")});
  EXPECT_THAT(v.rows[0].skipped,
              HasSubstr("there is no GPU file for 'H30-SXM-80GB'; did you mean"));
  EXPECT_THAT(v.rows[1].skipped, HasSubstr("there is no GPU file for 'Hopper (unnamed)'"));
  EXPECT_FALSE(v.rows[1].predicted);
}

TEST(Mapping, TheClockIsTheRowsOwnOrBoost) {
  config::Diagnostics diagnostics;
  GpuShelf shelf(shipped(), diagnostics);
  const auto mhz = [&](const std::string& gpu, const std::string& params) {
    return shelf.for_row(row(gpu, "k", params, "m", "us")).sm_clock().count() / 1'000'000;
  };
  EXPECT_EQ(mhz("H100-SXM", ""), 1980);
  EXPECT_EQ(mhz("H100-SXM-80GB(1830MHz locked)", ""), 1830);
  EXPECT_EQ(mhz("H100-SXM", "clock_mhz=1755"), 1755);
  EXPECT_EQ(mhz("H100-SXM", "clock_mhz=2100"), 2100);
  EXPECT_THROW((void)mhz("H100-SXM", "clock_mhz=fast"), Unmapped);
}

TEST(Mapping, TheMemoryOfABoardThatRanSlower) {
  config::Diagnostics diagnostics;
  GpuShelf shelf(shipped(), diagnostics);
  const auto memory = [&](const std::string& gpu, const std::string& source) {
    Measurement m = row(gpu, "k", "", "m", "us");
    m.source = source;
    return shelf.for_row(m).hbm;
  };
  const gpu::HbmSpec usual = memory("H200-SXM", "github ai-dynamo/aiconfigurator");
  const gpu::HbmSpec slow = memory("H200-SXM", "github RRZE-HPC/gpu-benches@1038c5d h200.txt");
  EXPECT_EQ(usual.bandwidth.count(), 4'800'000'000'000);
  EXPECT_NEAR(static_cast<double>(slow.bandwidth.count()) * 1e-12, 4.023, 0.001);
  EXPECT_NEAR(static_cast<double>(slow.row_access.count()) / 1000, 4.65, 0.01);
  EXPECT_EQ(memory("A100-SXM-80GB", "gpu-benches"), memory("A100-SXM-80GB", ""));
  // Another GPU's rows, asked of an H200, are not that board's.
  auto options = shipped();
  options.gpu = "h200-sxm";
  GpuShelf one(options, diagnostics);
  Measurement other = row("A100-SXM-80GB", "k", "", "m", "us");
  other.source = "gpu-benches";
  EXPECT_EQ(one.for_row(other).hbm, usual);
}

TEST(Mapping, AClockOfTheCommandLineStays) {
  config::Diagnostics diagnostics;
  auto options = shipped();
  options.sets = {"gpu.clock.sm=1500 MHz"};
  GpuShelf shelf(options, diagnostics);
  EXPECT_EQ(shelf.for_row(row("H100-SXM", "k", "clock_mhz=1755", "m", "us")).sm_clock().count(),
            1'500'000'000);
}

TEST(Mapping, ARowWithoutAValueIsPredicted) {
  const Validation v = predict({row("H200", "stream_bw_vs_occupancy", kInit, "bandwidth", "GB/s")});
  ASSERT_TRUE(v.rows[0].predicted) << v.rows[0].skipped;
  EXPECT_GT(*v.rows[0].predicted, 1000);
  EXPECT_LT(*v.rows[0].predicted, 20000);
  EXPECT_FALSE(v.rows[0].error_pct);
}

TEST(Mapping, OneGpuStandsForAll) {
  config::Diagnostics diagnostics;
  auto options = shipped();
  options.gpu = std::string(WAVETAIL_SOURCE_DIR) + "/configs/gpu/a100-sxm-80gb.yaml";
  const Validation v = validate(
      {row("Hopper (unnamed)", "occupancy_rule", "rule=max cluster size", "value", "CTAs")},
      {.load = options, .control = {}}, diagnostics);
  EXPECT_EQ(v.rows[0].gpu, "a100-sxm-80gb");
  EXPECT_EQ(v.rows[0].predicted, 1);
}

TEST(Mapping, EqualSimulationsRunOnceAndThreadsChangeNothing) {
  const std::string pattern = "elem=float;pattern=stride;block=1024;data=L1 resident;arg=";
  std::vector<Measurement> rows;
  for (const char* arg : {"1", "3", "1", "8", "15"}) {
    rows.push_back(row("H200", "l1_access_pattern", pattern + arg, "cycles_per_warp_load",
                       "cycles/warp-instr/SM"));
  }
  const Validation one = predict(rows, 1), four = predict(rows, 4);
  EXPECT_EQ(one.simulations, 4);
  EXPECT_EQ(one.events, four.events);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    ASSERT_TRUE(one.rows[i].predicted) << one.rows[i].skipped;
    EXPECT_EQ(one.rows[i].predicted, four.rows[i].predicted);
  }
}

TEST(Mapping, ABudgetLeavesThePartialReport) {
  config::Diagnostics diagnostics;
  const Validation v = validate(
      {row("H200", "occupancy_rule", "rule=max warps per SM", "value", "warps"),
       row("H200", "stream_bw_vs_occupancy", kInit, "bandwidth", "GB/s")},
      {.load = shipped(),
       .control = {.budget = {.max_time_s = {}, .max_events = 1000, .max_memory_bytes = {}}}},
      diagnostics);
  EXPECT_EQ(v.outcome, result::Outcome::OverBudget);
  EXPECT_EQ(v.rows[0].predicted, 64);
  EXPECT_THAT(v.rows[1].skipped, HasSubstr("not simulated to its end"));
}

}  // namespace
}  // namespace wavetail::study
