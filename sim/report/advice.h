// SPDX-License-Identifier: Apache-2.0
// The classes of idle time between kernels, with what they are and what to do about each; once, for
// the text report and for `explain`.
#pragma once

#include <string>
#include <vector>

#include "result/result.h"

namespace wavetail::report {

struct GapClass {
  std::string name;  // launch_bound, sync, host, dependency, tail
  double time_us = 0;
  double avoidable_us = 0;  // without what comes before the first kernel: a start-up, no gap
  std::int64_t count = 0;   // intervals; 0 for the tail
  std::string meaning;      // why the device was idle
  std::string remedy;       // what takes it away
};

// All five classes, the longest first; classes of equal length in the order above.
[[nodiscard]] std::vector<GapClass> gap_classes(const result::Gaps& gaps);

}  // namespace wavetail::report
