// SPDX-License-Identifier: Apache-2.0
// The scenarios that the project ships, base and variants each as a run of its own.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <string>
#include <vector>

#include "scenario/load.h"

namespace wavetail::tests {

struct ShippedRun {
  std::string name;  // file/variant
  scenario::Scenario scenario;
};

// Path below workloads/, without ".yaml".
inline std::vector<std::string> shipped_files() {
  namespace fs = std::filesystem;
  const fs::path root = fs::path(WAVETAIL_SOURCE_DIR) / "workloads";
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(root)) {
    if (entry.path().extension() == ".yaml") {
      files.push_back(fs::relative(entry.path(), root).replace_extension().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Those that take most of a second or more: whole decode steps, gigabytes moved.
inline bool is_big(const std::string& file) {
  static const std::set<std::string> kSmall = {"claims/a2-coalesced-warp-load",
                                               "claims/a7-decode-batch-1",
                                               "claims/a8a-launch-gaps",
                                               "divergence",
                                               "latency-hiding",
                                               "launch-gaps",
                                               "my-first-program",
                                               "read-bytes-in-flight"};
  return kSmall.count(file) == 0;
}

inline std::vector<std::string> shipped_files(bool big) {
  std::vector<std::string> files = shipped_files();
  std::erase_if(files, [&](const std::string& f) { return is_big(f) != big; });
  return files;
}

inline std::vector<ShippedRun> runs_of(const std::string& file,
                                       const std::vector<std::string>& sets = {}) {
  const std::string root = WAVETAIL_SOURCE_DIR;
  config::Diagnostics diagnostics;
  const auto study = scenario::load_study(
      root + "/workloads/" + file + ".yaml",
      {.sets = sets, .gpu = {}, .folders = {root + "/configs/gpu"}}, diagnostics);
  EXPECT_TRUE(study) << diagnostics.render();
  std::vector<ShippedRun> runs;
  if (!study || study->expected_error) { return runs; }
  runs.push_back({file, study->base});
  for (const scenario::Variant& v : study->variants) {
    runs.push_back({file + "/" + v.name, v.scenario});
  }
  return runs;
}

// For names of test cases: letters and digits only.
inline std::string case_name(const testing::TestParamInfo<std::string>& info) {
  std::string name = info.param;
  std::replace_if(
      name.begin(), name.end(), [](unsigned char c) { return std::isalnum(c) == 0; }, '_');
  return name;
}

}  // namespace wavetail::tests
