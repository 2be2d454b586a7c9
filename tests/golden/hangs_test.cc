// SPDX-License-Identifier: Apache-2.0
// One file per way to hang or to break the rules of mbarriers, and the exact report: the warp, its
// operation, what it waits for, what is missing and who should bring it. tools/update_golden
// rewrites the texts.
#include <gtest/gtest.h>

#include "run/run.h"
#include "scenario/load.h"
#include "support/golden.h"

namespace wavetail {
namespace {

class Hangs : public testing::TestWithParam<std::string> {};

TEST_P(Hangs, ExactReport) {
  std::filesystem::current_path(WAVETAIL_SOURCE_DIR);
  config::Diagnostics diagnostics;
  const auto study = scenario::load_study("tests/golden/hangs/" + GetParam() + ".yaml",
                                          {.sets = {}, .gpu = {}, .folders = {"configs/gpu"}},
                                          diagnostics);
  ASSERT_TRUE(study) << diagnostics.render();
  const result::RunResult run = run::run_study(*study, {});
  EXPECT_EQ(run.outcome, result::Outcome::Hang);
  golden::expect_equal("hangs/" + GetParam() + ".txt", run.outcome_message + "\n");
}

INSTANTIATE_TEST_SUITE_P(Golden, Hangs, testing::ValuesIn(golden::cases("hangs", ".yaml")),
                         [](const auto& test) { return golden::case_name(test); });

}  // namespace
}  // namespace wavetail
