// SPDX-License-Identifier: Apache-2.0
// Steady waves and trips left out on the whole GPU, against simulating all of them.
#include <gtest/gtest.h>

#include "analytic/lab.h"
#include "library/template.h"

namespace wavetail::tests {
namespace {

constexpr double kTolerance = 0.005;

struct Long {
  const char* name;
  library::Arguments arguments;
  double within = kTolerance;
};

std::vector<Long> long_kernels() {
  return {
      // Blocks of 16 steps drift apart for longer than the waves that are compared: 1.2 % were
      // seen. The third comes into step within its tiles: 0.9 %.
      {"gemm", {{{"m", 8192}, {"n", 8192}, {"k", 1024}}, {}, {{"tile", {128, 128}}}}, 0.015},
      {"gemm",
       {{{"m", 12288}, {"n", 8192}, {"k", 1024}},
        {{"schedule", "persistent"}},
        {{"tile", {128, 256}}, {"cluster", {2, 1}}}}},
      {"gemm", {{{"m", 1537}, {"n", 16384}, {"k", 10240}}, {{"dtype", "bf16"}}, {}}, 0.01},
      {"gemm", {{{"m", 3328}, {"n", 8192}, {"k", 16384}}, {{"dtype", "bf16"}}, {}}},
      {"gemm", {{{"m", 5}, {"n", 32768}, {"k", 10240}}, {{"dtype", "bf16"}}, {}}},
      {"copy", {{{"bytes", 1 << 30}}, {}, {}}},
      {"norm", {{{"rows", 65536}, {"cols", 4096}}, {}, {}}},
  };
}

TEST(WaveSkipFull, AgreesWithSimulatingEveryWave) {
  for (const Long& one : long_kernels()) {
    SCOPED_TRACE(one.name);
    std::vector<kernel::Kernel> made;
    const gpu::GpuSpec gpu = specs::h100();
    ASSERT_TRUE(
        library::build(*library::find_template(one.name), one.arguments, gpu, made).empty());
    scenario::Scenario s = scenario_of(gpu, made, {launch(0)});
    const DrivenLaunch all = drive(s).launches.at(0);
    s.simulation.skip_waves = kTolerance;
    const DrivenLaunch some = drive(s).launches.at(0);
    EXPECT_GT(some.skipped_waves + some.skipped_trips, 4);
    EXPECT_NEAR(unit::ratio(some.time(), all.time()), 1, one.within);
  }
}

}  // namespace
}  // namespace wavetail::tests
