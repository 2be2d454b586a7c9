// SPDX-License-Identifier: Apache-2.0
// No prediction of a few measured rows of every family moves unseen; the full tier looks at all.
#include <array>

#include "drift.h"

namespace wavetail {
namespace {

constexpr std::array kRows = {"COA-003", "DRV-006", "L1B-014", "L2S-092", "LAT-018",
                              "LCH-003", "LCH-022", "LIG-026", "OCC-010", "PIP-001",
                              "STD-008", "STD-041", "STR-078", "STR-149", "XLA-001"};

TEST(Drift, AFewRowsOfEveryFamily) {
  std::vector<study::Measurement> some;
  for (study::Measurement& row : drift::all_rows()) {
    if (std::find(kRows.begin(), kRows.end(), row.id) != kRows.end()) {
      some.push_back(std::move(row));
    }
  }
  EXPECT_EQ(some.size(), kRows.size());
  drift::compare(some, 1);
}

}  // namespace
}  // namespace wavetail
