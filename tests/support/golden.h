// SPDX-License-Identifier: Apache-2.0
// Exact-output tests: the text must equal tests/golden/NAME. With WAVETAIL_UPDATE_GOLDEN=1 in the
// environment the file is rewritten instead (tools/update_golden), and the diff is for a person to
// read.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

namespace wavetail::golden {

// The files of tests/golden/FOLDER with this extension, without it, in order: a test case each.
inline std::vector<std::string> cases(const std::string& folder, const std::string& extension) {
  std::vector<std::string> all;
  for (const auto& entry :
       std::filesystem::directory_iterator(WAVETAIL_SOURCE_DIR "/tests/golden/" + folder)) {
    if (entry.path().extension() == extension) { all.push_back(entry.path().stem().string()); }
  }
  std::sort(all.begin(), all.end());
  return all;
}

// A case's name as gtest wants it.
template <class Info>
std::string case_name(const Info& test) {
  std::string name = testing::PrintToString(test.param);
  std::erase(name, '"');
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

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
