// SPDX-License-Identifier: Apache-2.0
// How a remembered launch goes on while the power control changes the clock under it. Its time has
// been simulated at a few clocks; between two of them it is taken as linear in the clock's period,
// as that of a launch is which computes for so many cycles and waits for DRAM for so long.
//
//   100 us at 1.8 GHz and 120 us at 1.5 GHz: 109.1 us at 1.65 GHz; half of the launch at 1.8 and
//   the rest at 1.5 GHz takes 110 us.
#pragma once

#include <optional>
#include <vector>

#include "device/power.h"
#include "device/replay.h"
#include "result/result.h"

namespace wavetail::device {

// How a launch went.
struct Pace {
  Duration duration;
  double cycles = 0;      // of the SM clock
  Hertz lowest, highest;  // clocks on the way
  result::Energy energy;  // without the static power
};

// The time of a launch at one clock; beyond the simulated ones by the slope of the nearest two, or,
// if there is but one, half of it in cycles.
[[nodiscard]] double time_at(const std::vector<Replay::Point>& points, Hertz clock);

// Lets a launch of that work run under `control`, which it spends as `profile` says: every part of
// the profile keeps its share of the time.
[[nodiscard]] Pace pace(PowerControl& control, const result::Work& work,
                        const std::vector<sm::Spent>& profile,
                        const std::vector<Replay::Point>& points);

// A clock at which the launch has yet to be simulated before its time can be told at all clocks
// between those two; no value: it can be told to about half a percent.
[[nodiscard]] std::optional<Hertz> missing_clock(const std::vector<Replay::Point>& points,
                                                 Hertz lowest, Hertz highest);

}  // namespace wavetail::device
