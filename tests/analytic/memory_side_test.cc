// SPDX-License-Identifier: Apache-2.0
// Private L2s above a memory-side cache: what each level answers, who finds whose data, what is
// written when, and which part of the GPU gets which block. Warps of 64 lanes, and warps that stay
// for their stores.
#include "analytic/lab.h"

namespace wavetail::tests {
namespace {

constexpr std::int64_t kPage = 4096;

// Two parts of two SMs each: 256 KiB of L2 for each part, 8 MiB of cache for both.
gpu::GpuSpec two_parts() {
  gpu::GpuSpec g = instant();
  g.gpcs = {2, 2};
  g.l2.capacity = 512_KiB;
  g.l2.partitions = 2;
  g.l2.slices = 8;
  g.l2.latency_far = g.l2.latency_near;
  g.hbm.channels = 8;
  g.hbm.bandwidth = unit::Bandwidth{8 * 41'875'000'000};
  g.memory_side = {8_MiB, unit::Bandwidth{1'500'000'000'000}, 220_ns};
  return g;
}

// One lane follows a chain of `loads` through an array, `stride` bytes from one to the next.
kernel::Kernel chase(std::int64_t bytes, std::int64_t stride, std::int64_t loads) {
  Op op = load(0, 4, 1, true);
  op.access.lanes = 1;
  op.access.walk = kernel::WalkKind::Strides;
  op.access.strides.loop = {stride};
  return kernel_of({repeat(loads, {op, wait()})}, 1, 32, {{"x", unit::Bytes{bytes}}});
}

// Nanoseconds per load of a second round through `bytes`, a line of every page.
double second_round(const gpu::GpuSpec& g, std::int64_t bytes) {
  const std::int64_t loads = bytes / kPage;
  const auto all = run_alone(g, chase(bytes, kPage, 2 * loads)).time();
  return unit::nanoseconds(all - run_alone(g, chase(bytes, kPage, loads)).time()) /
         static_cast<double>(loads);
}

TEST(MemorySide, LatencyIsThatOfTheLevelThatHoldsTheData) {
  const gpu::GpuSpec g = two_parts();
  EXPECT_NEAR(second_round(g, 128 * kPage), unit::nanoseconds(g.l2.latency_near), 1);
  // A line of each of so many pages does not fit the sets of one L2, but those of the cache.
  EXPECT_NEAR(second_round(g, 16'384 * kPage), unit::nanoseconds(g.memory_side.latency), 1);
  const double dram = unit::nanoseconds(run_alone(g, chase(1 << 30, 2 << 20, 512)).time()) / 512;
  EXPECT_NEAR(dram, unit::nanoseconds(g.hbm.latency), 1);
}

// Block b reads its own 64 KiB, twice over.
kernel::Kernel each_its_own(std::int64_t blocks, std::int64_t rounds) {
  Op op = load(0, 16, 4, true);
  op.access.walk = kernel::WalkKind::Strides;
  op.access.strides = {.block_x = 64 << 10, .count = 512, .loop = {0, 2048}};
  return kernel_of({repeat(rounds, {repeat(32, {op}), wait()})}, blocks, 32,
                   {{"x", unit::Bytes{blocks * (64 << 10)}}});
}

// Each part reads 192 KiB, which its L2 holds; both together would not fit one L2.
TEST(MemorySide, BlocksAreDealtToThePartsInTurn) {
  const gpu::GpuSpec g = two_parts();
  const auto s = scenario_of(g, {each_its_own(6, 1)}, {launch(0, 0, 3)});
  const Driven d = drive(s);
  ASSERT_TRUE(d.finished);
  for (std::size_t n = 1; n < 3; ++n) {
    EXPECT_EQ(d.launches[n].counters.l2_hit_sectors, d.launches[n].counters.l2_read_sectors);
  }
}

// Both parts read the same lines: one fetches each from DRAM, the other finds it in the cache.
TEST(MemorySide, WhatOnePartReadTheOtherFinds) {
  const gpu::GpuSpec g = two_parts();
  kernel::Kernel k = each_its_own(2, 1);
  k.roles[0].program[0].bodies[0][0].bodies[0][0].access.strides.block_x = 0;
  k.arrays[0].bytes = unit::Bytes{64 << 10};
  const DrivenLaunch l = run_alone(g, k);
  EXPECT_EQ(l.counters.dram_read_bytes, 64 << 10);
  EXPECT_EQ(l.counters.memory_side_hit_sectors * memory::kSectorBytes, 64 << 10);
  EXPECT_EQ(l.counters.l2_fill_bytes, 2 * (64 << 10));
}

// Nothing stays dirty in a private L2 beyond the launch, and the cache has a copy for the others.
TEST(MemorySide, ALaunchWritesBackWhatItStored) {
  const gpu::GpuSpec g = two_parts();
  Op write = store(0, 16);
  write.access.walk = kernel::WalkKind::Block;
  Op read = load(0, 16, 1, true);
  read.access.walk = kernel::WalkKind::Strides;
  read.access.strides = {.block_x = -512};
  read.access.offset = 512;  // the block's neighbour, of the other part
  const std::vector<kernel::Array> arrays{{"x", 1024_B}};
  const auto s = scenario_of(
      g, {kernel_of({write}, 2, 32, arrays), kernel_of({read, wait()}, 2, 32, arrays)},
      {launch(0), launch(1)});
  const Driven d = drive(s);
  ASSERT_TRUE(d.finished);
  EXPECT_EQ(d.launches[0].counters.dram_write_bytes, 1024);
  EXPECT_EQ(d.l2_dirty_sectors, 0);
  EXPECT_EQ(d.launches[1].counters.dram_read_bytes, 0);
  EXPECT_EQ(d.launches[1].counters.memory_side_hit_sectors * memory::kSectorBytes, 1024);
}

// The stores of one warp leave at once; with an acknowledgement the block stays for it.
TEST(StoreAcknowledgement, KeepsTheWarp) {
  gpu::GpuSpec g = two_parts();
  const auto k = kernel_of({store(0, 16)}, 1, 32, {{"x", 512_B}});
  const DrivenLaunch before = run_alone(g, k);
  EXPECT_EQ(before.counters.stalls.drain, 0);
  g.store_acknowledgement.latency = 300_ns;
  const DrivenLaunch after = run_alone(g, k);
  EXPECT_NEAR(unit::nanoseconds(after.time()), 300, 15);
  EXPECT_GT(after.counters.stalls.drain, 0);
  EXPECT_LT(unit::nanoseconds(before.time()), 15);
}

// A warp of 64 lanes asks for twice the lines of one of 32, with half the instructions.
TEST(WarpsOf64, DoTheSameWorkInHalfTheInstructions) {
  const auto run = [](std::int64_t lanes) {
    gpu::GpuSpec g = two_parts();
    g.sm.warp_size = lanes;
    Op read = load(0, 16, 2);
    read.access.walk = kernel::WalkKind::Grid;
    Op write = store(1, 8, 2);
    write.access.walk = kernel::WalkKind::Grid;
    kernel::Kernel k = kernel_of({read, wait(), fma(8), write}, 12, 256,
                                 {{"x", 96_KiB}, {"y", 48_KiB}});
    k.roles[0].warps = 256 / lanes;
    return run_alone(g, k).counters;
  };
  const result::Counters narrow = run(32), wide = run(64);
  EXPECT_EQ(2 * wide.warp_instructions, narrow.warp_instructions);
  EXPECT_EQ(wide.thread_instructions, narrow.thread_instructions);
  EXPECT_EQ(2 * wide.load_requests, narrow.load_requests);
  EXPECT_EQ(wide.load_sectors, narrow.load_sectors);
  EXPECT_EQ(wide.store_sectors, narrow.store_sectors);
  EXPECT_EQ(wide.dram_read_bytes, 96 << 10);
  EXPECT_EQ(narrow.dram_read_bytes, 96 << 10);
  EXPECT_EQ(wide.flops, narrow.flops);
}

}  // namespace
}  // namespace wavetail::tests
