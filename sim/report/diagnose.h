// SPDX-License-Identifier: Apache-2.0
// Why a kernel (or a whole run) takes as long as it does, read off its figures: mechanisms by name,
// how much of the evidence each has, what would help and, in closed form, how much it could give.
// The estimates are labelled as such: they assume that everything else stays as it is, and they
// never go below the bound, nor below what the bytes take that the remedy leaves.
//
//   too_few_blocks   36 of 132 SMs have a block ... a larger grid: about 21 us (estimate)
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "result/result.h"

namespace wavetail::report {

struct Finding {
  std::string mechanism;  // too_few_blocks, narrow_loads, coalescing, launch_gaps, ...
  std::string evidence;   // the figures that say so
  std::string remedy;
  std::optional<double> estimate_us;  // the time that remains if the remedy works: an estimate
};

struct Diagnosis {
  std::string binds;              // the mechanism that matters most
  double ceiling_pct = 0;         // bound / time
  std::string verdict;            // a sentence on how near the ceiling is
  std::string occupancy;          // a sentence on whether occupancy is worth a look
  std::vector<Finding> findings;  // the most promising first; the first one's mechanism is `binds`
  std::vector<std::string> checklist;  // bytes moved, coalescing, bank conflicts, dtype, L2 reuse
};

[[nodiscard]] Diagnosis diagnose(const result::KernelResult& kernel);

// What the timeline as a whole suffers from: launch gaps, synchronisations, host work.
[[nodiscard]] std::vector<Finding> diagnose_timeline(const result::RunResult& run);

// One sentence per mechanism name; for documentation and for readers of JSON.
struct Mechanism {
  std::string_view name, sentence;
};

[[nodiscard]] std::vector<Mechanism> mechanisms();

}  // namespace wavetail::report
