// SPDX-License-Identifier: Apache-2.0
// Every scenario that is shipped reads without a mistake (or is refused as it says).
#include <gtest/gtest.h>

#include <filesystem>

#include "scenario/load.h"

namespace wavetail::scenario {
namespace {

namespace fs = std::filesystem;

const std::string kRoot = WAVETAIL_SOURCE_DIR;

std::vector<std::string> shipped() {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(kRoot + "/workloads")) {
    if (entry.path().extension() == ".yaml") {
      files.push_back(fs::relative(entry.path(), kRoot).string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

class Shipped : public testing::TestWithParam<std::string> {};

TEST_P(Shipped, Reads) {
  config::Diagnostics diagnostics;
  const LoadOptions options{.sets = {}, .gpu = {}, .folders = {kRoot + "/configs/gpu"}};
  const auto study = load_study(kRoot + "/" + GetParam(), options, diagnostics);
  EXPECT_EQ(diagnostics.render(), "");
  ASSERT_TRUE(study);
  if (study->expected_error) {
    EXPECT_NE(study->expected_error->refusal.find(study->expected_error->text), std::string::npos);
  }
}

INSTANTIATE_TEST_SUITE_P(Scenarios, Shipped, testing::ValuesIn(shipped()));

}  // namespace
}  // namespace wavetail::scenario
