// SPDX-License-Identifier: Apache-2.0
#include "sm/sm.h"

#include <algorithm>
#include <bit>
#include <cmath>

namespace wavetail::sm {

using event::Event;
using event::Target;
using unit::Cycles;
using unit::Duration;

Sm::Sm(Surface& surface, std::uint16_t number)
    : surface_(surface),
      number_(number),
      schedulers_(static_cast<std::size_t>(surface.gpu.sm.schedulers)),
      warps_(static_cast<std::size_t>(surface.gpu.sm.max_warps)),
      blocks_(static_cast<std::size_t>(surface.gpu.sm.max_blocks)),
      free_shared_memory_(surface.gpu.sm.shared_memory.count()),
      line_credit_(surface.gpu.l1.in_flight_lines),
      store_credit_(surface.gpu.l1.store_lines),
      waits_for_stores_(surface.gpu.store_acknowledgement.latency.count() > 0),
      tma_(static_cast<std::size_t>(surface.gpu.tma.boxes)),
      tma_request_(std::llround(surface.gpu.tma.request * isa::kThousandths)) {
  for (std::size_t slot = 0; slot < warps_.size(); ++slot) {
    home_.push_back(static_cast<std::uint8_t>(slot % schedulers_.size()));
  }
  for (Scheduler& s : schedulers_) {
    s.free_registers = surface.gpu.sm.registers / surface.gpu.sm.schedulers;
    s.free_warps = surface.gpu.sm.max_warps / surface.gpu.sm.schedulers;
  }
}

// Warps go to the sub-partition with the most room, one after the other.
bool Sm::fits(const Launch& launch) const {
  if (launch.presence[number_].blocks >= launch.fit.blocks_per_sm ||
      resident_blocks_ >= surface_.gpu.sm.max_blocks ||
      free_shared_memory_ < launch.shared_memory_per_block) {
    return false;
  }
  std::int64_t room = 0;
  for (const Scheduler& s : schedulers_) {
    const std::int64_t by_registers = launch.registers_per_warp > 0
                                          ? s.free_registers / launch.registers_per_warp
                                          : s.free_warps;
    room += std::min(s.free_warps, by_registers);
  }
  return room >= launch.fit.warps_per_block;
}

// A kernel's first block on an idle SM finds L1 empty and sized by the kernel's shared-memory
// carve-out.
void Sm::prepare_l1(const Launch& launch) {
  if (l1_owner_ != launch.id && resident_blocks_ == 0) {
    surface_.memory.resize_l1(number_, launch.fit.l1.count() / memory::kLineBytes);
    l1_owner_ = launch.id;
  }
}

void Sm::place(Launch& launch, std::int64_t block, std::uint32_t cluster) {
  prepare_l1(launch);
  const Time now = surface_.wheel.now();
  auto free = std::find_if(blocks_.begin(), blocks_.end(),
                           [](const Block& b) { return b.launch == nullptr; });
  free->launch = &launch;
  free->index = block_at(*launch.kernel, block);
  free->placement = placements_++;
  free->warps.clear();
  free->running = launch.fit.warps_per_block;
  free->at_barrier = 0;
  free->placed = free->latest = surface_.clocks.sm.at_or_after(now);
  Presence& here = launch.presence[number_];
  if (here.blocks++ == 0) {
    here.active_since = free->placed;
    here.reached = true;
  }
  ++resident_blocks_;
  free_shared_memory_ -= launch.shared_memory_per_block;
  ++launch.counters.blocks;
  launch.counters.warps += free->running;
  const auto block_slot = static_cast<std::uint32_t>(free - blocks_.begin());
  if (launch.codes->front().asynchronous) { prepare_async(block_slot); }
  join_cluster(block_slot, cluster);
  for (std::int64_t i = 0; i < free->running; ++i) {
    add_warp(*free, static_cast<std::int32_t>(block_slot), i, now);
  }
}

std::uint32_t Sm::free_warp_slot(std::int64_t registers) const {
  auto room = [&](const Scheduler& s) { return s.free_registers < registers ? -1 : s.free_warps; };
  std::size_t best = 0;
  for (std::size_t s = 1; s < schedulers_.size(); ++s) {
    if (room(schedulers_[s]) > room(schedulers_[best])) { best = s; }
  }
  std::size_t slot = best;
  while (warps_[slot].launch != nullptr) { slot += schedulers_.size(); }
  return static_cast<std::uint32_t>(slot);
}

// The launcher starts warps one after the other, SM-wide; each warp of a block takes some further
// set-up time that other blocks do not feel.
void Sm::add_warp(Block& block, std::int32_t block_slot, std::int64_t order, Time placed) {
  Launch& launch = *block.launch;
  const std::uint32_t slot = free_warp_slot(launch.registers_per_warp);
  Warp& w = warps_[slot];
  w = Warp{};
  if (!shared_scoreboards_.empty()) { shared_scoreboards_[slot].clear(); }
  w.launch = &launch;
  w.block = block_slot;
  std::int64_t index = order;
  while (index >= launch.kernel->roles[static_cast<std::size_t>(w.role)].warps) {
    index -= launch.kernel->roles[static_cast<std::size_t>(w.role)].warps;
    ++w.role;
  }
  w.index = index;
  const bool last = order + 1 == launch.fit.warps_per_block;
  w.code = last ? &launch.codes->back() : &(*launch.codes)[static_cast<std::size_t>(w.role)];
  w.since = block.placed;
  w.age = placed_++;
  if (w.code->partial_waits) { load_ready_.resize(warps_.size() * kMaxScoreboard); }
  if (w.code->shares) {
    shares_.resize(warps_.size());
    shares_[slot] = WarpShare{block.index, {}, cluster_of(*launch.kernel, block.index)};
  }
  if (w.code->asynchronous) {
    async_[slot] = AsyncWarp{};
    async_[slot].cursors.resize(w.code->mbarriers.size());
  }
  block.warps.push_back(slot);
  Scheduler& s = scheduler_of(slot);
  --s.free_warps;
  s.free_registers -= launch.registers_per_warp;
  const gpu::LaunchSpec& costs = surface_.gpu.launch;
  const Time launched = launcher_.reserve(placed + costs.block_start, costs.warp_start).end;
  schedule_wake(slot, launched + costs.warp_setup * (order + 1));
}

void Sm::schedule_wake(std::uint32_t slot, Time at) {
  surface_.wheel.schedule(
      {at, Target::Sm, static_cast<std::uint8_t>(SmEvent::Wake), number_, slot});
}

void Sm::handle(const Event& e) {
  constexpr auto kFirstNotice = static_cast<std::uint8_t>(memory::SmNotice::LoadsArrive);
  if (e.kind >= kFirstNotice) {
    switch (static_cast<memory::SmNotice>(e.kind)) {
      case memory::SmNotice::LoadsArrive: loads_arrive(e.a); break;
      case memory::SmNotice::StoresArrive: stores_arrive(e.a); break;
      case memory::SmNotice::BulkArrives: bulk_arrives(e.a); break;
      case memory::SmNotice::BulkStoreArrives: surface_.memory.bulk_store_arrives(e.a); break;
    }
    return;
  }
  switch (static_cast<SmEvent>(e.kind)) {
    case SmEvent::Wake: wake(e.a); break;
    case SmEvent::SlotFree: slot_free(e.a); break;
    case SmEvent::RunEnds: run_ends(e.a); break;
    case SmEvent::BulkOut: bulk_out(e.a); break;
    case SmEvent::PeerArrives: peer_arrives(e.a); break;
    case SmEvent::PeerReturned: peer_returned(e.a); break;
    case SmEvent::WakeMany: wake_many(e.a); break;
  }
}

// Books the cycles since the warp's last change on the reason it waited for.
void Sm::book(Warp& w, std::int64_t cycle) {
  bucket(w.launch->counters.stalls, w.reason) += cycle - w.since;
  w.since = cycle;
}

void Sm::wake(std::uint32_t slot) {
  // A turn may have carried the warp some cycles ahead of the event that ends its wait.
  const std::int64_t now = surface_.clocks.sm.at_or_after(surface_.wheel.now());
  const std::int64_t cycle = std::max(now, warps_[slot].since);
  book(warps_[slot], cycle);
  offer(slot, cycle);
}

// The warp is ready: it issues now, or waits for its turn.
void Sm::offer(std::uint32_t slot, std::int64_t cycle) {
  Scheduler& s = scheduler_of(slot);
  if (s.ahead.active) { settle(s, cycle); }
  warps_[slot].reason = Reason::NotSelected;
  if (s.ready == 0 && s.free_at <= cycle) {
    issue(slot, cycle);
    return;
  }
  s.ready |= 1ULL << slot;
  request_slot_event(s);
}

void Sm::request_slot_event(Scheduler& s) {
  if (s.ready != 0 && !s.slot_event_pending) {
    s.slot_event_pending = true;
    const auto number = static_cast<std::uint32_t>(&s - schedulers_.data());
    const Time at = std::max(surface_.clocks.sm.edge(s.free_at), surface_.wheel.now());
    surface_.wheel.schedule(
        {at, Target::Sm, static_cast<std::uint8_t>(SmEvent::SlotFree), number_, number});
  }
}

void Sm::slot_free(std::uint32_t scheduler) {
  Scheduler& s = schedulers_[scheduler];
  s.slot_event_pending = false;
  const std::int64_t now = surface_.clocks.sm.at_or_after(surface_.wheel.now());
  if (s.ready != 0 && s.free_at <= now) {
    const std::uint32_t slot = choose(s, surface_.gpu.sm.policy, warps_);
    const std::int64_t cycle = std::max(now, warps_[slot].since);
    s.ready &= ~(1ULL << slot);
    book(warps_[slot], cycle);
    issue(slot, cycle);
  }
  request_slot_event(s);
}

// Loads have reached the L2: it is known now when their data will be here.
void Sm::loads_arrive(std::uint32_t parcel) {
  for (const memory::System::Finished& f : surface_.memory.loads_arrive(parcel)) {
    if (f.lines > 0) { give_back(line_credit_, f.ready, f.lines); }
    if (f.sequence >= kCopySequence) {
      copy_known(f);
    } else {
      load_known(f.warp, f.sequence & (warps_[f.warp].code->scoreboard - 1), f.ready);
    }
  }
}

void Sm::load_known(std::uint32_t slot, std::uint32_t entry, Time ready) {
  Warp& w = warps_[slot];
  w.pending &= ~(1ULL << entry);
  note_ready(slot, entry, ready);
  if (w.blocking != 0 && (w.blocking & w.pending) == 0) { data_known(slot); }
}

// Whoever has stood in line for it is told when its share is there.
void Sm::give_back(event::Credit& credit, Time when, int lines) {
  credit.give_back(when, lines, [&](std::uint32_t waiting, Time granted) {
    warps_[waiting].credited = true;
    schedule_wake(waiting, std::max(granted, surface_.wheel.now()));
  });
}

// When the data of the scoreboard entry will be here.
void Sm::note_ready(std::uint32_t slot, std::uint32_t entry, Time ready) {
  Warp& w = warps_[slot];
  w.latest_data = std::max(w.latest_data, ready);
  if (w.code->partial_waits) { load_ready_[slot * kMaxScoreboard + entry] = ready; }
}

// When the last of the data of these entries, none of them pending, is here. The warp will wait for
// them now and need not again.
Time Sm::data_ready(std::uint32_t slot, std::uint64_t blocking) {
  Warp& w = warps_[slot];
  const std::uint64_t waited_for = w.unseen & blocking;
  w.unseen ^= waited_for;
  if (!w.code->partial_waits || w.unseen == 0) { return w.latest_data; }
  Time last;
  for (std::uint64_t rest = waited_for; rest != 0; rest &= rest - 1) {
    const auto entry = static_cast<std::size_t>(std::countr_zero(rest));
    last = std::max(last, load_ready_[slot * kMaxScoreboard + entry]);
  }
  return last;
}

// It is known when the warp has all it waits for. If that is within the cycles that a turn may run
// ahead of its event, it is offered to its scheduler at once.
void Sm::data_known(std::uint32_t slot) {
  Warp& w = warps_[slot];
  const Time now = surface_.wheel.now();
  const Time ready = std::max(now, data_ready(slot, w.blocking));
  w.blocking = 0;
  const std::int64_t cycle = surface_.clocks.sm.at_or_after(ready);
  if (cycle - surface_.clocks.sm.at_or_after(now) < surface_.issue_quantum) {
    const std::int64_t from = std::max(cycle, w.since);
    book(w, from);
    offer(slot, from);
  } else {
    schedule_wake(slot, ready);
  }
}

// Stores have reached the L2: it is known when it takes them.
void Sm::stores_arrive(std::uint32_t parcel) {
  for (const memory::System::Accepted& a : surface_.memory.stores_arrive(parcel)) {
    give_back(store_credit_, a.when, a.lines);
    if (waits_for_stores_) { acknowledge(a); }
  }
}

// One of the warp's stores is known to be taken.
void Sm::acknowledge(const memory::System::Accepted& store) {
  Warp& w = warps_[store.warp];
  w.acknowledged = std::max(w.acknowledged, store.acknowledged);
  if (--w.stores_under_way == 0 && w.reason == Reason::Drain) {
    schedule_wake(store.warp, std::max(w.acknowledged, surface_.wheel.now()));
  }
}

// Whether a warp at its end may go, as far as its stores are concerned; else its turn is over.
bool Sm::stores_acknowledged(std::uint32_t slot, Turn& turn) {
  if (!waits_for_stores_) { return true; }
  const Warp& w = warps_[slot];
  if (w.stores_under_way > 0) {
    block_on(slot, Reason::Drain, turn.cycle, turn);
    return false;
  }
  const std::int64_t cycle = surface_.clocks.sm.at_or_after(w.acknowledged);
  if (cycle <= turn.cycle) { return true; }
  pause(slot, Reason::Drain, turn.cycle, cycle, turn);
  return false;
}

Launch* Sm::retire(std::uint32_t block_slot) {
  Block& b = blocks_[block_slot];
  Launch& launch = *b.launch;
  const std::int64_t cycle = surface_.clocks.sm.at_or_after(surface_.wheel.now());
  for (const std::uint32_t slot : b.warps) {
    book(warps_[slot], cycle);
    warps_[slot].launch = nullptr;
    Scheduler& s = scheduler_of(slot);
    ++s.free_warps;
    s.free_registers += launch.registers_per_warp;
  }
  launch.counters.resident_warp_cycles += static_cast<std::int64_t>(b.warps.size()) *
                                          (cycle - b.placed);
  Presence& here = launch.presence[number_];
  if (--here.blocks == 0) { launch.counters.active_sm_cycles += cycle - here.active_since; }
  --resident_blocks_;
  free_shared_memory_ += launch.shared_memory_per_block;
  ++launch.retired;
  if (b.cluster != kNoCluster) { surface_.clusters.leave(b.cluster); }
  b.launch = nullptr;
  return &launch;
}

// Warps at their end wait for others of their block, which are in the list.
std::vector<std::string> Sm::waiting() const {
  std::vector<std::string> lines;
  for (std::size_t slot = 0; slot < warps_.size(); ++slot) {
    const Warp& w = warps_[slot];
    if (w.launch == nullptr || w.reason == Reason::Exit) { continue; }
    const Block& b = blocks_[static_cast<std::size_t>(w.block)];
    if (waits_elsewhere(slot)) {
      lines.push_back(place_of(w) + ": " + waits_for(slot) + " (" + std::string(name(w.reason)) +
                      ")");
      continue;
    }
    std::string line = place_of(w) + ": " + std::string(name(w.reason)) + " at instruction " +
                       std::to_string(w.pc);
    if (w.reason == Reason::Barrier) {
      line += "; " + std::to_string(b.at_barrier) + " of " + std::to_string(b.running) +
              " warps are at the barrier";
    }
    lines.push_back(line);
  }
  return lines;
}

// Which warp: kernel, block, role, number, SM.
std::string Sm::place_of(const Warp& w) const {
  const Block& b = blocks_[static_cast<std::size_t>(w.block)];
  const std::string& role = w.launch->kernel->roles[static_cast<std::size_t>(w.role)].name;
  return "kernel '" + w.launch->kernel->name + "', block " + std::to_string(b.index[0]) +
         ", role " + (role.empty() ? std::to_string(w.role) : "'" + role + "'") + ", warp " +
         std::to_string(w.index) + " (SM " + std::to_string(number_) + ")";
}

}  // namespace wavetail::sm
