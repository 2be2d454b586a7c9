// SPDX-License-Identifier: Apache-2.0
// mbarriers: waits, arrivals, bytes that land. Arrivals come with the time at which they hold, so
// that a phase needs no event of its own: it is complete at the latest of them, and whoever waits
// is woken then.
#include <algorithm>
#include <bit>

#include "sm/sm.h"

namespace wavetail::sm {

const isa::MbarrierPlan& Sm::plan_of(const Phase& p) const {
  return blocks_[p.block].launch->codes->front().mbarriers[static_cast<std::size_t>(p.mbarrier)];
}

MbarrierStage& Sm::stage_of(const Phase& p) {
  const isa::MbarrierPlan& plan = plan_of(p);
  return sync_[p.block].stages[static_cast<std::size_t>(plan.first + p.nth % plan.stages)];
}

// try_wait: until the phase is complete. On an open barrier the first wait on a stage passes.
void Sm::mbarrier_wait(std::uint32_t slot, const Instr& instr, Turn& turn) {
  Warp& w = warps_[slot];
  AsyncWarp& a = async_[slot];
  const Phase phase{static_cast<std::uint32_t>(w.block), instr.mbarrier,
                    a.cursors[static_cast<std::size_t>(instr.mbarrier)].waits++};
  const isa::MbarrierPlan& plan = plan_of(phase);
  const auto round = phase.nth / static_cast<std::uint32_t>(plan.stages);
  const std::uint32_t needed = round + (plan.open ? 0 : 1);
  issue_now(slot, instr, turn);
  ++w.pc;
  MbarrierStage& s = stage_of(phase);
  const std::int64_t latency = surface_.gpu.mbarrier.latency.count();
  if (s.completed < needed) {
    s.waiters |= 1ULL << slot;
    a.object = instr.mbarrier;
    a.nth = phase.nth;
    block_async(slot, Reason::LongScoreboard, AsyncWarp::On::Mbarrier, turn);
    return;
  }
  std::int64_t known = turn.cycle;
  if (s.completed == needed && needed > 0) {
    known = std::max(known, surface_.clocks.sm.at_or_after(s.complete_at));
  }
  pass(slot, Reason::LongScoreboard, known + latency, latency, turn);
}

void Sm::mbarrier_arrive(std::uint32_t slot, const Instr& instr, Turn& turn) {
  Warp& w = warps_[slot];
  const auto block_slot = static_cast<std::uint32_t>(w.block);
  const std::uint32_t
      nth = async_[slot].cursors[static_cast<std::size_t>(instr.mbarrier)].arrivals++;
  issue_now(slot, instr, turn);
  std::int64_t arrived = turn.cycle;
  if (instr.count > 1) {  // lanes take turns at the word in shared memory
    arrived = lsu_.reserve(turn.cycle, instr.count).end;
    w.launch->counters.lsu_busy += instr.count;
    w.launch->counters.shared_busy += instr.count;
  }
  const Time at = surface_.clocks.sm.edge(arrived);
  const Party who{this, slot, w.pc++};
  const Block& b = blocks_[block_slot];
  if (instr.target == kAtBlock || b.cluster == kNoCluster) {
    arrive({block_slot, instr.mbarrier, nth}, 0, at, who);
    return;
  }
  const Cluster& c = surface_.clusters[b.cluster];
  const Time there = at + peer_latency(c) / 2;
  if (instr.target == kAtPair) {
    arrive_there(of_pair(block_slot, 0), {instr.mbarrier, nth, 0}, b.rank % 2 == 0 ? at : there,
                 who);
    return;
  }
  for (const ClusterMember& m : c.members) {
    const bool own = m.sm == number_ && m.block == block_slot;
    arrive_there(m, {instr.mbarrier, nth, 0}, own ? at : there, who);
  }
}

void Sm::arrive_there(const ClusterMember& m, const Arrival& a, Time at, const Party& who) {
  Sm& sm = surface_.sms[m.sm];
  const Block& b = sm.blocks_[m.block];
  if (b.placement != m.placement || b.launch == nullptr) { return; }
  sm.arrive({m.block, a.mbarrier, a.nth}, a.bytes_to_come, at, who);
}

// One arrival, which may announce bytes.
void Sm::arrive(const Phase& p, std::int64_t bytes_to_come, Time at, const Party& who) {
  const isa::MbarrierPlan& plan = plan_of(p);
  MbarrierStage& s = stage_of(p);
  const auto phase = p.nth / static_cast<std::uint32_t>(plan.stages);
  if (s.completed != phase || s.arrived >= plan.arrivals) {
    const std::string number = std::to_string(phase);
    who.sm->fault(who, "arrives for phase " + number +
                           (s.completed < phase ? " before the one before it is complete: "
                                                : ", which has all its arrivals already: ") +
                           describe(p));
    return;
  }
  ++s.arrived;
  s.missing += bytes_to_come;
  s.latest = std::max(s.latest, at);
  try_complete(p);
}

// Bytes of a box are in the block's shared memory.
void Sm::land(const Phase& p, std::uint64_t placement, std::int64_t bytes, Time at) {
  const Block& b = blocks_[p.block];
  if (b.launch == nullptr || b.placement != placement) { return; }  // it has left
  MbarrierStage& s = stage_of(p);
  const auto phase = p.nth / static_cast<std::uint32_t>(plan_of(p).stages);
  if (s.completed != phase) {
    if (surface_.fault.empty()) {
      surface_.fault = "kernel '" + b.launch->kernel->name + "', block " +
                       std::to_string(b.index[0]) + ": multicast data of tma_load for phase " +
                       std::to_string(phase) +
                       " land before the one before it is complete; who sends to a peer must wait "
                       "for an arrival of that peer: " +
                       describe(p);
    }
    return;
  }
  s.missing -= bytes;
  s.latest = std::max(s.latest, at);
  try_complete(p);
}

void Sm::try_complete(const Phase& p) {
  MbarrierStage& s = stage_of(p);
  if (s.arrived < plan_of(p).arrivals || s.missing != 0) { return; }
  check_consumed(p);
  ++s.completed;
  s.complete_at = s.latest;
  s.arrived = 0;
  s.latest = Time{};
  const Time open = std::max(
      surface_.wheel.now(), s.complete_at + surface_.clocks.sm.span(surface_.gpu.mbarrier.latency));
  for (std::uint64_t rest = s.waiters; rest != 0; rest &= rest - 1) {
    const auto slot = static_cast<std::uint32_t>(std::countr_zero(rest));
    async_[slot].on = AsyncWarp::On::Nothing;
  }
  schedule_wakes(s.waiters, open);
  s.waiters = 0;
}

// A wait sees whether one phase has passed, not two: whoever waits for this mbarrier must have come
// to its wait for the phase before.
void Sm::check_consumed(const Phase& p) {
  const isa::MbarrierPlan& plan = plan_of(p);
  const auto stages = static_cast<std::uint32_t>(plan.stages);
  const std::uint32_t phase = stage_of(p).completed;
  if (phase == 0) { return; }
  const std::uint32_t wait = (phase - (plan.open ? 0 : 1)) * stages + p.nth % stages;
  const Block& b = blocks_[p.block];
  for (const std::uint32_t slot : b.warps) {
    const Warp& w = warps_[slot];
    const auto& cursor = async_[slot].cursors[static_cast<std::size_t>(p.mbarrier)];
    const bool waits = ((w.code->waits_for >> p.mbarrier) & 1) != 0 || cursor.waits > 0;
    const bool ended = w.reason == Reason::Exit;
    if (waits && !ended && cursor.waits <= wait) {
      fault({this, slot, w.pc}, "has not come to its wait for phase " + std::to_string(phase - 1) +
                                    " when the next phase completes: " + describe(p));
      return;
    }
  }
}

// "mbarrier 'full' stage 2 phase 3 lacks 1 of 1 arrivals and 16384 bytes; role 'producer'
// (tma_load) completes it".
std::string Sm::describe(const Phase& p) const {
  const isa::MbarrierPlan& plan = plan_of(p);
  const auto stages = static_cast<std::uint32_t>(plan.stages);
  const MbarrierStage& s = sync_[p.block]
                               .stages[static_cast<std::size_t>(plan.first + p.nth % stages)];
  return "mbarrier '" + plan.name + "', stage " + std::to_string(p.nth % stages) + ", in phase " +
         std::to_string(s.completed) + ", lacks " + std::to_string(plan.arrivals - s.arrived) +
         " of " + std::to_string(plan.arrivals) + " arrivals and " + std::to_string(s.missing) +
         " bytes; " +
         (plan.released_by.empty() ? "no role arrives at it" : plan.released_by + " completes it");
}

}  // namespace wavetail::sm
