// SPDX-License-Identifier: Apache-2.0
// The simulator's speed where a noisy machine cannot blur it: how many events a run takes, and how
// near its rate comes to that of the bare wheel in the same process.
#include <gtest/gtest.h>

#include <ctime>

#include "bench/workloads.h"

namespace wavetail::tests {
namespace {

void expect_events(const scenario::Scenario& s, double committed) {
  const auto events = static_cast<double>(simulate(s).events);
  EXPECT_NEAR(events / committed, 1, 0.02) << static_cast<std::int64_t>(events) << " events";
}

TEST(Events, OfAStreamingRead) { expect_events(streaming_read(std::int64_t{64} << 20), 264'902); }

TEST(Events, OfADecodeLayer) { expect_events(decode_layer(), 3'608'723); }

TEST(Events, OfDivergentKernels) { expect_events(shipped("divergence"), 951'462); }

// 16,896 stages of 32 KiB: two pieces there and back, and the wake-ups of twelve warps.
TEST(Events, OfARingOfBoxes) { expect_events(shipped("tma-pipeline"), 203'116); }

// Processor time of this process: other programs on the machine matter less.
template <class F>
double seconds_of(F&& f) {
  const std::clock_t start = std::clock();
  f();
  return static_cast<double>(std::clock() - start) / CLOCKS_PER_SEC;
}

// Beside every event, the simulation of a load looks up tags and reserves ports, slices and
// channels; it reaches about a sixth of the bare wheel's rate. Far less would be a regression.
TEST(Rate, AStreamingReadKeepsUpWithTheBareWheel) {
  constexpr int kTries = 7;
  constexpr double kWanted = 0.1;
  const scenario::Scenario s = streaming_read(std::int64_t{128} << 20);
  double best = 0;
  for (int attempt = 0; attempt < kTries && best < kWanted; ++attempt) {
    std::int64_t events = 0;
    const double run = seconds_of([&] { events = simulate(s).events; });
    Hold hold(20'000, 1'000'000);  // about what the read has pending
    const double bare = seconds_of([&] { hold.go(events); });
    best = std::max(best, bare / run);
  }
  RecordProperty("best_ratio", std::to_string(best));
  EXPECT_GE(best, kWanted);
}

}  // namespace
}  // namespace wavetail::tests
