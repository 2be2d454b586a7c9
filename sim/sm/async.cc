// SPDX-License-Identifier: Apache-2.0
// What asynchronous instructions have in common: their dispatch, the ends of warps and blocks that
// have something under way, faults, and what hang reports say of them.
#include <algorithm>
#include <bit>

#include "sm/sm.h"

namespace wavetail::sm {

using event::Target;

void Sm::async_step(std::uint32_t slot, const Instr& instr, Turn& turn) {
  Warp& w = warps_[slot];
  switch (instr.kind) {
    case InstrKind::CpAsync: copy(slot, instr, turn); break;
    case InstrKind::CpAsyncCommit:
      issue_now(slot, instr, turn);
      ++w.pc;
      ++async_[slot].copies_open;
      complete_copies(slot);
      break;
    case InstrKind::CpAsyncWait: {
      issue_now(slot, instr, turn);
      ++w.pc;
      const AsyncWarp& a = async_[slot];
      // More groups than that are never under way.
      const auto left = static_cast<std::uint32_t>(
          std::min<std::int64_t>(instr.count, a.copies_open));
      if (left < AsyncWarp::kCopyGroups) { wait_copies(slot, a.copies_open - left, turn); }
      break;
    }
    case InstrKind::TmaLoad: tma_load(slot, instr, turn); break;
    case InstrKind::TmaStore: tma_store(slot, instr, turn); break;
    case InstrKind::TmaStoreWait: tma_store_wait(slot, instr, turn); break;
    case InstrKind::MbarrierWait: mbarrier_wait(slot, instr, turn); break;
    case InstrKind::MbarrierArrive: mbarrier_arrive(slot, instr, turn); break;
    case InstrKind::Wgmma: wgmma(slot, instr, turn); break;
    case InstrKind::WgmmaWait:
      issue_now(slot, instr, turn);
      ++w.pc;
      wgmma_wait(slot, instr.count, turn);
      break;
    case InstrKind::Mma: mma(slot, instr, turn); break;
    case InstrKind::Tcgen05Mma:
    case InstrKind::Tcgen05Copy:
    case InstrKind::Tcgen05Commit:
    case InstrKind::Tcgen05Load:
    case InstrKind::Tcgen05Store:
    case InstrKind::Tcgen05Wait: tcgen05_step(slot, instr, turn); break;
    case InstrKind::NamedBarrier: numbered_barrier(slot, instr, turn); break;
    case InstrKind::ClusterBarrier: cluster_barrier(slot, instr, turn); break;
    case InstrKind::PeerLoad:
    case InstrKind::PeerStore: peer_access(slot, instr, turn); break;
    default:
      issue_now(slot, instr, turn);
      ++w.pc;
      break;
  }
}

void Sm::prepare_async(std::uint32_t block_slot) {
  if (async_.empty()) {
    async_.resize(warps_.size());
    sync_.resize(blocks_.size());
  }
  const Block& b = blocks_[block_slot];
  BlockSync& s = sync_[block_slot];
  s = BlockSync{};
  std::int64_t stages = 0;
  for (const auto& plan : b.launch->codes->front().mbarriers) { stages += plan.stages; }
  s.stages.resize(static_cast<std::size_t>(stages));
}

void Sm::join_cluster(std::uint32_t block_slot, std::uint32_t cluster) {
  Block& b = blocks_[block_slot];
  b.cluster = cluster;
  b.rank = 0;
  if (cluster == kNoCluster) { return; }
  Cluster& c = surface_.clusters[cluster];
  b.rank = static_cast<std::int64_t>(c.members.size());
  c.members.push_back({number_, block_slot, b.placement, rank_at(c.extent, b.rank)});
  ++c.live;
  c.running += b.running;
}

// Warps that wake at the same time share an event: those of a phase, and those of a warpgroup.
void Sm::schedule_wakes(std::uint64_t slots, Time at) {
  if (slots == 0) { return; }
  if (newest_wake_ != kNoWake && newest_wake_at_ == at) {
    wake_masks_[newest_wake_] |= slots;
    return;
  }
  if (free_wake_masks_.empty()) {
    free_wake_masks_.push_back(static_cast<std::uint32_t>(wake_masks_.size()));
    wake_masks_.push_back(0);
  }
  newest_wake_ = free_wake_masks_.back();
  newest_wake_at_ = at;
  free_wake_masks_.pop_back();
  wake_masks_[newest_wake_] = slots;
  surface_.wheel.schedule(
      {at, Target::Sm, static_cast<std::uint8_t>(SmEvent::WakeMany), number_, newest_wake_});
}

void Sm::wake_many(std::uint32_t mask) {
  const std::uint64_t slots = wake_masks_[mask];
  free_wake_masks_.push_back(mask);
  if (newest_wake_ == mask) { newest_wake_ = kNoWake; }
  for (std::uint64_t rest = slots; rest != 0; rest &= rest - 1) {
    wake(static_cast<std::uint32_t>(std::countr_zero(rest)));
  }
}

void Sm::prefetch_many(std::uint32_t mask) const {
  for (std::uint64_t rest = wake_masks_[mask]; rest != 0; rest &= rest - 1) {
    const auto slot = static_cast<std::size_t>(std::countr_zero(rest));
    __builtin_prefetch(&warps_[slot]);
    __builtin_prefetch(&async_[slot]);
  }
}

// As proceed(), and within a quantum of more than one instruction the warp keeps its turn over
// `short_wait` cycles in any case; a longer wait shares its event with warps that wake with it.
void Sm::pass(std::uint32_t slot, Reason reason, std::int64_t until, std::int64_t short_wait,
              Turn& turn) {
  if (surface_.issue_quantum == 1 || until - turn.cycle <= turn.budget) {
    proceed(slot, reason, until, turn);
    return;
  }
  Warp& w = warps_[slot];
  if (until - turn.cycle <= short_wait) {
    bucket(w.launch->counters.stalls, reason) += until - turn.cycle;
    turn.cycle = until;
    w.since = until;
    return;
  }
  block_on(slot, reason, turn.cycle, turn);
  schedule_wakes(1ULL << slot, surface_.clocks.sm.edge(until));
}

// The warp waits for a party that the hang report can name.
void Sm::block_async(std::uint32_t slot, Reason reason, AsyncWarp::On on, Turn& turn) {
  async_[slot].on = on;
  block_on(slot, reason, turn.cycle, turn);
}

// At its end a warp waits for its own copies and tensor groups.
bool Sm::async_done(std::uint32_t slot, Turn& turn) {
  AsyncWarp& a = async_[slot];
  if (a.copies[a.copies_open % AsyncWarp::kCopyGroups].outstanding > 0) { ++a.copies_open; }
  wait_copies(slot, a.copies_open, turn);
  if (!turn.over) { wgmma_wait(slot, 0, turn); }
  if (!turn.over) {
    proceed(slot, Reason::Gmma, std::max({a.tcgen05_done, a.tmem_done[0], a.tmem_done[1]}), turn);
  }
  if (turn.over) { return false; }
  Block& b = blocks_[static_cast<std::size_t>(warps_[slot].block)];
  if (b.cluster != kNoCluster) {
    Cluster& c = surface_.clusters[b.cluster];
    --c.running;
    c.latest = std::max(c.latest, turn.cycle);
    if (c.arrived > 0 && c.arrived == c.running) { complete_cluster(c); }
  }
  return true;
}

// The block's last warp is at its end; its slot is free when its boxes are done as well.
void Sm::end_block(std::uint32_t block_slot) {
  Block& b = blocks_[block_slot];
  if (b.launch->codes->front().asynchronous) {
    BlockSync& s = sync_[block_slot];
    s.ended = s.bulk_under_way > 0;
    if (s.ended) { return; }
    drain(b, surface_.clocks.sm.at_or_after(s.bulk_done_at));
  }
  const Time free = surface_.clocks.sm.edge(b.latest) + surface_.gpu.launch.block_exit;
  surface_.wheel.schedule(
      {std::max(free, surface_.wheel.now()), Target::Device, kBlockFree, number_, block_slot});
}

// The block's boxes keep it until `cycle`.
void Sm::drain(Block& block, std::int64_t cycle) {
  if (cycle <= block.latest) { return; }
  Warp& last = warps_[block.warps.front()];
  const std::int64_t from = std::max(last.since, block.latest);
  if (cycle > from) {
    book(last, from);
    last.reason = Reason::Drain;
    book(last, cycle);
    last.reason = Reason::Exit;
  }
  block.latest = cycle;
}

// It is known when a piece of a box that the block asked for is done: at `at`.
void Sm::bulk_done(std::uint32_t block_slot, Time at) {
  BlockSync& s = sync_[block_slot];
  s.bulk_done_at = std::max(s.bulk_done_at, at);
  if (--s.bulk_under_way == 0 && s.ended) { end_block(block_slot); }
}

// The first fault is kept: the run stops at it.
void Sm::fault(const Party& who, const std::string& what) const {
  if (!surface_.fault.empty()) { return; }
  const Warp& w = warps_[who.slot];
  surface_.fault = place_of(w) + ": " + w.code->operations[static_cast<std::size_t>(who.pc)] +
                   " at instruction " + std::to_string(who.pc) + " " + what;
}

bool Sm::waits_elsewhere(std::size_t slot) const {
  return warps_[slot].code->asynchronous && async_[slot].on != AsyncWarp::On::Nothing;
}

// "mbarrier_wait at instruction 1 on mbarrier ...": the instruction before the one to come.
std::string Sm::waits_for(std::size_t slot) const {
  const Warp& w = warps_[slot];
  const AsyncWarp& a = async_[slot];
  const auto block_slot = static_cast<std::uint32_t>(w.block);
  const auto at = [&](std::int32_t pc) {
    return w.code->operations[static_cast<std::size_t>(pc)] + " at instruction " +
           std::to_string(pc);
  };
  switch (a.on) {
    case AsyncWarp::On::Nothing: return {};
    case AsyncWarp::On::Mbarrier:
      return at(w.pc - 1) + " waits on " + describe({block_slot, a.object, a.nth});
    case AsyncWarp::On::Copies: return at(w.pc) + ": copies have not landed";
    case AsyncWarp::On::Stores: return at(w.pc - 1) + ": boxes have not left";
    case AsyncWarp::On::Numbered: {
      const auto& n = sync_[block_slot].numbered[static_cast<std::size_t>(a.object)];
      return at(w.pc - 1) + " waits on barrier " + std::to_string(a.object) + ", at which " +
             std::to_string(n.arrived) + " of " + std::to_string(n.expected) +
             " warps have arrived";
    }
    case AsyncWarp::On::Cluster: {
      const Cluster& c = surface_.clusters[blocks_[block_slot].cluster];
      return at(w.pc - 1) + ": " + std::to_string(c.arrived) + " of " + std::to_string(c.running) +
             " warps of the cluster have arrived";
    }
  }
  return {};
}

}  // namespace wavetail::sm
