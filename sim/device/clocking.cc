// SPDX-License-Identifier: Apache-2.0
// The machine under power control: metering what its launches spend, changing the SM clock, and
// answering launches that are known at other clocks. Whatever counts cycles counts on in cycles of
// the new length; what is stated in time, the clock of L2 and DRAM stay as they are.
#include <algorithm>
#include <cmath>

#include "device/energy.h"
#include "device/machine.h"
#include "device/pace.h"

namespace wavetail::device {

using event::Event;
using event::Target;
using sm::Launch;
using unit::Duration;
using unit::Hertz;
using unit::Time;

namespace {

constexpr std::int64_t kEventsBetweenLooks = 1 << 14;

// Without DRAM that is slower or a limit that is tighter than any, three simulations are enough.
// The times of long launches at different clocks differ by chance, too, and more points would
// follow that.
constexpr int kMostRehearsals = 12, kMostOfLong = 2, kFirstOfLong = 1;

result::Work work_of_launch(const gpu::GpuSpec& gpu, const Launch& launch) {
  return work_of(gpu, launch.counters, launch.kernel->randomness);
}

}  // namespace

// A launch starts: the time since the last one was idle.
void Machine::begin_metering() {
  if (wheel_.now() > metered_until_) { meter(); }
  if (power_.clock() != clocks_.sm.frequency()) { set_clock(power_.clock()); }
  if (!control_pending_) {
    control_pending_ = true;
    wheel_.schedule({wheel_.now() + power_.until_decision(), Target::Device,
                     static_cast<std::uint8_t>(Kind::Control), 0, 0});
  }
}

// While a replayed launch is on the device, the time is metered until its end already.
void Machine::control() {
  control_pending_ = false;
  if (wheel_.now() > metered_until_) { meter(); }
  if (!resident_.empty()) { begin_metering(); }
}

// Tells the power control what launches have spent since the last time.
void Machine::meter() {
  double core = 0, dram = 0;
  for (Launch* launch : resident_) {
    if (launch->replayed) { continue; }
    const result::Work all = work_of_launch(gpu_, *launch);
    result::Work work = all;
    work -= launch->metered;
    launch->metered = all;
    launch->energy.add(work, power_.scale());
    launch->spent.push_back({wheel_.now() - metered_until_, work.core(), work.dram});
    core += static_cast<double>(work.core()) * power_.scale();
    dram += static_cast<double>(work.dram);
  }
  power_.spend(wheel_.now() - metered_until_, core, dram);
  metered_until_ = wheel_.now();
  if (power_.clock() != clocks_.sm.frequency()) { set_clock(power_.clock()); }
}

void Machine::set_clock(Hertz clock) {
  clocks_.sm.change(wheel_.now(), clock);
  memory_.follow(clocks_);
  dispatch_time_ = time_per_block(gpu_, clock);
}

// A launch is complete; what its last stores have cost is its own.
void Machine::close_energy(Launch& launch) {
  const double idle = gpu_.power.energy.static_watts;
  if (idle <= 0) { return; }
  if (!power_.active()) {
    launch.energy.add(work_of_launch(gpu_, launch), energy_scale(gpu_, gpu_.sm_clock()));
  } else if (wheel_.now() > metered_until_) {
    meter();
  }
  launch.energy.idle = idle * unit::seconds(launch.ended - launch.started);
}

// Answers the launch from earlier ones, if there are any.
bool Machine::repeat(Launch& launch) {
  const Hertz clock = clocks_.sm.frequency();
  if (replay_.points(key_).empty()) { return false; }
  if (power_.active()) {
    repeat_paced(launch, is_long(launch) ? kMostOfLong : kMostRehearsals);
  } else {
    const auto repeated = replay_.repeat(key_, launch, memory_.l2(), clock);
    launch.ended = wheel_.now() + repeated->duration;
    launch.cycles = clocks_.sm.at_or_after(launch.ended) - clocks_.sm.at_or_after(launch.started);
    close_energy(launch);
    finish_at(launch, repeated->drain);
  }
  return true;
}

// Its time follows the clock, which follows what it spends; both are gone through ahead of the
// events. Where the clock leaves the simulated ones, the launch is simulated at one more, until
// there are `most` simulations.
void Machine::repeat_paced(Launch& launch, int most) {
  PowerControl after = power_;
  const result::Work work = work_of(gpu_,
                                    Replay::nearest(replay_.points(key_), power_.clock()).counters,
                                    launch.kernel->randomness);
  Pace paced = pace(after, work, replay_.profile(key_), replay_.points(key_));
  for (auto n = static_cast<int>(replay_.points(key_).size()); n < most; ++n) {
    const auto missing = missing_clock(replay_.points(key_), paced.lowest, paced.highest);
    if (!missing) { break; }
    const Hertz at = std::clamp(*missing, power_.lowest(), gpu_.clock.sm_max);
    if (!rehearse(launch, at)) { break; }  // given up
    after = power_;
    paced = pace(after, work, replay_.profile(key_), replay_.points(key_));
  }
  power_ = after;
  const auto mean = Hertz{std::llround(paced.cycles / unit::seconds(paced.duration))};
  const auto repeated = replay_.repeat(key_, launch, memory_.l2(), mean);
  launch.ended = wheel_.now() + paced.duration;
  launch.cycles = std::llround(paced.cycles);
  launch.energy = paced.energy;
  launch.energy.idle = power_.static_watts() * unit::seconds(paced.duration);
  metered_until_ = launch.ended;
  finish_at(launch, repeated->drain);
}

// A replayed launch ends at `ended`, and is complete when its stores have drained.
void Machine::finish_at(Launch& launch, Duration drain) {
  launch.replayed = true;
  wheel_.schedule({launch.ended + drain, Target::Device,
                   static_cast<std::uint8_t>(Kind::StandInDone), 0, launch.id});
}

bool Machine::is_long(const Launch& launch) const {
  return options_.skip_waves > 0 &&
         (WaveSkip::has_many_waves(launch) || TripSkip::has_long_loops(launch));
}

// A long launch whose steady waves may be left out is simulated at clocks that are held, and goes
// on as one that is known. Returns whether it does.
bool Machine::begin_long(Launch& launch) {
  if (!power_.active() || !is_long(launch)) { return false; }
  if (!rehearse(launch, clocks_.sm.frequency())) { return false; }
  repeat_paced(launch, kFirstOfLong);
  return true;
}

// Simulates the launch at a clock that is held, on a machine of its own whose L2 holds what this
// one's does, and remembers it. Returns whether it came to its end.
bool Machine::rehearse(const Launch& launch, Hertz clock) {
  gpu::GpuSpec held = gpu_;
  held.clock.mode = gpu::ClockMode::Spec;
  held.clock.sm = clock;
  event::Wheel wheel;
  MachineOptions options = options_;
  options.replay = false;
  Machine apart(held, wheel, options);
  apart.memory_.l2() = memory_.l2();
  apart.memory_.l2().land();
  Launch again = launch;
  apart.start(again);
  Event e;
  Time complete;
  while (wheel.pop(e)) {
    if (wheel.popped() % kEventsBetweenLooks == 0 && options_.give_up &&
        options_.give_up(events_apart_ + wheel.popped())) {
      events_apart_ += wheel.popped();
      return false;
    }
    if (e.target == Target::Host) {
      complete = wheel.now();
    } else {
      apart.handle(e);
    }
  }
  events_apart_ += wheel.popped();
  if (!apart.fault().empty() || complete < again.ended || complete == Time{}) { return false; }
  if (replay_.points(key_).empty()) {
    const result::Work work = work_of_launch(gpu_, again);
    again.spent = {{again.ended - again.started, work.core(), work.dram}};
    replay_.remember(key_, again, complete, apart.memory_.l2(), clock);
  } else {
    replay_.add(key_,
                {clock, {again.ended - again.started, complete - again.ended}, again.counters});
  }
  return true;
}

}  // namespace wavetail::device
