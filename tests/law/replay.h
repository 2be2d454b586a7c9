// SPDX-License-Identifier: Apache-2.0
// Replay, which answers launches from identical earlier ones, against simulating every launch.
#pragma once

#include <gtest/gtest.h>

#include "support/drive.h"

namespace wavetail::tests {

struct ReplayPair {
  Driven all, some;  // every launch simulated; some of them replayed

  explicit ReplayPair(scenario::Scenario s) {
    s.simulation.replay = false;
    all = drive(s);
    s.simulation.replay = true;
    some = drive(s);
  }

  [[nodiscard]] std::int64_t replayed() const {
    std::int64_t n = 0;
    for (const DrivenLaunch& l : some.launches) { n += l.replayed ? 1 : 0; }
    return n;
  }

  // `pct`: how far the times may be apart.
  void expect_agreement(double pct) const {
    EXPECT_TRUE(all.finished && some.finished);
    ASSERT_EQ(all.launches.size(), some.launches.size());
    EXPECT_NEAR(100 * unit::ratio(some.kernel_time(), all.kernel_time()), 100, pct)
        << "kernel time";
    EXPECT_NEAR(100 * unit::ratio(some.end - unit::Time{}, all.end - unit::Time{}), 100, pct)
        << "time";
  }
};

}  // namespace wavetail::tests
