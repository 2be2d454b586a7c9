// SPDX-License-Identifier: Apache-2.0
// Atomics against what a slice of L2 can do: `l2.atomic` cycles per sector, and for every further
// operation on an address that lanes share.
#include "analytic/lab.h"

namespace wavetail::tests {
namespace {

constexpr std::int64_t kBlocks = 132, kBlock = 1024, kWarps = kBlocks * kBlock / 32;

// Each of `grid` blocks does `count` atomics per warp.
DrivenLaunch run(Op op, std::int64_t count, const gpu::GpuSpec& g = instant(),
                 std::int64_t grid = kBlocks, std::int64_t block = kBlock) {
  op.count = count;
  return run_alone(g, kernel_of({op, wait()}, grid, block, {{"x", 32_MiB, false}}));
}

Op atomic(kernel::Pattern pattern, kernel::WalkKind walk, OpKind kind = OpKind::Store) {
  Op op = load(0, 4);
  op.kind = kind;
  op.access.atomic = true;
  op.access.pattern = pattern;
  op.access.walk = walk;
  return op;
}

// Cycles of L2 per warp instruction, from a short and a long run.
double each(const Op& op, const gpu::GpuSpec& g = instant()) {
  const unit::Duration more = run(op, 24, g).time() - run(op, 8, g).time();
  return unit::seconds(more) * static_cast<double>(g.clock.l2.count()) / (16 * kWarps);
}

// All warps add to one counter: lanes as one operation, or one after the other.
TEST(Atomics, OneAddress) {
  Op op = atomic(kernel::Pattern::Broadcast, kernel::WalkKind::Everyone);
  op.access.walk = kernel::WalkKind::Strides;  // no stride: always the same
  EXPECT_NEAR(each(op), 1, 0.03);
  gpu::GpuSpec slow = instant();
  slow.l2.atomic = 3_cycles;
  EXPECT_NEAR(each(op, slow), 3, 0.09);
  op.access.aggregate = false;
  EXPECT_NEAR(each(op), 32, 0.5);
}

// Lanes with addresses of their own, side by side, from a set that L2 holds: four sectors per warp,
// of which every slice does one per cycle.
TEST(Atomics, OwnAddresses) {
  constexpr std::int64_t kLines = 8;
  Op op = atomic(kernel::Pattern::Contiguous, kernel::WalkKind::Strides);
  op.count = kLines;
  op.access.strides = {.block_x = kBlock * 4, .warp = 128, .count = kBlocks * kBlock * 4};
  op.access.strides.loop = {0};
  const gpu::GpuSpec g = instant();
  const auto time = [&](std::int64_t trips) {
    return run_alone(g, kernel_of({repeat(trips, {op})}, kBlocks, kBlock, {{"x", 32_MiB, false}}))
        .time();
  };
  const double cycles_each = unit::seconds(time(6) - time(2)) *
                             static_cast<double>(g.clock.l2.count()) / (4 * kLines * kWarps);
  const double least = 4.0 / static_cast<double>(g.l2.slices);
  EXPECT_GT(cycles_each, 0.99 * least);
  EXPECT_LT(cycles_each, 1.15 * least);
}

// Lanes that share an address hold up its line, no other: the slice of the busiest line decides.
TEST(Atomics, OperationsAreThoseOfEachLine) {
  Op op = atomic(kernel::Pattern::Listed, kernel::WalkKind::Strides);
  op.access.aggregate = false;
  for (std::int64_t lane = 0; lane < 32; ++lane) {
    op.access.offsets.push_back(lane < 25 ? 0 : (lane - 24) * 128 * 64);
  }
  EXPECT_NEAR(each(op), 25, 2);
  op.access.offsets[1] = 128 * 64;  // two there, and 24
  EXPECT_NEAR(each(op), 24, 2);
}

// A chain of atomics, each waiting for the one before: the latency of L2, by the way of the values.
TEST(Atomics, ChainOfReturnedValues) {
  Op op = atomic(kernel::Pattern::Broadcast, kernel::WalkKind::Strides, OpKind::Load);
  op.count = 1;
  const gpu::GpuSpec g = instant();
  const auto chain = [&](std::int64_t trips) {
    return run_alone(g, kernel_of({repeat(trips, {op, wait()})}, 1, 32, {{"x", 32_B, false}}))
        .time();
  };
  const double ns = unit::seconds(chain(300) - chain(100)) * 1e9 / 200;
  const double near = unit::seconds(g.l2.latency_near) * 1e9,
               far = unit::seconds(g.l2.latency_far) * 1e9;
  EXPECT_GT(ns, near);
  EXPECT_LT(ns, far + 10);
}

// What returns and what does not ask L2 for the same; the former bring their sectors back.
TEST(Atomics, Counts) {
  for (const OpKind kind : {OpKind::Load, OpKind::Store}) {
    const DrivenLaunch l = run(atomic(kernel::Pattern::Contiguous, kernel::WalkKind::Warp, kind), 2,
                               instant(), 4, 64);
    constexpr std::int64_t kSectors = 4 * 2 * 2 * 4;  // blocks x warps x instructions x sectors
    EXPECT_EQ(l.counters.l2_read_sectors + l.counters.l2_write_sectors, kSectors);
    EXPECT_EQ(l.counters.dram_read_bytes, 32 * kSectors);
    EXPECT_EQ(l.counters.egress_bytes, 32 * kSectors);
    EXPECT_EQ(l.counters.ingress_bytes, kind == OpKind::Load ? 32 * kSectors : 0);
  }
}

}  // namespace
}  // namespace wavetail::tests
