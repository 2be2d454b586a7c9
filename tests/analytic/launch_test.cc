// SPDX-License-Identifier: Apache-2.0
// What a launch costs besides its work: starting and ending blocks, rounds of blocks, gaps between
// kernels, the host's calls; to the picosecond where nothing is random.
#include "analytic/lab.h"
#include "event/clock.h"

namespace wavetail::tests {
namespace {

unit::Duration at_cycle(const gpu::GpuSpec& g, unit::Duration d) {
  const event::Clock clock(g.sm_clock());
  const unit::Time edge = clock.edge(clock.at_or_after(unit::Time{} + d));
  return edge - unit::Time{};
}

kernel::Kernel stand_in(unit::Duration d) {
  kernel::Kernel k;
  k.name = "stand-in";
  k.duration = d;
  return k;
}

TEST(Launch, AnEmptyBlockStartsAndEnds) {
  gpu::GpuSpec g = specs::h100();
  for (const std::int64_t warps : {1, 4, 32}) {
    g.launch.host_launch = g.launch.submit = 0_ns;
    const DrivenLaunch l = run_alone(g, kernel_of({}, 1, 32 * warps));
    const auto& c = g.launch;
    const auto last_warp = c.block_start + c.warp_start * warps + c.warp_setup * warps;
    EXPECT_EQ(l.time(), at_cycle(g, last_warp) + c.block_exit) << warps;
  }
}

TEST(Launch, TwoRoundsOfBlocksTakeTwice) {
  const gpu::GpuSpec g = instant();
  const Program program = {fma(4000, 4)};
  const std::int64_t round = g.sms() * 8;  // 8 blocks of 8 warps fill an SM
  const auto one = run_alone(g, kernel_of(program, round, 256)).time();
  const auto two = run_alone(g, kernel_of(program, 2 * round, 256)).time();
  const auto one_more = run_alone(g, kernel_of(program, round + 1, 256)).time();
  EXPECT_NEAR(unit::ratio(two, one), 2, 0.01);
  EXPECT_GT(unit::ratio(one_more, one), 1.12);  // a block alone runs eight times as fast
  EXPECT_LT(unit::ratio(one_more, one), 1.3);
}

TEST(Launch, BlocksAreDealtAtTheSchedulersRate) {
  gpu::GpuSpec g = instant();
  g.launch.blocks_per_cycle = 0.25;
  const DrivenLaunch l = run_alone(g, kernel_of({}, 132, 32));
  EXPECT_NEAR(cycles(l.time(), g), 131 * 4, 4);
}

TEST(Stream, TheNextKernelStartsAfterTheGap) {
  const gpu::GpuSpec g = specs::h100();
  const Driven d = drive(scenario_of(g, {stand_in(20_us)}, {launch(0, 0, 3)}));
  const auto first = g.launch.host_launch + g.launch.submit;
  EXPECT_EQ(d.launches[0].started - unit::Time{}, first);
  EXPECT_EQ(d.launches[1].started - d.launches[0].ended, g.launch.stream_gap);
  EXPECT_EQ(d.launches[2].started - d.launches[1].ended, g.launch.stream_gap);
  EXPECT_EQ(d.end - unit::Time{}, first + 60_us + 2 * g.launch.stream_gap);
}

// Kernels shorter than a call: the host decides.
TEST(Stream, ShortKernelsWaitForTheHost) {
  const gpu::GpuSpec g = specs::h100();
  const Driven d = drive(scenario_of(g, {stand_in(1_us)}, {launch(0, 0, 5)}));
  for (std::size_t n = 0; n < 5; ++n) {
    EXPECT_EQ(d.launches[n].started - unit::Time{},
              static_cast<std::int64_t>(n + 1) * g.launch.host_launch + g.launch.submit);
  }
}

TEST(Stream, TwoStreamsRunAtTheSameTime) {
  const gpu::GpuSpec g = specs::h100();
  const Driven d = drive(scenario_of(g, {stand_in(100_us)}, {launch(0, 0), launch(0, 1)}));
  EXPECT_EQ(d.end - unit::Time{}, 2 * g.launch.host_launch + g.launch.submit + 100_us);
}

TEST(Graph, NodesFollowWithTheGraphsGap) {
  const gpu::GpuSpec g = specs::h100();
  host::Item graph;
  graph.kind = host::ItemKind::Graph;
  graph.body = {launch(0, 0, 4)};
  const Driven d = drive(scenario_of(g, {stand_in(2_us)}, {graph, launch(0)}));
  EXPECT_EQ(d.launches[0].started - unit::Time{}, g.launch.host_graph_launch + g.launch.submit);
  for (std::size_t n = 1; n < 4; ++n) {
    EXPECT_EQ(d.launches[n].started - d.launches[n - 1].ended, g.launch.graph_gap);
  }
  EXPECT_EQ(d.launches[4].started - d.launches[3].ended, g.launch.stream_gap);
}

TEST(Sync, TheHostGoesOnAfterItsCost) {
  const gpu::GpuSpec g = specs::h100();
  host::Item sync;
  sync.kind = host::ItemKind::SyncDevice;
  host::Item work;
  work.kind = host::ItemKind::HostWork;
  work.work = 7_us;
  const Driven d = drive(
      scenario_of(g, {stand_in(20_us)}, {launch(0), sync, work, launch(0), sync}));
  const auto& c = g.launch;
  const auto first_end = c.host_launch + c.submit + 20_us;
  EXPECT_EQ(d.launches[0].ended - unit::Time{}, first_end);
  EXPECT_EQ(d.launches[1].started - d.launches[0].ended,
            c.host_sync + 7_us + c.host_launch + c.submit);
  EXPECT_EQ(d.end - d.launches[1].ended, c.host_sync);
}

// A kernel whose stores are still on their way is not followed yet.
TEST(Stream, StoresArriveBeforeTheNextKernel) {
  gpu::GpuSpec g = instant();
  const kernel::Kernel k = kernel_of({store(0, 16)}, 1, 32, {{"y", 1_MiB}});
  const Driven d = drive(scenario_of(g, {k}, {launch(0, 0, 2)}));
  const auto apart = d.launches[1].started - d.launches[0].ended;
  EXPECT_GT(apart, g.l2.latency_near / 4);
  EXPECT_LT(apart, g.l2.latency_far);
}

}  // namespace
}  // namespace wavetail::tests
