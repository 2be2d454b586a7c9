// SPDX-License-Identifier: Apache-2.0
// Issuing instruction by instruction (quantum 1) against the default, on every shipped scenario.
#include <gtest/gtest.h>

#include <cmath>

#include "law/shipped.h"
#include "run/simulate.h"

namespace wavetail::tests {
namespace {

double time_us(scenario::Scenario s, std::int64_t quantum) {
  s.simulation.issue_quantum = quantum;
  const run::Happened h = run::simulate(
      s, [](std::int64_t, result::Outcome&) { return std::optional<std::string>{}; });
  EXPECT_EQ(h.outcome, result::Outcome::Complete) << h.message;
  return unit::microseconds(h.end - unit::Time{});
}

// Variants of the decode steps change the host and nothing else: the base says all.
bool only_base(const std::string& file) { return file.find("decode-step") != std::string::npos; }

// Scenarios that miss the usual limit are named: docs/deviations.md, issue-quantum.
double limit_of(const std::string& run) {
  if (run == "gemv/few_blocks") { return 0.025; }
  if (run == "claims/b8-gemm-mainloops") { return 0.045; }  // products by mma.sync
  if (run == "softmax") { return 0.03; }
  if (run == "sgemm") { return 0.04; }
  return 0.02;
}

class Quantum : public testing::TestWithParam<std::string> {};

TEST_P(Quantum, AgreesWithInstructionByInstruction) {
  for (const ShippedRun& run : runs_of(GetParam())) {
    const double exact = time_us(run.scenario, 1);
    const double usual = time_us(run.scenario, scenario::Simulation{}.issue_quantum);
    EXPECT_NEAR(usual / exact, 1, limit_of(run.name)) << run.name;
    if (only_base(GetParam())) { break; }
  }
}

INSTANTIATE_TEST_SUITE_P(Shipped, Quantum, testing::ValuesIn(shipped_files()), case_name);

}  // namespace
}  // namespace wavetail::tests
