// SPDX-License-Identifier: Apache-2.0
// One file per way to hang or to break the rules of mbarriers, and the exact report: the warp, its
// operation, what it waits for, what is missing and who should bring it. tools/update_golden
// rewrites the texts.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>

#include "run/run.h"
#include "scenario/load.h"
#include "support/golden.h"

namespace wavetail {
namespace {

namespace fs = std::filesystem;

const std::string kFolder = "tests/golden/hangs";

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& entry : fs::directory_iterator(WAVETAIL_SOURCE_DIR "/" + kFolder)) {
    if (entry.path().extension() == ".yaml") { all.push_back(entry.path().stem().string()); }
  }
  std::sort(all.begin(), all.end());
  return all;
}

class Hangs : public testing::TestWithParam<std::string> {};

TEST_P(Hangs, ExactReport) {
  fs::current_path(WAVETAIL_SOURCE_DIR);
  config::Diagnostics diagnostics;
  const auto study = scenario::load_study(kFolder + "/" + GetParam() + ".yaml",
                                          {.sets = {}, .gpu = {}, .folders = {"configs/gpu"}},
                                          diagnostics);
  ASSERT_TRUE(study) << diagnostics.render();
  const result::RunResult run = run::run_study(*study, {});
  EXPECT_EQ(run.outcome, result::Outcome::Hang);
  golden::expect_equal("hangs/" + GetParam() + ".txt", run.outcome_message + "\n");
}

INSTANTIATE_TEST_SUITE_P(Golden, Hangs, testing::ValuesIn(names()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace wavetail
