// SPDX-License-Identifier: Apache-2.0
#include "device/machine.h"

#include <algorithm>
#include <cmath>

namespace wavetail::device {

using event::Event;
using event::Target;
using sm::Launch;
using unit::Duration;
using unit::Time;

namespace {

// Whether the event is about a request of loads or stores.
bool concerns_request(const Event& e) {
  return e.kind == static_cast<std::uint8_t>(memory::SmNotice::LoadsArrive) ||
         e.kind == static_cast<std::uint8_t>(memory::SmNotice::StoresArrive);
}

unit::Hertz mean_clock(const Launch& launch) {
  const double seconds = unit::seconds(std::max(launch.ended - launch.started, Duration{1}));
  return unit::Hertz{std::llround(static_cast<double>(launch.cycles) / seconds)};
}

}  // namespace

Duration time_per_block(const gpu::GpuSpec& gpu, unit::Hertz clock) {
  const double rate = gpu.launch.blocks_per_cycle * static_cast<double>(clock.count());
  return Duration{static_cast<std::int64_t>(std::ceil(1e12 / rate))};
}

Machine::Machine(const gpu::GpuSpec& gpu, event::Wheel& wheel, const MachineOptions& options)
    : gpu_(gpu),
      wheel_(wheel),
      options_(options),
      clocks_(gpu),
      memory_(gpu, clocks_, wheel, options.seed),
      surface_{gpu, clocks_, wheel, memory_, options.issue_quantum, options.seed},
      blocks_(gpu),
      dispatch_time_(time_per_block(gpu, gpu.sm_clock())),
      waves_(options.skip_waves),
      trips_(options.skip_waves),
      power_(gpu, options.busy) {
  for (std::int64_t n = 0; n < gpu.sms(); ++n) {
    sms_.emplace_back(surface_, static_cast<std::uint16_t>(n));
  }
  surface_.sms = sms_.data();
}

void Machine::start(Launch& launch) {
  launch.started = wheel_.now();
  if (power_.active()) { begin_metering(); }
  for (std::size_t a = 0; a < launch.array_base.size(); ++a) {
    const kernel::Array& array = launch.kernel->arrays[a];
    if (array.persisting) { memory_.l2().keep(launch.array_base[a], array.bytes.count()); }
  }
  launch.presence = std::vector<sm::Presence>(sms_.size());
  for (sm::Presence& p : launch.presence) {
    p.account.counters = &launch.counters;
    p.account.stores = &launch.stores;
  }
  resident_.push_back(&launch);
  if (launch.kernel->duration) {
    const Time end = wheel_.now() + *launch.kernel->duration;
    wheel_.schedule(
        {end, Target::Device, static_cast<std::uint8_t>(Kind::StandInDone), 0, launch.id});
    return;
  }
  const Replay::Held held = Replay::held(launch, memory_.l2());
  for (const memory::L2::Census& array : held) {
    launch.l2_bytes_at_start += array.lines * memory::kLineBytes;
  }
  if (options_.replay) {
    key_ = Replay::key(launch, memory_, held);
    replay_.settle(
        key_, {options_.replay_within, static_cast<double>(gpu_.sustained_bandwidth().count())});
    if (repeat(launch) || begin_long(launch)) { return; }
  }
  if (!power_.active()) {
    waves_.begin(launch);
    trips_.begin(launch);
  }
  blocks_.add(launch);
  dispatch();
}

void Machine::handle(const Event& e) {
  if (e.target == Target::Sm) {
    sms_[e.unit].handle(e);
    if (!draining_.empty()) { complete_drained(); }
  } else if (e.kind == sm::kBlockFree) {
    block_free(e.unit, e.a);
  } else if (e.kind == static_cast<std::uint8_t>(Kind::Dispatch)) {
    dispatch_pending_ = false;
    dispatch();
  } else if (e.kind == static_cast<std::uint8_t>(Kind::Drained)) {
    complete_drained();
  } else if (e.kind == static_cast<std::uint8_t>(Kind::Control)) {
    control();
  } else {
    const auto found = std::find_if(resident_.begin(), resident_.end(),
                                    [&](const Launch* l) { return l->id == e.a; });
    if (found == resident_.end()) { return; }  // its last tiles have ended, and it has
    if (e.kind == sm::kRoundEnded) {
      round_ended(**found);
    } else if (e.kind == sm::kTripsEnded) {
      trips_ended(**found);
    } else if (e.kind == static_cast<std::uint8_t>(Kind::LeftOutOver)) {
      retired(**found);
    } else {
      stand_in_done(found);
    }
  }
}

// A stated or replayed launch is over.
void Machine::stand_in_done(std::vector<Launch*>::iterator done) {
  Launch& launch = **done;
  if (!launch.replayed) {
    launch.ended = wheel_.now();
    launch.cycles = clocks_.sm.at_or_after(launch.ended) - clocks_.sm.at_or_after(launch.started);
    close_energy(launch);
  }
  resident_.erase(done);
  announce(launch);
}

void Machine::prefetch(const Event& e) const {
  if (e.target != Target::Sm) { return; }
  if (e.kind == static_cast<std::uint8_t>(sm::SmEvent::Wake)) {
    sms_[e.unit].prefetch(e.a);
  } else if (e.kind == static_cast<std::uint8_t>(sm::SmEvent::WakeMany)) {
    sms_[e.unit].prefetch_many(e.a);
  } else if (concerns_request(e)) {
    memory_.prefetch(e.a);
  }
}

void Machine::prefetch_further(const Event& e) const {
  if (e.target != Target::Sm) { return; }
  if (concerns_request(e)) {
    memory_.prefetch_tags(e.a);
    sms_[e.unit].prefetch(memory_.warp_of(e.a));
  } else if (e.kind == static_cast<std::uint8_t>(memory::SmNotice::BulkArrives) ||
             e.kind == static_cast<std::uint8_t>(memory::SmNotice::BulkStoreArrives)) {
    memory_.prefetch_bulk(e.a);
  }
}

// Places blocks as long as something fits and the block rate allows.
void Machine::dispatch() {
  while (blocks_.waiting() && !dispatch_pending_) {
    if (dispatcher_.free_at() > wheel_.now()) {
      dispatch_pending_ = true;
      wheel_.schedule(
          {dispatcher_.free_at(), Target::Device, static_cast<std::uint8_t>(Kind::Dispatch), 0, 0});
      return;
    }
    const BlockScheduler::Placement placement = blocks_.next(sms_);
    if (placement.launch == nullptr) { return; }
    Launch& launch = *placement.launch;
    std::int64_t block = placement.block;
    const std::uint32_t cluster = launch.cluster > 1 || launch.codes->front().cluster_barrier
                                      ? surface_.clusters.open(launch.kernel->cluster)
                                      : sm::kNoCluster;
    for (const std::uint16_t sm : placement.sms) {
      sms_[sm].place(launch, block++, cluster);
      dispatcher_.reserve(wheel_.now(), dispatch_time_);
    }
    blocks_.placed(placement);
  }
}

void Machine::block_free(std::uint16_t sm, std::uint32_t block_slot) {
  Launch& launch = *sms_[sm].retire(block_slot);
  blocks_.reopen(sm);
  if (launch.retired == launch.blocks) {
    all_retired(launch);
  } else if (waves_.wave() > 0 && launch.retired % waves_.wave() == 0 &&
             launch.skipped_waves == 0) {
    block_wave_ended(launch);
  }
  dispatch();
}

// Blocks that make a wave have left: those of whole waves to come may be left out.
void Machine::block_wave_ended(Launch& launch) {
  const std::int64_t left = (launch.blocks - launch.next_block) / waves_.wave();
  const std::int64_t waves = waves_.wave_ended(wheel_.now() + launch.left_out, counters_now(launch),
                                               left);
  const std::int64_t blocks = waves * waves_.wave();
  if (waves == 0 || !blocks_.leave_out(launch, blocks)) { return; }
  launch.retired += blocks;
  launch.skipped_waves = waves;
}

// The same of a kernel whose blocks loop over tiles: every one leaves out as many.
void Machine::round_ended(Launch& launch) {
  if (launch.skipped_waves > 0) { return; }
  sm::TileRounds& rounds = launch.rounds;
  const kernel::Kernel& k = *launch.kernel;
  const std::int64_t all = kernel::portions_of(k, kernel::clusters_of(k) - 1);
  const std::int64_t waves = waves_.wave_ended(wheel_.now() + launch.left_out, counters_now(launch),
                                               all - 1 - rounds.furthest);
  if (waves == 0) { return; }
  launch.skipped_waves = waves;
  rounds.jump_from = rounds.furthest;
  rounds.jump = waves;
}

// All warps go on behind trips that would pass as those before them did.
void Machine::trips_ended(Launch& launch) {
  sm::Sm::InLoops warps;
  for (const sm::Sm& sm : sms_) { sm.count_in_loops(launch, warps); }
  const auto from = trips_.trips_ended(launch, wheel_.now(), counters_now(launch), warps);
  if (!from) { return; }
  for (sm::Sm& sm : sms_) { sm.leave_out_trips(launch, *from); }
}

// The counters so far, as if everything ended now.
result::Counters Machine::counters_now(Launch& launch) const {
  result::Counters c = launch.counters;
  const std::int64_t cycle = clocks_.sm.at_or_after(wheel_.now());
  for (sm::Presence& p : launch.presence) {
    c.in_flight_byte_ps += p.account.in_flight.integral(wheel_.now());
    c.active_sm_cycles += p.blocks > 0 ? cycle - p.active_since : 0;
  }
  return c;
}

// What was skipped takes its time at the end.
void Machine::all_retired(Launch& launch) {
  if (launch.skipped_waves == 0 && launch.skipped_trips == 0) {
    retired(launch);
    return;
  }
  Time end = wheel_.now() + launch.left_out;
  if (launch.skipped_waves > 0) {
    const WaveSkip::Skipped skipped = waves_.skipped(launch);
    launch.counters += skipped.counters;
    end = end + skipped.time;
  }
  wheel_.schedule(
      {end, Target::Device, static_cast<std::uint8_t>(Kind::LeftOutOver), 0, launch.id});
}

// The launch's time ends with its last block; it is complete, and what waits for it may start, when
// its stores have reached L2 as well.
void Machine::retired(Launch& launch) {
  launch.ended = wheel_.now();
  close_account(launch);
  draining_.push_back(&launch);
  complete_drained();
}

void Machine::complete_drained() {
  for (std::size_t i = 0; i < draining_.size();) {
    Launch& launch = *draining_[i];
    const bool all_arrived = launch.stores.under_way == 0;
    if (all_arrived && launch.stores.taken <= wheel_.now()) {
      draining_.erase(draining_.begin() + static_cast<std::ptrdiff_t>(i));
      complete(launch);
      continue;
    }
    if (all_arrived && !launch.end_known) {
      launch.end_known = true;
      wheel_.schedule(
          {launch.stores.taken, Target::Device, static_cast<std::uint8_t>(Kind::Drained), 0, 0});
    }
    ++i;
  }
}

void Machine::complete(Launch& launch) {
  memory_.write_back_private(wheel_.now(), launch.counters);
  close_energy(launch);
  resident_.erase(std::find(resident_.begin(), resident_.end(), &launch));
  if (options_.replay) {
    replay_.remember(key_, launch, wheel_.now(), memory_.l2(), mean_clock(launch));
  }
  announce(launch);
}

// Sums that are kept per SM, and the slots in which nothing was issued.
void Machine::close_account(Launch& launch) {
  result::Counters& c = launch.counters;
  std::int64_t reached = 0;
  for (sm::Presence& p : launch.presence) {
    c.in_flight_byte_ps += p.account.in_flight.integral(launch.ended);
    reached += p.reached ? 1 : 0;
  }
  const std::int64_t cycles = clocks_.sm.at_or_after(launch.ended) -
                              clocks_.sm.at_or_after(launch.started);
  launch.cycles = cycles;
  const std::int64_t slots = gpu_.sm.schedulers;
  c.slots.issued = c.stalls.selected;
  c.slots.stalled = slots * c.active_sm_cycles - c.stalls.selected;
  c.slots.no_warp = slots * (reached * cycles - c.active_sm_cycles);
  c.slots.not_reached = slots * (gpu_.sms() - reached) * cycles;
}

void Machine::announce(const Launch& launch) {
  wheel_.schedule({wheel_.now(), Target::Host, kKernelDone, 0, launch.id});
}

std::vector<std::string> Machine::waiting(std::size_t limit) const {
  std::vector<std::string> lines;
  for (const Launch* l : resident_) {
    if (l->next_block < l->blocks) {
      lines.push_back("kernel '" + l->kernel->name +
                      "': " + std::to_string(l->blocks - l->next_block) + " of " +
                      std::to_string(l->blocks) + " blocks have found no SM with room");
    }
  }
  for (const sm::Sm& sm : sms_) {
    for (std::string& line : sm.waiting()) {
      if (lines.size() < limit) { lines.push_back(std::move(line)); }
    }
  }
  return lines;
}

}  // namespace wavetail::device
