// SPDX-License-Identifier: Apache-2.0
#include "bound/bound.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "bound/chain.h"
#include "bound/cover.h"
#include "bound/little.h"
#include "support/specs.h"

namespace wavetail::bound {
namespace {

using namespace unit::literals;
using kernel::Op;
using kernel::OpKind;
using kernel::Pattern;

Op load(int array, int width, std::int64_t count = 1) {
  Op op;
  op.kind = OpKind::Load;
  op.count = count;
  op.access.array = array;
  op.access.width = width;
  return op;
}

Op store(int array, int width) {
  Op op = load(array, width);
  op.kind = OpKind::Store;
  return op;
}

Op wait(std::int64_t left = 0) {
  Op op;
  op.kind = OpKind::WaitLoads;
  op.count = left;
  return op;
}

Op fma(std::int64_t count, std::int64_t distance = 1) {
  Op op;
  op.count = count;
  op.distance = distance;
  op.flops_per_lane = 2;
  return op;
}

Op repeat(std::int64_t trips, kernel::Program body) {
  Op op;
  op.kind = OpKind::Repeat;
  op.count = trips;
  op.bodies = {std::move(body)};
  return op;
}

Op diverge(kernel::DivergeBy by, std::vector<kernel::Program> ways) {
  Op op;
  op.kind = OpKind::Diverge;
  op.diverge_by = by;
  op.bodies = std::move(ways);
  return op;
}

// 132 x 8 blocks of 256 threads that stream x and write y.
kernel::Kernel kernel_of(kernel::Program program, std::int64_t grid = 1056,
                         std::int64_t block = 256) {
  kernel::Kernel k;
  k.name = "k";
  k.grid = {grid, 1, 1};
  k.block = block;
  k.registers = 32;
  k.arrays = {{"x", 256_MiB}, {"y", 256_MiB}};
  k.roles = {
      {.name = "all", .warps = (block + 31) / 32, .registers = {}, .program = std::move(program)}};
  return k;
}

result::Bound bound_for(const kernel::Kernel& k, const Caches& caches = {}) {
  const auto g = specs::h100();
  return bound_of(k, g, occupancy::occupy(g, occupancy::launch_of(k)), caches);
}

double link(const result::Bound& b, std::string_view key) {
  const auto it = std::find_if(b.chain.begin(), b.chain.end(),
                               [&](const auto& l) { return l.key == key; });
  return it == b.chain.end() ? -1 : it->value;
}

Request request(const Op& op) { return request_of(op.access, {0, 32}); }

TEST(Request, LanesAlongARowFillTheirSectors) {
  const auto r = request(load(0, 16));
  EXPECT_EQ(r.useful_bytes, 512);
  EXPECT_EQ(r.sectors, 16);
}

TEST(Request, ARowPerLaneTouchesASectorPerLane) {
  auto op = load(0, 16);
  op.access.pattern = Pattern::RowPerLane;
  op.access.stride = 8192;
  EXPECT_EQ(request(op).sectors, 32);
  EXPECT_EQ(request(op).useful_bytes, 512);
}

TEST(Request, LanesThatReadTheSameBytesAskForThemOnce) {
  auto op = load(0, 4);
  op.access.pattern = Pattern::Broadcast;
  EXPECT_EQ(request(op).useful_bytes, 128);
  EXPECT_EQ(request(op).distinct_bytes, 4);
  EXPECT_EQ(request(op).sectors, 1);
}

TEST(Request, StrideOfASectorUsesAnEighth) {
  EXPECT_EQ(request(load(0, 4)).sectors, 4);
  auto op = load(0, 4);
  op.access.pattern = Pattern::Strided;
  op.access.stride = 32;
  EXPECT_EQ(request(op).sectors, 32);
  EXPECT_EQ(request(op).useful_bytes / (32 * request(op).sectors), 0.125);
}

TEST(Request, BroadcastAndListsAndOffsets) {
  auto op = load(0, 4);
  op.access.pattern = Pattern::Broadcast;
  EXPECT_EQ(request(op).sectors, 1);
  EXPECT_EQ(request(op).distinct_bytes, 4);
  op.access.pattern = Pattern::Listed;
  op.access.offsets = {0, 4, 64};
  EXPECT_EQ(request(op).sectors, 2);
  EXPECT_EQ(request(op).lanes, 3);
  auto shifted = load(0, 4);
  shifted.access.offset = 4;
  EXPECT_EQ(request(shifted).sectors, 5);
}

TEST(Work, LoopsMultiplyAndLanesAreCounted) {
  const auto k = kernel_of({repeat(8, {load(0, 16, 2), wait(), fma(16), store(1, 16)})}, 4096);
  const auto w = count_work(k, specs::h100());
  const double warps = 4096 * 8;
  EXPECT_EQ(w.load_requests, warps * 16);
  EXPECT_EQ(w.store_requests, warps * 8);
  EXPECT_EQ(w.warp_instructions, warps * 8 * (2 + 16 + 1));
  EXPECT_EQ(w.thread_instructions, 32 * w.warp_instructions);
  EXPECT_EQ(w.flops, warps * 8 * 16 * 64);
  EXPECT_EQ(w.load_sectors, warps * 16 * 16);
  EXPECT_EQ(w.arrays[0].unique_loaded,
            256.0 * (1 << 20));  // 268 MB asked for, wrapped at the array's end
  EXPECT_EQ(w.arrays[1].unique_stored, warps * 8 * 512);
}

TEST(Work, DivergentLanesExecuteEveryWay) {
  const auto by_lane = count_work(
      kernel_of({diverge(kernel::DivergeBy::Lane, {{fma(10)}, {fma(10)}})}), specs::h100());
  const auto by_warp = count_work(
      kernel_of({diverge(kernel::DivergeBy::Warp, {{fma(10)}, {fma(10)}})}), specs::h100());
  EXPECT_EQ(by_lane.warp_instructions, 2 * by_warp.warp_instructions);
  EXPECT_EQ(by_lane.thread_instructions, by_warp.thread_instructions);
}

TEST(Work, PartialWarpsHaveFewerLanes) {
  const auto w = count_work(kernel_of({fma(1)}, 1, 100), specs::h100());
  EXPECT_EQ(w.warp_instructions, 4);
  EXPECT_EQ(w.thread_instructions, 100);
}

TEST(Work, DataSharedByBlocksOrWarpsIsUniqueOnce) {
  auto same = load(0, 16);
  same.access.walk = kernel::WalkKind::Same;
  EXPECT_EQ(count_work(kernel_of({same}), specs::h100()).arrays[0].unique_loaded, 8 * 512);
  auto everyone = load(0, 16);
  everyone.access.walk = kernel::WalkKind::Everyone;
  EXPECT_EQ(count_work(kernel_of({everyone}), specs::h100()).arrays[0].unique_loaded, 512);
}

TEST(Work, StridesThatOverlapAreNotCountedTwice) {
  auto op = load(0, 16);
  op.access.walk = kernel::WalkKind::Strides;
  op.access.strides.block_x = 4096;
  op.access.strides.warp = 512;
  EXPECT_EQ(count_work(kernel_of({op}), specs::h100()).arrays[0].unique_loaded, 1056 * 4096);
  op.access.strides
      .block_x = 512;  // blocks shifted by one warp's width: nearly everything is shared
  EXPECT_EQ(count_work(kernel_of({op}), specs::h100()).arrays[0].unique_loaded, (1056 + 7) * 512);
}

// Four elements of 8 B of each thread: the loads behind each other fill the gaps that each leaves.
TEST(Work, LoadsOfNeighbouringElementsCoverTheArray) {
  Op op = load(0, 8, 4);
  op.access.pattern = Pattern::Strided;
  op.access.walk = kernel::WalkKind::Strides;
  op.access.stride = 32;
  op.access.strides.block_x = 4 * 1024;
  op.access.strides.warp = 1024;
  op.access.strides.count = 8;
  const auto k = kernel_of({op}, 8, 128);
  EXPECT_EQ(count_work(k, specs::h100()).accesses[0].unique_bytes, 8 * 4 * 1024);
  kernel::Kernel gaps = k;
  gaps.roles[0].program[0].count = 2;
  EXPECT_EQ(count_work(gaps, specs::h100()).accesses[0].unique_bytes, 16 * 32 * 4 * 8);
}

TEST(Work, ReadsOfWhatTheKernelMayHaveWrittenAreNotCompulsory) {
  const auto k = kernel_of({load(0, 16), store(0, 16)});
  const auto c = compulsory(k, count_work(k, specs::h100()));
  EXPECT_EQ(c.read, 0);
  EXPECT_EQ(c.written, 1056 * 4096);
}

TEST(Work, WhatIsUpdatedInPlaceIsReadFirst) {
  const auto read = [](kernel::Program program) {
    const auto k = kernel_of(std::move(program));
    return compulsory(k, count_work(k, specs::h100())).read;
  };
  EXPECT_EQ(read({load(0, 16), wait(), fma(1), store(0, 16)}), 1056 * 4096);
  EXPECT_EQ(read({load(0, 16), fma(1), store(0, 16)}), 0);  // the store may overtake
  EXPECT_EQ(read({store(0, 16), load(0, 16), wait()}), 0);  // it reads what it wrote
  EXPECT_EQ(read({load(0, 16), wait(), store(0, 8)}), 0);   // other addresses
  EXPECT_EQ(read({load(0, 16), wait(), store(0, 16), store(0, 16)}), 0);
}

TEST(Work, StridedLanesKeepTheirGapsToThemselves) {
  auto op = load(0, 4);
  op.access.pattern = Pattern::Strided;
  op.access.stride = 32;
  const double requests = 1056 * 8;
  EXPECT_EQ(count_work(kernel_of({op}), specs::h100()).arrays[0].unique_loaded, requests * 128);
  auto many = kernel_of({repeat(64, {op})});  // 553 MB of pieces over 256 MiB
  EXPECT_EQ(count_work(many, specs::h100()).arrays[0].unique_loaded, requests * 64 * 128 / 3);
}

TEST(Work, RowsPerLaneAreWalkedOnce) {
  auto op = load(0, 16);
  op.access.pattern = Pattern::RowPerLane;
  op.access.stride = 512;
  EXPECT_EQ(count_work(kernel_of({repeat(32, {op})}, 132), specs::h100()).arrays[0].unique_loaded,
            132 * 8 * 32 * 512);
}

TEST(Work, ThreadsThatOwnTheirElementsSpreadTheirLanes) {
  auto op = load(0, 16);
  op.access.walk = kernel::WalkKind::Thread;
  const auto w = count_work(kernel_of({repeat(4, {op})}), specs::h100());
  EXPECT_EQ(w.load_sectors / w.load_requests, 32);
  EXPECT_EQ(w.arrays[0].unique_loaded, w.useful_load_bytes);
}

TEST(Little, BandwidthTimesLatency) {
  const auto chain = in_flight_chain(specs::h100(), 600_ns);
  EXPECT_DOUBLE_EQ(chain[0].value, 2.01e6);
  EXPECT_NEAR(chain[1].value, 15'227, 1);
  EXPECT_EQ(chain[0].inputs, "3.35 TB/s x 600 ns");
}

TEST(Chain, WaitsAddLatencies) {
  const auto g = specs::h100();
  const double cycle = 1e3 / 1830;
  const auto k = kernel_of({repeat(100, {load(0, 16), wait()})});
  EXPECT_NEAR(block_chain(k, g, {300}).time_ns, 100 * 300, 1);
  // Two in flight: half the waits.
  const auto pipelined = kernel_of({load(0, 16), repeat(99, {load(0, 16), wait(1)}), wait()});
  EXPECT_NEAR(block_chain(pipelined, g, {300, 300}).time_ns, 50 * 300, 60);
  // 16 FMAs, each depending on the one before: 15 latencies of 4 cycles and one issue.
  EXPECT_NEAR(block_chain(kernel_of({fma(16)}), g, {}).time_ns, 61 * cycle, 1e-6);
  EXPECT_NEAR(block_chain(kernel_of({fma(16, 4)}), g, {}).time_ns, 16 * cycle, 1e-6);
}

TEST(Chain, BytesUnderWayGrowUntilAWait) {
  const auto g = specs::h100();
  EXPECT_EQ(block_chain(kernel_of({repeat(100, {load(0, 16, 2), wait()})}), g, {300}).loads_bytes,
            8 * 1024);
  EXPECT_EQ(block_chain(kernel_of({repeat(100, {load(0, 16)}), wait()}), g, {300}).loads_bytes,
            8 * 51'200);
  EXPECT_EQ(
      block_chain(kernel_of({repeat(100, {load(0, 16), wait(3)}), wait()}), g, {300}).loads_bytes,
      8 * 2048);
  // Its end is a wait, too.
  EXPECT_NEAR(block_chain(kernel_of({load(0, 16)}), g, {300}).time_ns, 300, 1);
}

TEST(Bound, StreamsAreBoundByDram) {
  const auto k = kernel_of({repeat(64, {load(0, 16, 4), wait()})}, 1024);
  const auto b = bound_for(k);
  EXPECT_EQ(b.name, "dram");
  EXPECT_NEAR(b.time_us, 256.0 * (1 << 20) / 3.35e6, 1e-6);
  EXPECT_EQ(link(b, "dram_us"), b.time_us);
}

TEST(Bound, WhatL2HoldsNeedNotBeRead) {
  const auto k = kernel_of({load(0, 16), wait()});
  EXPECT_EQ(link(bound_for(k, {.in_l2_at_start = 1e9, .dirty_at_end = {}}), "dram_us"), 0);
}

TEST(Bound, WritesThatMayStayInL2AreFree) {
  const auto k = kernel_of({store(1, 16)});
  EXPECT_EQ(link(bound_for(k), "dram_us"), 0);
  const double gathered = 16 * 80 * 128;
  const double under_way = 132 * 64 * 128;
  EXPECT_NEAR(link(bound_for(k, {.in_l2_at_start = 0, .dirty_at_end = 0}), "dram_us"),
              (1056 * 4096 - gathered - under_way) / 3.35e6, 1e-9);
}

// n draws out of m: the expectation in closed form, a floor below it, and both within what is
// there.
TEST(Bound, RandomDrawsTouchTheSectorsThatChanceGives) {
  EXPECT_DOUBLE_EQ(expected_different(1, 1000), 1);
  EXPECT_NEAR(expected_different(2, 4), 4 * (1 - 0.75 * 0.75), 1e-12);
  EXPECT_NEAR(expected_different(1e9, 1000), 1000, 1e-6);
  EXPECT_EQ(least_different(0, 1000), 0);
  EXPECT_EQ(least_different(4, 1000), 1);
  const double n = 1e8;
  const double m = 1e7;
  EXPECT_LT(least_different(n, m), expected_different(n, m));
  EXPECT_GT(least_different(n, m), 0.99 * expected_different(n, m));
}

TEST(Bound, RandomLoadsHaveACeilingOfWhatIsCertain) {
  auto op = load(0, 4, 16);
  op.access.pattern = Pattern::Random;
  const auto k = kernel_of({repeat(64, {op, wait()})});
  const auto b = bound_for(k);
  const double draws = 1056.0 * 8 * 64 * 16 * 32;
  const double sectors = 256.0 * (1 << 20) / 32;
  const double expected = sectors * (1 - std::exp(draws * std::log1p(-1 / sectors)));
  EXPECT_NEAR(link(b, "expected_random_bytes"), 32 * expected, 1);
  EXPECT_LE(link(b, "compulsory_bytes"), 4 * expected);
  EXPECT_GT(link(b, "compulsory_bytes"), 0.99 * 4 * expected);
  EXPECT_EQ(link(b, "dram_us"), link(b, "compulsory_bytes") / 3.35e6);
}

TEST(Bound, ColdLoadsThatNobodyWaitsForAreReadAllTheSame) {
  const auto b = bound_for(kernel_of({load(0, 16)}, 132));
  EXPECT_NEAR(link(b, "dram_us"), 132 * 4096 / 3.35e6, 1e-9);
}

TEST(Bound, FewBytesInFlightBindBelowTheKnee) {
  // One warp per SM with 512 B under way: 132 x 512 B / 288 ns.
  const auto k = kernel_of({repeat(1000, {load(0, 16), wait()})}, 132, 32);
  const auto b = bound_for(k);
  const double bytes = 132.0 * 1000 * 512;
  EXPECT_NEAR(link(b, "in_flight_us"), bytes * 288 / (132 * 512) * 1e-3, 1e-6);
  EXPECT_GT(b.time_us, 0.99 * link(b, "in_flight_us"));
  EXPECT_NE(b.name, "dram");
}

TEST(Bound, ArithmeticBindsByItsPipe) {
  EXPECT_EQ(bound_for(kernel_of({fma(100'000, 100)})).name, "issue");
  auto sfu = fma(1000, 100);
  sfu.pipe = kernel::Pipe::Sfu;
  const auto b = bound_for(kernel_of({sfu}));
  EXPECT_EQ(b.name, "sfu");
  EXPECT_NEAR(b.time_us, (8.0 * 8 * 1000 * 8 / 4 - 7) / 1830,
              1e-9);  // 8 blocks of 8 warps, 8 cycles each, 4 pipes
}

TEST(Bound, TheFullestSmDecides) {
  const auto one = bound_for(kernel_of({fma(100'000, 100)}, 132));
  const auto two = bound_for(kernel_of({fma(100'000, 100)}, 133));
  EXPECT_DOUBLE_EQ(link(two, "issue_us"), 2 * link(one, "issue_us"));
}

TEST(Bound, ADependentChainBindsASmallKernel) {
  const auto b = bound_for(kernel_of({repeat(10, {load(0, 4), wait()})}, 1, 32));
  EXPECT_NEAR(b.time_us, 10 * 0.288, 0.01);
  EXPECT_NEAR(link(b, "latency_us"), b.time_us, 1e-9);
}

TEST(Bound, StatedDurationsAreTheirOwnBound) {
  kernel::Kernel k;
  k.duration = 16_us;
  const auto b = bound_of(k, specs::h100(), {}, {});
  EXPECT_EQ(b.name, "stated");
  EXPECT_EQ(b.time_us, 16);
}

}  // namespace
}  // namespace wavetail::bound
