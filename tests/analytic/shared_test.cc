// SPDX-License-Identifier: Apache-2.0
// Shared memory: latency, throughput, queue and stall reasons against closed forms.
#include "analytic/lab.h"
#include "run/run.h"

namespace wavetail::tests {
namespace {

using kernel::SharedPattern;

Op shared_load(int width, std::int64_t count = 1) {
  Op op;
  op.kind = OpKind::SharedLoad;
  op.count = count;
  op.shared.width = width;
  return op;
}

Op column(std::int64_t pitch, std::int64_t count = 1) {
  Op op = shared_load(4, count);
  op.shared.pattern = SharedPattern::Column;
  op.shared.pitch = pitch;
  return op;
}

Op as_store(Op op) {
  op.kind = OpKind::SharedStore;
  return op;
}

Op wait_shared(std::int64_t left = 0) {
  Op op;
  op.kind = OpKind::WaitShared;
  op.count = left;
  return op;
}

DrivenLaunch run_block(const gpu::GpuSpec& g, Program program, std::int64_t warps = 1) {
  kernel::Kernel k = kernel_of(std::move(program), 1, 32 * warps);
  k.shared_memory = 16_KiB;
  return run_alone(g, std::move(k));
}

double block_cycles(const gpu::GpuSpec& g, Program program, std::int64_t warps = 1) {
  return cycles(run_block(g, std::move(program), warps).time(), g);
}

// A dependent load of one wavefront takes the latency, and a cycle more per further wavefront.
TEST(SharedLatency, IsThatOfAPointerChase) {
  const gpu::GpuSpec g = instant();
  const auto chase = [&](const Op& op) {
    return block_cycles(g, {repeat(100, {op, wait_shared()})}) / 100;
  };
  EXPECT_NEAR(chase(shared_load(4)), 29, 0.1);
  EXPECT_NEAR(chase(shared_load(8)), 30, 0.1);
  EXPECT_NEAR(chase(shared_load(16)), 32, 0.1);
  EXPECT_NEAR(chase(column(128)), 29 + 31, 0.1);
}

// Enough loads under way: one wavefront per cycle for the whole SM, however many warps.
TEST(SharedThroughput, IsOneWavefrontPerCycle) {
  const gpu::GpuSpec g = instant();
  for (const std::int64_t warps : {4, 8, 32}) {
    for (const auto& [op, wavefronts] : {std::pair{shared_load(4, 100), 1},
                                         {shared_load(16, 100), 4},
                                         {column(128, 100), 32},
                                         {column(132, 100), 1}}) {
      const double wanted = static_cast<double>(warps * 100 * wavefronts);
      EXPECT_NEAR(block_cycles(g, {op, wait_shared()}, warps), wanted, 0.02 * wanted + 60);
    }
  }
}

TEST(SharedThroughput, FollowsTheBandwidthOfTheGpu) {
  gpu::GpuSpec g = instant();
  const Program program{column(128, 50), wait_shared()};
  const double usual = block_cycles(g, program, 8);
  g.shared_memory.bandwidth = unit::BytesPerCycle{64'000};
  EXPECT_NEAR(block_cycles(g, program, 8) / usual, 2, 0.02);
}

// Global and shared accesses take turns in one load/store unit, and so do fills of L1: one per
// line.
TEST(SharedThroughput, IsSharedWithGlobalLoads) {
  const gpu::GpuSpec g = instant();
  const auto run = [&](Program program) {
    kernel::Kernel k = kernel_of(std::move(program), 1, 32 * 8, {{"x", 64_KiB}});
    k.shared_memory = 16_KiB;
    return run_alone(g, k).counters;
  };
  Op global = load(0, 4, 50);
  global.access.walk = kernel::WalkKind::Everyone;
  const auto c = run({global, column(128, 50), wait(), wait_shared()});
  EXPECT_EQ(c.shared_busy, 8 * 50 * 32);
  EXPECT_EQ(c.lsu_busy, c.shared_busy + 8 * 50 + 50);
}

TEST(SharedStalls, WaitingForDataIsShortScoreboard) {
  const gpu::GpuSpec g = instant();
  const auto l = run_block(g, {repeat(100, {shared_load(4), wait_shared()})});
  EXPECT_EQ(l.counters.stalls.short_scoreboard, 100 * 28);
  EXPECT_EQ(l.counters.stalls.long_scoreboard, 0);
  EXPECT_EQ(l.counters.stalls.mio_throttle, 0);
  EXPECT_EQ(l.counters.stalls.total(), l.counters.resident_warp_cycles);
}

// Stores are not waited for; a full queue is.
TEST(SharedStalls, AFullQueueIsMioThrottle) {
  const gpu::GpuSpec g = instant();
  const auto l = run_block(g, {as_store(column(128, 200))}, 4);
  EXPECT_GT(l.counters.stalls.mio_throttle, 4 * 200 * 32 * 9 / 10 - 1000);
  EXPECT_EQ(l.counters.stalls.lg_throttle, 0);
  EXPECT_EQ(l.counters.stalls.short_scoreboard, 0);
  EXPECT_EQ(l.counters.stalls.total(), l.counters.resident_warp_cycles);
  const double wanted = 4 * 200 * 32;
  EXPECT_NEAR(cycles(l.time(), g), wanted - static_cast<double>(g.l1.queue.count()), 40);
}

// Half of the loads may stay under way: the first wait ends one load earlier.
TEST(SharedWait, LeavesTheNewestUnderWay) {
  const gpu::GpuSpec g = instant();
  const double all = block_cycles(g, {column(128, 2), wait_shared(0), fma(200)});
  const double one = block_cycles(g, {column(128, 2), wait_shared(1), fma(200)});
  const double none = block_cycles(g, {column(128, 2), wait_shared(2), fma(200)});
  EXPECT_NEAR(all - one, 32, 1);
  EXPECT_NEAR(one - none, 29 + 31 - 2, 1);
}

// A warp may have 64 loads under way; the next one waits for the oldest.
TEST(SharedWait, SixtyFourLoadsAreTracked) {
  gpu::GpuSpec g = instant();
  g.shared_memory.latency = unit::Cycles{1000};
  EXPECT_NEAR(block_cycles(g, {shared_load(4, 64), wait_shared()}), 63 + 1000, 2);
  EXPECT_NEAR(block_cycles(g, {shared_load(4, 65), wait_shared()}), 1000 + 1000, 2);
}

TEST(SharedCounters, LanesOfABranchCountAlone) {
  const gpu::GpuSpec g = instant();
  const auto l = run_block(
      g, {diverge(kernel::DivergeBy::Lane, {{column(128)}, {column(128)}, {}, {}}), wait_shared()});
  EXPECT_EQ(l.counters.shared_load_requests, 2);
  EXPECT_EQ(l.counters.bank_wavefronts, 16);
  EXPECT_EQ(l.counters.bank_conflicts, 14);
}

TEST(SharedCounters, RandomLanesAreDrawnAnewAndFollowTheSeed) {
  const gpu::GpuSpec g = instant();
  const auto wavefronts = [&](std::uint64_t seed) {
    Op op = shared_load(4, 50);
    op.shared.pattern = SharedPattern::Random;
    op.shared.bytes = 8192;
    op.shared.seed = seed;
    return run_block(g, {op, wait_shared()}, 4).counters.bank_wavefronts;
  };
  EXPECT_EQ(wavefronts(1), wavefronts(1));
  EXPECT_NE(wavefronts(1), wavefronts(2));
  // 32 balls into 32 bins: the fullest holds 3.5 on average.
  EXPECT_NEAR(static_cast<double>(wavefronts(1)) / 200, 3.5, 0.2);
}

}  // namespace
}  // namespace wavetail::tests
