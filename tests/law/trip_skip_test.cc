// SPDX-License-Identifier: Apache-2.0
// Trips of long loops that are left out: the answer is that of the whole simulation, all work is
// counted, and every bucket still adds up.
#include <gtest/gtest.h>

#include "analytic/lab.h"
#include "law/laws.h"
#include "library/template.h"

namespace wavetail::tests {
namespace {

constexpr double kTolerance = 0.005;

gpu::GpuSpec eight_sms() {
  gpu::GpuSpec gpu = specs::h100();
  gpu.gpcs = {4, 4};
  return gpu;
}

scenario::Scenario product(std::int64_t m, std::int64_t k, const char* schedule) {
  std::vector<kernel::Kernel> made;
  const gpu::GpuSpec gpu = eight_sms();
  EXPECT_TRUE(library::build(*library::find_template("gemm"),
                             {{{"m", m}, {"n", 1024}, {"k", k}},
                              {{"schedule", schedule}},
                              {{"tile", {128, 256}}, {"cluster", {2, 1}}}},
                             gpu, made)
                  .empty());
  return scenario_of(gpu, made, {launch(0)});
}

struct Pair {
  Driven all, some;
};

Pair with_and_without(scenario::Scenario s) {
  Pair p;
  p.all = drive(s);
  s.simulation.skip_waves = kTolerance;
  p.some = drive(s);
  EXPECT_TRUE(p.some.finished);
  return p;
}

void expect_alike(const Pair& p, std::int64_t least_skipped) {
  const DrivenLaunch& all = p.all.launches.at(0);
  const DrivenLaunch& some = p.some.launches.at(0);
  EXPECT_EQ(all.skipped_trips, 0);
  EXPECT_GE(some.skipped_trips, least_skipped);
  EXPECT_LT(p.some.events, p.all.events * 2 / 3);
  EXPECT_NEAR(unit::ratio(some.time(), all.time()), 1, 2 * kTolerance);
  EXPECT_NEAR(some.counters.flops / all.counters.flops, 1, 0.01);
  EXPECT_NEAR(static_cast<double>(some.counters.tma_load_bytes) /
                  static_cast<double>(all.counters.tma_load_bytes),
              1, 0.01);
  EXPECT_EQ(some.counters.blocks, all.counters.blocks);
  expect_buckets_add_up(some.counters);
}

TEST(TripSkip, AnswersAsOneWaveOfLongTilesDoes) {
  expect_alike(with_and_without(product(256, 16384, "data-parallel")), 150);
}

TEST(TripSkip, GoesOnTileByTile) {
  expect_alike(with_and_without(product(768, 16384, "persistent")), 300);
}

// 16 steps are no long loop.
TEST(TripSkip, LeavesShortLoopsAlone) {
  const Pair p = with_and_without(product(256, 1024, "data-parallel"));
  EXPECT_EQ(p.some.launches.at(0).skipped_trips, 0);
  EXPECT_EQ(p.some.events, p.all.events);
}

// A producer that counts one trip for two of its consumers': what one left out would be missing.
TEST(TripSkip, NeedsRolesThatCountTheSameTrips) {
  scenario::Scenario s = product(256, 16384, "data-parallel");
  std::vector<kernel::Kernel> kernels(s.kernels.all().begin(), s.kernels.all().end());
  bool found = false;
  for (kernel::Role& role : kernels.at(0).roles) {
    for (kernel::Op& op : role.program) {
      if (op.kind != kernel::OpKind::Repeat || op.count < 200 || found) { continue; }
      op.count /= 2;
      const std::vector<kernel::Op> once = op.bodies.front();
      op.bodies.front().insert(op.bodies.front().end(), once.begin(), once.end());
      found = true;
    }
  }
  ASSERT_TRUE(found);
  s = scenario_of(eight_sms(), kernels, {launch(0)});
  s.simulation.skip_waves = kTolerance;
  EXPECT_EQ(drive(s).launches.at(0).skipped_trips, 0);
}

}  // namespace
}  // namespace wavetail::tests
