// SPDX-License-Identifier: Apache-2.0
// At the edges of what may be written in a file: it works or it is refused.
#include <gtest/gtest.h>

#include "analytic/lab.h"
#include "run/budget.h"
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

// Lanes wrap at the end of their array: none reads the one behind it.
TEST(Limits, LanesStayInTheirArray) {
  const gpu::GpuSpec g = instant();
  for (const auto pattern : {kernel::Pattern::Strided, kernel::Pattern::Listed}) {
    for (const bool streaming : {false, true}) {
      Op op = load(0, 4, 4, streaming);
      op.access.pattern = pattern;
      op.access.stride = 1_MiB .count() + 512;
      for (std::int64_t lane = 0; lane < 32 && pattern == kernel::Pattern::Listed; ++lane) {
        op.access.offsets.push_back(lane * op.access.stride);
      }
      const DrivenLaunch l = run_alone(
          g, kernel_of({repeat(8, {op, wait()})}, 20, 128, {{"x", 1_MiB}, {"y", 64_MiB}}));
      EXPECT_EQ(l.counters.useful_load_bytes, 20 * 4 * 8 * 4 * 32 * 4);
      EXPECT_GT(l.counters.dram_read_bytes, 0);
      EXPECT_LE(l.counters.dram_read_bytes, 1_MiB .count());
    }
  }
}

// Random lanes of an array larger than 2^38 bytes are all there.
TEST(Limits, RandomLanesOfAHugeArray) {
  Op op = load(0, 16);
  op.access.pattern = kernel::Pattern::Random;
  const DrivenLaunch l = run_alone(
      instant(), kernel_of({op, wait()}, 4, 64, {{"x", unit::Bytes{90'000'000'000'000}}}));
  EXPECT_EQ(l.counters.load_sectors, 4 * 64);
  EXPECT_EQ(l.counters.dram_read_bytes, 4 * 64 * 64);
}

// Loops of operations that cost nothing are cut into events: budgets and signals are seen.
TEST(Limits, LoopsOfNothingEndTheirEvents) {
  const kernel::Kernel k = kernel_of(
      {load(0, 4), repeat(1'000'000'000, {repeat(1'000'000'000, {wait()})})}, 4, 64,
      {{"x", 1_MiB}});
  const scenario::Scenario s = scenario_of(instant(), {k}, {launch(0)});
  Session session(s);
  EXPECT_TRUE(session.go(10'000));
  EXPECT_GT(run::needs_of(s).events, 1e14);
}

// However slow the port, stores reach the L2 one after the other: with steps between them that no
// request can carry, and delays of many milliseconds.
TEST(Limits, SlowPortsCarryEveryStore) {
  gpu::GpuSpec g = instant();
  g.crossbar.egress = unit::BytesPerCycle{100};  // 0.1 B/clk
  g.l1.store_lines = 1 << 20;
  for (const std::int64_t count : {1, 8, 500}) {
    const kernel::Kernel k = kernel_of({store(0, 16, count)}, 1, 32, {{"y", 1_GiB}});
    const Driven d = drive(scenario_of(g, {k}, {launch(0)}));
    EXPECT_TRUE(d.finished);
    const double bytes = static_cast<double>(count) * 512;
    const double port = bytes / 0.1 / static_cast<double>(g.clock.l2.count());
    EXPECT_NEAR(unit::seconds(d.end - unit::Time{}) / port, 1, 0.05) << count;
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
