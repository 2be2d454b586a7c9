// SPDX-License-Identifier: Apache-2.0
// Measurement files with mistakes, and the exact text that the user sees. tools/update_golden
// rewrites the texts; the diff is then for a person to read.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "study/measurement.h"

namespace wavetail {
namespace {

namespace fs = std::filesystem;

const std::string kRoot = WAVETAIL_SOURCE_DIR;
const std::string kFolder = "tests/golden/measurements";

std::vector<std::string> names() {
  std::vector<std::string> all;
  for (const auto& entry : fs::directory_iterator(kRoot + "/" + kFolder)) {
    if (entry.path().extension() == ".csv") { all.push_back(entry.path().stem().string()); }
  }
  std::sort(all.begin(), all.end());
  return all;
}

std::string read(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

class Measurements : public testing::TestWithParam<std::string> {};

TEST_P(Measurements, ExactMessageAndPlace) {
  fs::current_path(kRoot);  // messages name the file as it was given
  const std::string golden = kFolder + "/" + GetParam() + ".stderr";
  config::Diagnostics diagnostics;
  (void)study::load_measurements(kFolder + "/" + GetParam() + ".csv", diagnostics);
  EXPECT_GE(diagnostics.count(), 1U);
  const std::string text = diagnostics.render();
  if (std::getenv("WAVETAIL_UPDATE_GOLDEN") != nullptr) {
    std::ofstream(golden, std::ios::binary) << text;
  }
  EXPECT_EQ(text, read(golden));
}

INSTANTIATE_TEST_SUITE_P(Golden, Measurements, testing::ValuesIn(names()), [](const auto& test) {
  std::string name = test.param;
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
});

}  // namespace
}  // namespace wavetail
