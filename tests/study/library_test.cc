// SPDX-License-Identifier: Apache-2.0
// Tables of library operators: graphs over copies of the weights, replayed back to back.
#include <gtest/gtest.h>

#include "rows.h"
#include "study/protocols/library.h"

namespace wavetail::study {
namespace {

constexpr std::int64_t kReplays = 9;

TEST(Library, CopiesOverflowL2ButAreAtMostFive) {
  const auto gpu = shipped_gpu("h100-sxm");  // 50 MiB
  EXPECT_EQ(rotated_copies(unit::Bytes{1 << 20}, gpu), 5);
  EXPECT_EQ(rotated_copies(unit::Bytes{20 << 20}, gpu), 3);
  EXPECT_EQ(rotated_copies(unit::Bytes{25 << 20}, gpu), 2);
  EXPECT_EQ(rotated_copies(unit::Bytes{50 << 20}, gpu), 1);
  EXPECT_EQ(rotated_copies(unit::Bytes{500 << 20}, gpu), 1);
}

TEST(Library, WeightsThatFitL2AreReadOncePerCopy) {
  const Ran r = ran("h100-sxm", "library_gemm_bf16", "m=16;n=1024;k=512", "time", "us");
  EXPECT_EQ(r.launches(), 5 * kReplays);
  const std::int64_t weights = 5 * 1024 * 512 * 2, x = 16 * 512 * 2, image = 3 * 64;
  EXPECT_EQ(r.counters(0).dram_read_bytes, weights + x + image);
}

// Two operations' weights never fit: every launch reads its copy again.
TEST(Library, CopiesThatOverflowL2ComeFromDramEveryTime) {
  const Ran r = ran("h100-sxm", "library_gemm_bf16", "m=8;n=8192;k=2048", "time", "us");
  EXPECT_EQ(r.launches(), 2 * kReplays);
  const double weights = 8192.0 * 2048 * 2;
  EXPECT_GT(static_cast<double>(r.counters(0).dram_read_bytes),
            0.6 * weights * static_cast<double>(r.launches()));
  EXPECT_GT(r.happened.kernels[0].replayed, r.launches() - 8);
}

TEST(Library, TheFigureIsATimePerOperationWithItsGap) {
  const Ran r = ran("h100-sxm", "library_gemm_bf16", "m=16;n=1024;k=512", "time", "us");
  const double alone = 1e6 * unit::seconds(r.happened.kernels[0].time) /
                       static_cast<double>(r.launches());
  const double gap = unit::microseconds(r.plan.scenario.gpu.launch.graph_gap);
  EXPECT_GT(r.figure("us"), gap);
  EXPECT_NEAR(r.figure("us"), alone + gap, 0.25 * alone);
}

TEST(Library, AColdCallTakesLongerThanAReplay) {
  const std::string shape = "m=64;n=1024;k=1024";
  const Ran cold = ran("h100-sxm", "gemm_bf16",
                       shape + ";layout=NT;out=BF16;lib=deepgemm;scale=none", "time", "us");
  EXPECT_EQ(cold.happened.log.launches.size(), 1U);
  EXPECT_GE(cold.counters(0).dram_read_bytes, 1024 * 1024 * 2);
  const Ran again = ran("h100-sxm", "gemm_bf16", shape + ";impl=torch matmul best shape",
                        "throughput", "TFLOP/s");
  const double flops = 2.0 * 64 * 1024 * 1024;
  EXPECT_LT(flops / again.figure("TFLOP/s") / 1e6, cold.figure("us") + 2);
}

TEST(Library, RowsBeyondAMatrixAreNotMoved) {
  const auto gpu = shipped_gpu("h100-sxm");
  const std::int64_t m = 129, n = 512, k = 256;
  Ran r;
  r.plan.scenario = scenario_of(
      gpu,
      from_template("gemm",
                    {.numbers = {{"m", m}, {"n", n}, {"k", k}},
                     .words = {{"b_layout", "nk"}},
                     .lists = {{"tile", {128, 128}}, {"cluster", {1, 1}}}},
                    gpu),
      {0});
  r.happened = run::simulate(
      r.plan.scenario, [](std::int64_t, result::Outcome&) { return std::optional<std::string>(); });
  EXPECT_EQ(r.happened.outcome, result::Outcome::Complete) << r.happened.message;
  EXPECT_EQ(r.counters().tma_fetch_bytes, n / 128 * (m * k * 2) + 2 * (n * k * 2));
  EXPECT_EQ(r.counters().tma_store_bytes, m * n * 2);
}

}  // namespace
}  // namespace wavetail::study
