// SPDX-License-Identifier: Apache-2.0
// The same input gives the same bytes: twice, with another simulation in between every few events,
// on several threads at once, with one job or four.
#include <gtest/gtest.h>

#include <thread>

#include "report/json.h"
#include "run/run.h"
#include "scenario/load.h"
#include "support/drive.h"
#include "support/random_scenario.h"

namespace wavetail::tests {
namespace {

constexpr std::uint64_t kSeeds = 40;

TEST(Same, TwiceInARow) {
  for (std::uint64_t seed = 0; seed < kSeeds; ++seed) {
    const scenario::Scenario s = random_scenario(seed);
    EXPECT_EQ(text_of(drive(s)), text_of(drive(s))) << "seed " << seed;
  }
}

TEST(Same, WithAnotherSimulationInBetween) {
  for (std::uint64_t seed = 0; seed < kSeeds; seed += 2) {
    const scenario::Scenario a = random_scenario(seed);
    const scenario::Scenario b = random_scenario(seed + 1);
    Session first(a);
    Session second(b);
    bool more = true;
    for (std::int64_t n = 1; more; n = n % 17 + 1) {
      const bool a_goes_on = first.go(n);
      const bool b_goes_on = second.go(18 - n);
      more = a_goes_on || b_goes_on;
    }
    EXPECT_EQ(text_of(first.result()), text_of(drive(a))) << "seed " << seed;
    EXPECT_EQ(text_of(second.result()), text_of(drive(b))) << "seed " << seed + 1;
  }
}

TEST(Same, OnSeveralThreads) {
  std::vector<scenario::Scenario> scenarios;
  for (std::uint64_t seed = 0; seed < 16; ++seed) { scenarios.push_back(random_scenario(seed)); }
  std::vector<std::string> texts(4 * scenarios.size());
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < 4; ++t) {
      threads.emplace_back([&, t] {
        for (std::size_t n = 0; n < scenarios.size(); ++n) {
          texts[t * scenarios.size() + n] = text_of(drive(scenarios[n]));
        }
      });
    }
  }
  for (std::size_t n = 0; n < texts.size(); ++n) {
    EXPECT_EQ(texts[n], text_of(drive(scenarios[n % scenarios.size()])));
  }
}

TEST(Same, WithOneJobOrFour) {
  for (const char* file : {"latency-hiding", "claims/a7-decode-batch-1", "launch-gaps"}) {
    config::Diagnostics diagnostics;
    const std::string root = WAVETAIL_SOURCE_DIR;
    const auto study = scenario::load_study(
        root + "/workloads/" + file + ".yaml",
        {.sets = {}, .gpu = {}, .folders = {root + "/configs/gpu"}}, diagnostics);
    ASSERT_TRUE(study) << diagnostics.render();
    ASSERT_FALSE(study->variants.empty());
    run::Control control;
    const result::RunResult alone = run::run_study(*study, control);
    control.jobs = 4;
    EXPECT_EQ(report::text_of(report::to_json(alone)),
              report::text_of(report::to_json(run::run_study(*study, control))));
  }
}

}  // namespace
}  // namespace wavetail::tests
