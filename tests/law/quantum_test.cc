// SPDX-License-Identifier: Apache-2.0
// Issuing instruction by instruction (quantum 1) against the default, on random kernels.
#include <gtest/gtest.h>

#include <cmath>

#include "support/drive.h"
#include "support/random_scenario.h"

namespace wavetail::tests {
namespace {

double kernel_time_us(scenario::Scenario& s, std::int64_t quantum) {
  s.simulation.issue_quantum = quantum;
  return unit::microseconds(drive(s).kernel_time());
}

// Kernels of a few blocks and microseconds: warps that compete for a pipe or a cache come to it in
// another order, and now and then a block more or less ends up on the busiest SM. Single kernels
// may notice; their mean must not.
TEST(Quantum, AgreesOnRandomKernels) {
  const std::int64_t usual = scenario::Simulation{}.issue_quantum;
  constexpr int kScenarios = 200;
  double sum = 0;
  double sum_signed = 0;
  int beyond_5_pct = 0;
  for (std::uint64_t seed = 0; seed < kScenarios; ++seed) {
    scenario::Scenario s = random_scenario(
        seed / 2, {.streams = false, .gpu = seed % 2 != 0 ? GpuKind::Odd : GpuKind::Part});
    const double exact = kernel_time_us(s, 1);
    const double pct = 100 * (kernel_time_us(s, usual) / exact - 1);
    EXPECT_LE(std::abs(pct), 25) << "seed " << seed << ", " << exact << " us";
    beyond_5_pct += std::abs(pct) > 5 ? 1 : 0;
    sum += std::abs(pct);
    sum_signed += pct;
  }
  EXPECT_LE(beyond_5_pct, 16);
  EXPECT_LE(sum / kScenarios, 2) << "mean of the absolute differences, percent";
  EXPECT_NEAR(sum_signed / kScenarios, 0, 0.7) << "mean difference, percent";
}

}  // namespace
}  // namespace wavetail::tests
