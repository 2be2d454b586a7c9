// SPDX-License-Identifier: Apache-2.0
// No prediction of a measured row moves unseen.
#include <thread>

#include "drift.h"

namespace wavetail {
namespace {

class Drift : public testing::TestWithParam<std::string> {};

TEST_P(Drift, EveryRowOfTheFile) {
  drift::compare(drift::rows_of(GetParam()),
                 static_cast<int>(std::max(1U, std::thread::hardware_concurrency())));
}

INSTANTIATE_TEST_SUITE_P(Files, Drift, testing::ValuesIn(drift::files()), [](const auto& test) {
  std::string name = std::filesystem::path(test.param).stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

TEST(DriftOfAll, EveryPredictionHasItsRow) {
  EXPECT_EQ(drift::all_rows().size(), drift::expected().size());
}

}  // namespace
}  // namespace wavetail
