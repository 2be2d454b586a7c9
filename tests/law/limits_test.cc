// SPDX-License-Identifier: Apache-2.0
// At the edges of what may be written in a file: it works or it is refused.
#include <gtest/gtest.h>

#include "analytic/lab.h"
#include "scenario/load.h"

namespace wavetail::tests {
namespace {

// The warp schedulers keep their ready warps in 64 bits.
TEST(Limits, MoreWarpsThanAnSmCanHoldAreRefused) {
  const std::string folder = std::string(WAVETAIL_SOURCE_DIR) + "/configs/gpu";
  config::Diagnostics diagnostics;
  EXPECT_TRUE(scenario::load_gpu(
      "h100-sxm", {.sets = {"gpu.sm.max_warps=64"}, .gpu = {}, .folders = {folder}}, diagnostics));
  EXPECT_FALSE(scenario::load_gpu(
      "h100-sxm", {.sets = {"gpu.sm.max_warps=96"}, .gpu = {}, .folders = {folder}}, diagnostics));
  EXPECT_NE(diagnostics.render().find("max_warps"), std::string::npos);
}

// Lanes that go backwards from the very start of memory stay in it and touch as much as lanes that
// go forwards.
TEST(Limits, BackwardLanesTouchWhatForwardLanesDo) {
  const gpu::GpuSpec g = instant();
  const auto run = [&](kernel::Pattern pattern, std::int64_t stride) {
    Op op = load(0, 4, 4);
    op.access.pattern = pattern;
    op.access.stride = stride;
    for (std::int64_t lane = 0; lane < 32 && pattern == kernel::Pattern::Listed; ++lane) {
      op.access.offsets.push_back(lane * stride);
    }
    return run_alone(g, kernel_of({repeat(8, {op, wait()})}, 20, 128, {{"x", 1_MiB}})).counters;
  };
  for (const auto pattern : {kernel::Pattern::Strided, kernel::Pattern::Listed}) {
    const result::Counters forwards = run(pattern, 512);
    const result::Counters backwards = run(pattern, -512);
    EXPECT_EQ(backwards.load_sectors, forwards.load_sectors);
    EXPECT_EQ(backwards.useful_load_bytes, forwards.useful_load_bytes);
    EXPECT_GT(backwards.dram_read_bytes, 0);
  }
}

// The last warp of a block of 100 threads has four lanes.
TEST(Limits, ThreadsThatDoNotExistDoNothing) {
  const gpu::GpuSpec g = instant();
  const DrivenLaunch l = run_alone(g, kernel_of({fma(10), store(0, 4)}, 3, 100, {{"y", 1_MiB}}));
  EXPECT_EQ(l.counters.thread_instructions, 3 * 100 * 11);
  EXPECT_EQ(l.counters.flops, 3.0 * 100 * 10 * 2);
  EXPECT_EQ(l.counters.useful_store_bytes, 3 * 100 * 4);
}

}  // namespace
}  // namespace wavetail::tests
