// SPDX-License-Identifier: Apache-2.0
// Every reported figure with its path, unit and sentence, and Nsight Compute's name for it where
// one exists: what `wavetail list metrics` prints and docs/metrics.md contains, made from
// result/describe.h.
#pragma once

#include <string>
#include <vector>

namespace wavetail::report {

struct Metric {
  std::string path;  // as the JSON has it: kernels[].time_us
  std::string unit, sentence;
  std::string nsight;  // the closest metric of Nsight Compute, may be empty
};

[[nodiscard]] std::vector<Metric> metrics();

}  // namespace wavetail::report
