// SPDX-License-Identifier: Apache-2.0
#include "run/budget.h"

#include <gtest/gtest.h>

#include "support/specs.h"

namespace wavetail::run {
namespace {

// Warps that load 4 B per lane, `launches` times.
scenario::Scenario loads(kernel::Pattern pattern, std::int64_t launches = 1) {
  kernel::Op load;
  load.kind = kernel::OpKind::Load;
  load.count = 64;
  load.access.array = 0;
  load.access.width = 4;
  load.access.pattern = pattern;
  kernel::Kernel k;
  k.name = "k";
  k.grid = {1000, 1, 1};
  k.block = 256;
  k.registers = 32;
  k.arrays.push_back({.name = "x", .bytes = unit::Bytes{1 << 30}});
  k.roles.push_back({.name = "all", .warps = 8, .registers = {}, .program = {load}});
  scenario::Scenario s;
  s.gpu = specs::h100();
  s.kernels = {k};
  host::Item launch;
  launch.kernel = 0;
  launch.repeat = launches;
  s.timeline.items = {launch};
  return s;
}

TEST(Budget, ScatteredAccessesTakeLongerPerEvent) {
  const Needs dense = needs_of(loads(kernel::Pattern::Contiguous));
  const Needs random = needs_of(loads(kernel::Pattern::Random));
  EXPECT_EQ(random.events, dense.events);
  EXPECT_GT(dense.seconds, dense.events / 20e6);
  EXPECT_LT(dense.seconds, dense.events / 5e6);
  EXPECT_GT(random.seconds, random.events / 0.3e6);  // 0.1 to 0.3 million events per second
  EXPECT_LT(random.seconds, random.events / 0.1e6);
}

TEST(Budget, LikeLaunchesAreReplayed) {
  auto many = loads(kernel::Pattern::Random, 1000);
  const Needs replayed = needs_of(many);
  many.simulation.replay = false;
  EXPECT_GT(needs_of(many).seconds, 100 * replayed.seconds);
}

TEST(Budget, WavesThatAreLeftOutCostNothing) {
  scenario::Scenario s = loads(kernel::Pattern::Contiguous);
  s.kernels = [&] {
    std::vector<kernel::Kernel> kernels = s.kernels.all();
    kernels[0].grid = {10'000'000, 1, 1};
    return kernels;
  }();
  const double all = needs_of(s).events;
  s.simulation.skip_waves = 0.005;
  EXPECT_GT(all, 20 * needs_of(s).events);
}

TEST(Budget, MemoryForTheMachineIsRefusedBeforehand) {
  auto s = loads(kernel::Pattern::Contiguous);
  const double usual = needs_of(s).bytes;
  EXPECT_GT(usual, 1e6);
  EXPECT_LT(usual, 60e6);
  s.gpu.sm.unified_l1 = unit::Bytes{std::int64_t{64} << 20};
  const double large = needs_of(s).bytes;
  EXPECT_GT(large, 1e9);
  const Control small{
      .budget = {.max_time_s = {}, .max_events = {}, .max_memory_bytes = 100'000'000}};
  const Watch watch(small);
  EXPECT_TRUE(watch.refuse(needs_of(s)));
  EXPECT_FALSE(watch.refuse({.events = 1, .seconds = 0, .bytes = usual}));
  scenario::Study study;
  study.base = s;
  const auto result = run_study(study, small);
  EXPECT_EQ(result.outcome, result::Outcome::OverBudget);
  EXPECT_LT(resident_memory(), 100'000'000);
}

// Without a limit of the user's own there is one all the same.
TEST(Budget, MemoryHasADefaultLimit) {
  auto s = loads(kernel::Pattern::Random);
  const Control none;
  EXPECT_FALSE(Watch(none).refuse(needs_of(s)));
  s.gpu.l2.capacity = unit::Bytes{std::int64_t{16} << 30};
  s.kernels = [&] {
    std::vector<kernel::Kernel> large = s.kernels;
    large[0].arrays[0].bytes = unit::Bytes{std::int64_t{1} << 40};
    return large;
  }();
  s.initial_l2 = scenario::InitialL2::Dirty;
  EXPECT_GT(needs_of(s).bytes, 4e9);
  EXPECT_NE(Watch(none).refuse(needs_of(s)).value_or("").find("default limit"), std::string::npos);
  const Control large{
      .budget = {.max_time_s = {}, .max_events = {}, .max_memory_bytes = 100'000'000'000}};
  EXPECT_FALSE(Watch(large).refuse(needs_of(s)));
}

// Four machines of 80 MB, room for one.
TEST(Budget, VariantsTakeTurnsWhereMemoryIsShort) {
#ifdef __SANITIZE_ADDRESS__
  GTEST_SKIP() << "what is resident is mostly the sanitizer's own";
#endif
  auto s = loads(kernel::Pattern::Contiguous);
  s.gpu.sm.unified_l1 = unit::Bytes{3 << 20};
  scenario::Study study;
  study.base = s;
  for (const char* name : {"a", "b", "c", "d"}) { study.variants.push_back({name, s}); }
  const Budget budget{.max_time_s = {}, .max_events = {}, .max_memory_bytes = 150'000'000};
  const auto result = run_study(
      study, {.budget = budget, .cancelled = nullptr, .trace = false, .jobs = 4});
  EXPECT_EQ(result.outcome, result::Outcome::Complete) << result.outcome_message;
}

}  // namespace
}  // namespace wavetail::run
