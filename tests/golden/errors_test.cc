// SPDX-License-Identifier: Apache-2.0
// One file per kind of mistake, and the exact text that the user sees: place, path, what was found,
// what is allowed. tools/update_golden rewrites the texts; the diff is then for a person to read.
#include <gtest/gtest.h>

#include "scenario/load.h"
#include "study/measurement.h"
#include "support/golden.h"

namespace wavetail {
namespace {

class Errors : public testing::TestWithParam<std::string> {};

TEST_P(Errors, ExactMessageAndPlace) {
  std::filesystem::current_path(WAVETAIL_SOURCE_DIR);  // messages name the file as it was given
  config::Diagnostics diagnostics;
  const auto study = scenario::load_study("tests/golden/errors/" + GetParam() + ".yaml",
                                          {.sets = {}, .gpu = {}, .folders = {"configs/gpu"}},
                                          diagnostics);
  EXPECT_FALSE(study);
  EXPECT_GE(diagnostics.count(), 1U);
  golden::expect_equal("errors/" + GetParam() + ".stderr", diagnostics.render());
}

INSTANTIATE_TEST_SUITE_P(Golden, Errors, testing::ValuesIn(golden::cases("errors", ".yaml")),
                         [](const auto& test) { return golden::case_name(test); });

// The same for measurement files.
class Measurements : public testing::TestWithParam<std::string> {};

TEST_P(Measurements, ExactMessageAndPlace) {
  std::filesystem::current_path(WAVETAIL_SOURCE_DIR);
  config::Diagnostics diagnostics;
  (void)study::load_measurements("tests/golden/measurements/" + GetParam() + ".csv", diagnostics);
  EXPECT_GE(diagnostics.count(), 1U);
  golden::expect_equal("measurements/" + GetParam() + ".stderr", diagnostics.render());
}

INSTANTIATE_TEST_SUITE_P(Golden, Measurements,
                         testing::ValuesIn(golden::cases("measurements", ".csv")),
                         [](const auto& test) { return golden::case_name(test); });

}  // namespace
}  // namespace wavetail
