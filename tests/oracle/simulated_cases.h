// SPDX-License-Identifier: Apache-2.0
// Cases that need a simulation: the scenarios of a folder, each of which must meet what it expects,
// but for misses that it admits.
#pragma once

#include <algorithm>
#include <filesystem>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "run/run.h"
#include "scenario/load.h"

namespace wavetail {

inline std::vector<std::string> simulated_cases(const std::string& folder) {
  std::vector<std::string> files;
  const std::string root = std::string(WAVETAIL_SOURCE_DIR) + "/tests/oracle/";
  for (const auto& entry : std::filesystem::directory_iterator(root + folder)) {
    if (entry.path().extension() == ".yaml") { files.push_back(entry.path().string()); }
  }
  std::sort(files.begin(), files.end());
  return files;
}

inline std::string case_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = std::filesystem::path(info.param).stem().string();
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

inline void meets_what_it_expects(const std::string& file) {
  config::Diagnostics diagnostics;
  const scenario::LoadOptions options{{}, {}, {std::string(WAVETAIL_SOURCE_DIR) + "/configs/gpu"}};
  const auto study = scenario::load_study(file, options, diagnostics);
  ASSERT_TRUE(study) << diagnostics.render();
  const auto result = run::run_study(*study, {});
  ASSERT_FALSE(result.expect.empty());
  for (const auto& e : result.expect) {
    EXPECT_TRUE(e.verdict == result::Verdict::Passed || e.verdict == result::Verdict::KnownMiss)
        << e.path << ": " << e.got;
  }
}

}  // namespace wavetail
