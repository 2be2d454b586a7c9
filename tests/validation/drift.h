// SPDX-License-Identifier: Apache-2.0
// The rows of tests/validation and what was predicted for them when it was last looked at. A change
// that moves a prediction by more than half a per cent is seen; tools/update_validation accepts it.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "config/file.h"
#include "study/csv.h"
#include "study/validate.h"

namespace wavetail::drift {

inline constexpr double kAllowedPct = 0.5;

inline std::string folder() { return std::string(WAVETAIL_SOURCE_DIR) + "/tests/validation"; }

inline std::vector<std::string> files() {
  std::vector<std::string> all;
  for (const auto& entry : std::filesystem::directory_iterator(folder())) {
    if (entry.path().extension() == ".csv") { all.push_back(entry.path().string()); }
  }
  std::sort(all.begin(), all.end());
  return all;
}

inline std::vector<study::Measurement> rows_of(const std::string& file) {
  config::Diagnostics diagnostics;
  auto rows = study::load_measurements(file, diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.render();
  return rows;
}

inline std::vector<study::Measurement> all_rows() {
  std::vector<study::Measurement> rows;
  for (const std::string& file : files()) {
    const auto some = rows_of(file);
    rows.insert(rows.end(), some.begin(), some.end());
  }
  return rows;
}

inline std::map<std::string, double> expected() {
  config::Diagnostics diagnostics;
  const auto source = config::read_file(folder() + "/expected/predicted.csv", "CSV", 1 << 24,
                                        diagnostics);
  std::map<std::string, double> values;
  const auto records = study::read_csv(source, diagnostics);
  for (std::size_t i = 1; i < records.size(); ++i) {
    values[records[i][0].text] = std::stod(records[i][1].text);
  }
  return values;
}

inline void compare(const std::vector<study::Measurement>& rows, int jobs) {
  config::Diagnostics diagnostics;
  const auto v = study::validate(
      rows,
      {.load = {.sets = {},
                .gpu = {},
                .folders = {std::string(WAVETAIL_SOURCE_DIR) + "/configs/gpu"}},
       .control = {.budget = {}, .jobs = jobs}},
      diagnostics);
  ASSERT_TRUE(diagnostics.ok()) << diagnostics.render();
  const auto before = expected();
  for (const study::RowResult& r : v.rows) {
    ASSERT_TRUE(r.predicted) << r.row.id << ": " << r.skipped;
    const auto at = before.find(r.row.id);
    ASSERT_NE(at, before.end()) << r.row.id << " is new: tools/update_validation";
    EXPECT_NEAR(*r.predicted, at->second, kAllowedPct / 100 * at->second) << r.row.id;
  }
}

}  // namespace wavetail::drift
