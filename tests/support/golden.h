// SPDX-License-Identifier: Apache-2.0
// Exact-output tests: the text must equal tests/golden/NAME. With WAVETAIL_UPDATE_GOLDEN=1 in the
// environment the file is rewritten instead (tools/update_golden), and the diff is for a person to
// read.
#pragma once

#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

namespace wavetail::golden {

inline void expect_equal(const std::string& name, const std::string& text) {
  const std::filesystem::path path = std::filesystem::path(WAVETAIL_SOURCE_DIR) / "tests/golden" /
                                     name;
  if (std::getenv("WAVETAIL_UPDATE_GOLDEN") != nullptr) {
    std::filesystem::create_directories(path.parent_path());
    std::ofstream(path, std::ios::binary) << text;
    return;
  }
  std::ifstream file(path, std::ios::binary);
  std::stringstream expected;
  expected << file.rdbuf();
  EXPECT_EQ(expected.str(), text) << path << " differs; tools/update_golden rewrites it";
}

}  // namespace wavetail::golden
