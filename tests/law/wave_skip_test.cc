// SPDX-License-Identifier: Apache-2.0
// Steady waves that are left out: the answer is that of the whole simulation within the tolerance,
// the work counted is all of it, and every bucket still adds up.
#include <gtest/gtest.h>

#include "analytic/lab.h"
#include "law/laws.h"
#include "library/template.h"
#include "run/simulate.h"

namespace wavetail::tests {
namespace {

constexpr double kTolerance = 0.005;

// On eight SMs, so that a few tiles make waves.
gpu::GpuSpec eight_sms() {
  gpu::GpuSpec gpu = specs::h100();
  gpu.gpcs = {4, 4};
  return gpu;
}

scenario::Scenario from_template(const char* name, const library::Arguments& arguments) {
  std::vector<kernel::Kernel> made;
  const gpu::GpuSpec gpu = eight_sms();
  EXPECT_TRUE(library::build(*library::find_template(name), arguments, gpu, made).empty());
  return scenario_of(gpu, made, {launch(0)});
}

scenario::Scenario product(const char* schedule) {
  return from_template("gemm", {{{"m", 4096}, {"n", 2048}, {"k", 512}},
                                {{"schedule", schedule}},
                                {{"tile", {128, 128}}, {"cluster", {2, 1}}}});
}

struct Pair {
  DrivenLaunch all, some;
};

Pair with_and_without(scenario::Scenario s) {
  const Driven all = drive(s);
  s.simulation.skip_waves = kTolerance;
  const Driven some = drive(s);
  EXPECT_TRUE(some.finished);
  EXPECT_LT(some.events, all.events * 2 / 3);
  return {all.launches.at(0), some.launches.at(0)};
}

void expect_alike(const Pair& p) {
  EXPECT_EQ(p.all.skipped_waves, 0);
  EXPECT_GT(p.some.skipped_waves, 4);
  EXPECT_NEAR(unit::ratio(p.some.time(), p.all.time()), 1, 2 * kTolerance);
  EXPECT_EQ(p.some.counters.blocks, p.all.counters.blocks);
  expect_buckets_add_up(p.some.counters);
}

TEST(WaveSkip, AnswersAsTheWholeProductDoes) {
  const Pair p = with_and_without(product("data-parallel"));
  expect_alike(p);
  EXPECT_EQ(p.some.counters.flops, p.all.counters.flops);
  EXPECT_EQ(p.some.counters.warp_instructions, p.all.counters.warp_instructions);
}

TEST(WaveSkip, LeavesOutTilesOfPersistentBlocks) {
  const Pair p = with_and_without(product("persistent"));
  expect_alike(p);
  EXPECT_NEAR(p.some.counters.flops / p.all.counters.flops, 1, 0.01);
}

TEST(WaveSkip, AnswersAsTheWholeCopyDoes) {
  const Pair p = with_and_without(from_template("copy", {{{"bytes", 32 << 20}}, {}, {}}));
  expect_alike(p);
  EXPECT_EQ(p.some.counters.load_sectors, p.all.counters.load_sectors);
  EXPECT_NEAR(static_cast<double>(p.some.counters.dram_read_bytes) /
                  static_cast<double>(p.all.counters.dram_read_bytes),
              1, 0.02);
}

// Waves that never agree to that degree are all simulated.
TEST(WaveSkip, WaitsForSteadyWaves) {
  scenario::Scenario s = from_template("copy", {{{"bytes", 16 << 20}}, {}, {}});
  s.simulation.skip_waves = 1e-6;
  EXPECT_EQ(drive(s).launches.at(0).skipped_waves, 0);
}

// Launches of two streams may meet: nothing is left out.
TEST(WaveSkip, IsForLaunchesThatAreAlone) {
  scenario::Scenario s = from_template("copy", {{{"bytes", 32 << 20}}, {}, {}});
  s.simulation.skip_waves = kTolerance;
  const auto skipped = [](const scenario::Scenario& some) {
    const run::Stop never = [](std::int64_t, result::Outcome&) -> std::optional<std::string> {
      return std::nullopt;
    };
    return run::simulate(some, never).kernels.at(0).skipped_waves;
  };
  EXPECT_GT(skipped(s), 4);
  s.timeline.items.push_back(launch(0, 1));
  EXPECT_EQ(skipped(s), 0);
}

}  // namespace
}  // namespace wavetail::tests
