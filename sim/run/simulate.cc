// SPDX-License-Identifier: Apache-2.0
#include "run/simulate.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "device/machine.h"
#include "event/wheel.h"
#include "host/host.h"

namespace wavetail::run {

using event::Event;
using event::Target;
using result::Outcome;

namespace {

constexpr std::size_t kHangLines = 12;

void collect_streams(const std::vector<host::Item>& items, std::set<int>& streams) {
  for (const host::Item& item : items) {
    if (item.kind == host::ItemKind::Launch || item.kind == host::ItemKind::Graph) {
      streams.insert(item.stream);
    } else {
      collect_streams(item.body, streams);
    }
  }
}

// Launches of one stream never overlap: only then can one be answered from memory.
bool single_stream(const host::Timeline& timeline) {
  std::set<int> streams;
  collect_streams(timeline.items, streams);
  return streams.size() <= 1;
}

void set_initial_l2(const scenario::Scenario& s, device::Machine& machine) {
  machine.memory().l2().set_aside(s.persisting_l2.count() / memory::kLineBytes);
  if (s.initial_l2 != scenario::InitialL2::Empty) {
    machine.memory().l2().fill_with_strangers(s.initial_l2 == scenario::InitialL2::Dirty);
  }
}

void add(KernelAccount& account, const sm::Launch& launch) {
  ++account.launches;
  account.replayed += launch.replayed ? 1 : 0;
  account.skipped_trips += launch.skipped_trips;
  account.skipped_waves += launch.skipped_waves;
  account.time += launch.ended - launch.started;
  account.cycles += launch.cycles;
  account.energy += launch.energy;
  account.counters += launch.counters;
  const auto reached = std::count_if(launch.presence.begin(), launch.presence.end(),
                                     [](const sm::Presence& p) { return p.reached; });
  account.sms_reached = std::max<std::int64_t>(account.sms_reached, reached);
  account.l2_bytes_at_start += launch.l2_bytes_at_start;
}

// Simulating is waiting for the host's memory: what the next events will touch is asked for early.
void look_ahead(const event::Wheel& wheel, const device::Machine& machine) {
  const auto upcoming = wheel.upcoming();
  if (wheel.slot_just_opened()) {
    for (const Event& next : upcoming) { machine.prefetch(next); }
  } else if (!upcoming.empty()) {
    machine.prefetch_further(upcoming.front());
  }
}

std::string hang_report(const device::Machine& machine) {
  std::string text = "nothing can happen any more, and this still waits:";
  for (const std::string& line : machine.waiting(kHangLines)) { text += "\n  " + line; }
  return text;
}

std::vector<CutOff> cut_off(const host::Host& host) {
  std::vector<CutOff> all;
  for (const auto& [record, launch] : host.running()) {
    const std::int64_t blocks = launch->kernel->duration ? 0 : launch->blocks;
    all.push_back({record, blocks, launch->retired, launch->counters});
  }
  return all;
}

device::MachineOptions options_of(const scenario::Scenario& scenario) {
  const bool alone = single_stream(scenario.timeline);
  return {.issue_quantum = scenario.simulation.issue_quantum,
          .seed = scenario.simulation.seed,
          .replay = scenario.simulation.replay && alone,
          .replay_within = scenario.simulation.replay_within,
          .skip_waves = alone ? scenario.simulation.skip_waves : 0,
          .busy = scenario.busy_board};
}

}  // namespace

bool same_kernels_and_machine(const scenario::Scenario& a, const scenario::Scenario& b) {
  return a.gpu == b.gpu && a.kernels == b.kernels && a.initial_l2 == b.initial_l2 &&
         a.persisting_l2 == b.persisting_l2 && a.busy_board == b.busy_board &&
         a.simulation.issue_quantum == b.simulation.issue_quantum &&
         a.simulation.skip_waves == b.simulation.skip_waves &&
         a.simulation.seed == b.simulation.seed;
}

unit::Hertz mean_clock(const gpu::GpuSpec& gpu, const Happened& happened) {
  std::int64_t cycles = 0;
  unit::Duration time;
  for (const KernelAccount& account : happened.kernels) {
    cycles += account.cycles;
    time += account.time;
  }
  const bool moved = (happened.held_by_limit + happened.held_by_peak).count() > 0;
  if (!moved || time.count() <= 0) { return gpu.sm_clock(); }
  return unit::Hertz{std::llround(static_cast<double>(cycles) / unit::seconds(time))};
}

Happened simulate(const scenario::Scenario& scenario, const Stop& stop, const device::Replay* known,
                  std::int64_t events_between_looks) {
  Happened happened;
  happened.kernels.resize(scenario.kernels.size());
  event::Wheel wheel;
  device::MachineOptions options = options_of(scenario);
  options.give_up = [&](std::int64_t apart) {
    result::Outcome unused{};
    return stop(wheel.popped() + apart, unused).has_value();
  };
  device::Machine machine(scenario.gpu, wheel, options);
  if (known != nullptr) { machine.replay() = *known; }
  set_initial_l2(scenario, machine);
  host::Host host(scenario.gpu, scenario.kernels.all(), scenario.timeline, wheel, machine,
                  [&](const sm::Launch& launch, const host::LaunchRecord& record) {
                    add(happened.kernels[static_cast<std::size_t>(record.kernel)], launch);
                  });
  host.begin();
  Event e;
  std::int64_t until_check = 0;
  while (wheel.pop(e)) {
    look_ahead(wheel, machine);
    if (e.target == Target::Host) {
      host.handle(e);
    } else {
      machine.handle(e);
    }
    if (--until_check < 0) {
      until_check = events_between_looks - 1;
      if (!machine.fault().empty()) { break; }
      if (auto why = stop(wheel.popped() + machine.events_apart(), happened.outcome)) {
        happened.message = *why;
        break;
      }
    }
  }
  if (!machine.fault().empty()) {
    happened.outcome = Outcome::Hang;
    happened.message = machine.fault();
  } else if (happened.outcome == Outcome::Complete && !host.finished()) {
    happened.outcome = Outcome::Hang;
    happened.message = hang_report(machine);
  }
  for (std::size_t k = 0; k < scenario.kernels.size(); ++k) {
    happened.kernels[k].fit = host.fit(static_cast<int>(k));
  }
  happened.log = host.log();
  happened.cut_off = cut_off(host);
  happened.end = happened.outcome == Outcome::Complete ? host.end() : wheel.now();
  happened.held_by_limit = machine.power().held_by_limit();
  happened.held_by_peak = machine.power().held_by_peak();
  happened.events = wheel.popped() + machine.events_apart();
  happened.replay = std::move(machine.replay());
  return happened;
}

}  // namespace wavetail::run
