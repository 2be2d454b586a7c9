// SPDX-License-Identifier: Apache-2.0
// Simulates one scenario on one machine from time 0 until host and device are through, or until a
// budget, an interrupt or a hang ends it. What comes back is what happened; run/collect.h turns it
// into figures.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "device/replay.h"
#include "host/log.h"
#include "occupancy/occupancy.h"
#include "result/result.h"
#include "scenario/scenario.h"

namespace wavetail::run {

// All launches of one kernel.
struct KernelAccount {
  std::int64_t launches = 0, replayed = 0;
  std::int64_t skipped_trips = 0;      // summed over launches
  std::int64_t skipped_waves = 0;      // likewise
  unit::Duration time;                 // summed over launches
  result::Counters counters;           // summed over launches
  std::int64_t cycles = 0;             // of the SM clock during that time
  result::Energy energy;               // summed over launches
  std::int64_t sms_reached = 0;        // most of any launch
  std::int64_t l2_bytes_at_start = 0;  // of the kernel's arrays held in L2, summed over launches
  occupancy::Occupancy fit;
};

// A launch that was on the device when the run ended early.
struct CutOff {
  std::size_t record = 0;  // of the log
  std::int64_t blocks = 0, blocks_done = 0;
  result::Counters counters;
};

struct Happened {
  std::vector<KernelAccount> kernels;  // as in the scenario
  host::Log log;
  std::vector<CutOff> cut_off;
  unit::Time end;
  // How long the power limit and the limit of its short average kept the SM clock down.
  unit::Duration held_by_limit, held_by_peak;
  std::int64_t events = 0;
  device::Replay replay;  // what its launches did, for a run of the same kernels
  result::Outcome outcome = result::Outcome::Complete;
  std::string message;
};

// The SM clock, averaged over the time of the launches; the GPU's where there were none, or where
// it is held.
[[nodiscard]] unit::Hertz mean_clock(const gpu::GpuSpec& gpu, const Happened& happened);

// Asked every few thousand events with the events so far; a text ends the run with the outcome set.
using Stop = std::function<std::optional<std::string>(std::int64_t events,
                                                      result::Outcome& outcome)>;

// Events from one look at `stop` to the next, unless there is a reason to look more often.
inline constexpr std::int64_t kEventsBetweenLooks = 1 << 14;

// `known`: what launches did in another run with the same machine, kernels and way of simulating.
[[nodiscard]] Happened simulate(const scenario::Scenario& scenario, const Stop& stop,
                                const device::Replay* known = nullptr,
                                std::int64_t events_between_looks = kEventsBetweenLooks);

// Whether the two differ at most in what the host does, so that one's launches can stand for the
// other's.
[[nodiscard]] bool same_kernels_and_machine(const scenario::Scenario& a,
                                            const scenario::Scenario& b);

}  // namespace wavetail::run
