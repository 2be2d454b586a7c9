// SPDX-License-Identifier: Apache-2.0
// The laws on what the product's own entrance reports: sums over the launches of a kernel, and the
// bound that stands beside them.
#pragma once

#include <algorithm>
#include <string>

#include "law/laws.h"
#include "result/result.h"
#include "scenario/scenario.h"

namespace wavetail::tests {

inline const kernel::Kernel& kernel_named(const scenario::Scenario& s, const std::string& name) {
  return *std::find_if(s.kernels.begin(), s.kernels.end(),
                       [&](const kernel::Kernel& k) { return k.name == name; });
}

inline void expect_laws(const result::RunResult& r, const scenario::Scenario& s) {
  ASSERT_EQ(r.outcome, result::Outcome::Complete) << r.outcome_message;
  // Busy and idle time make up the run.
  EXPECT_NEAR(r.busy_us + r.gaps.total_us(), r.time_us, 1e-6 * r.time_us);
  for (const result::KernelResult& k : r.kernels) {
    SCOPED_TRACE("kernel " + k.name);
    expect_not_faster_than(k.bound, k.time_us);
    const kernel::Kernel& kernel = kernel_named(s, k.name);
    if (kernel.duration) { continue; }
    expect_buckets_add_up(k.counters);
    expect_bytes_conserved(k.counters);
    expect_little(k.counters);
    expect_work(k.counters, kernel, s.gpu, k.launches);
  }
}

}  // namespace wavetail::tests
