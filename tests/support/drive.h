// SPDX-License-Identifier: Apache-2.0
// Runs a scenario's machine in the open: tests see every launch's own counters and what is left in
// the caches, which the product's entrance adds up or forgets.
//
//   const Driven d = drive(scenario);   d.launches[0].counters.dram_read_bytes
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "device/machine.h"
#include "event/wheel.h"
#include "host/host.h"
#include "scenario/scenario.h"

namespace wavetail::tests {

struct DrivenLaunch {
  int kernel = -1;
  unit::Time started, ended;
  result::Counters counters;
  std::int64_t l2_bytes_at_start = 0;
  bool replayed = false;
  occupancy::Occupancy fit;
  std::int64_t skipped_waves = 0, skipped_trips = 0;

  [[nodiscard]] unit::Duration time() const { return ended - started; }
};

struct Driven {
  std::vector<DrivenLaunch> launches;  // in order of completion
  host::Log log;
  unit::Time end;
  std::int64_t events = 0;
  bool finished = false;
  std::int64_t l2_lines = 0, l2_dirty_sectors = 0;  // at the end
  std::size_t requests_under_way = 0;
  std::string fault;  // see device::Machine::fault()

  [[nodiscard]] unit::Duration kernel_time() const;
  [[nodiscard]] result::Counters total() const;
};

// A run that goes on as far as it is told.
class Session {
 public:
  // The scenario must outlive the session. Replay only where the timeline has one stream.
  explicit Session(const scenario::Scenario& scenario);

  // Handles up to `events` events; false when there are none left.
  bool go(std::int64_t events);

  [[nodiscard]] Driven result() const;

 private:
  event::Wheel wheel_;
  device::Machine machine_;
  Driven driven_;
  host::Host host_;
};

[[nodiscard]] Driven drive(const scenario::Scenario& scenario);

// Every counter by name, in one text: two runs are the same if their texts are.
[[nodiscard]] std::string text_of(const result::Counters& counters);
[[nodiscard]] std::string text_of(const Driven& driven);

}  // namespace wavetail::tests
