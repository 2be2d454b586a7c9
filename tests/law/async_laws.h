// SPDX-License-Identifier: Apache-2.0
// The laws on random asynchronous kernels, and that issuing instruction by instruction agrees.
#pragma once

#include <gtest/gtest.h>

#include <cmath>

#include "event/clock.h"
#include "law/laws.h"
#include "support/drive.h"
#include "support/random_async.h"

namespace wavetail::tests {

inline void expect_async_laws(const scenario::Scenario& s) {
  const Driven d = drive(s);
  ASSERT_TRUE(d.finished) << "a hang";
  EXPECT_EQ(d.fault, "");
  EXPECT_EQ(d.requests_under_way, 0U);
  const event::Clock clock(s.gpu.sm_clock());
  for (const DrivenLaunch& l : d.launches) {
    expect_buckets_add_up(l.counters);
    expect_slots_total(l.counters, s.gpu,
                       clock.at_or_after(l.ended) - clock.at_or_after(l.started));
    expect_bytes_conserved(l.counters);
    expect_little(l.counters);
    expect_work(l.counters, s.kernels[0], s.gpu);
    bound::Caches caches;
    caches.in_l2_at_start = static_cast<double>(l.l2_bytes_at_start);
    expect_not_faster_than(bound::bound_of(s.kernels[0], s.gpu, l.fit, caches),
                           unit::microseconds(l.time()));
  }
}

inline void expect_async_laws(AsyncKind kind, std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t seed = first; seed < last; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    expect_async_laws(random_async(seed, kind, seed % 2 != 0));
    if (testing::Test::HasFailure()) { return; }
  }
}

// Mean of the differences between the default quantum and 1, percent. Single kernels of a few
// microseconds may differ by more (docs/deviations.md, issue-quantum).
inline double quantum_difference(AsyncKind kind, std::uint64_t scenarios) {
  double sum = 0;
  for (std::uint64_t seed = 0; seed < scenarios; ++seed) {
    scenario::Scenario s = random_async(seed, kind, false);
    const double usual = unit::microseconds(drive(s).kernel_time());
    s.simulation.issue_quantum = 1;
    const double exact = unit::microseconds(drive(s).kernel_time());
    EXPECT_NEAR(usual / exact, 1, 0.15) << "seed " << seed;
    sum += std::abs(usual / exact - 1) * 100;
  }
  return sum / static_cast<double>(scenarios);
}

}  // namespace wavetail::tests
