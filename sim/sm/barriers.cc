// SPDX-License-Identifier: Apache-2.0
// Numbered barriers of a block and the barrier of a cluster.
#include <algorithm>
#include <bit>

#include "sm/sm.h"

namespace wavetail::sm {

// bar.sync waits for as many warps as it says, itself included; bar.arrive only counts.
void Sm::numbered_barrier(std::uint32_t slot, const Instr& instr, Turn& turn) {
  Warp& w = warps_[slot];
  const kernel::BarrierUse& use = w.code->barriers[static_cast<std::size_t>(instr.object)];
  issue_now(slot, instr, turn);
  ++w.pc;
  auto& numbered = sync_[static_cast<std::size_t>(w.block)].numbered;
  NumberedBarrier& n = numbered[static_cast<std::size_t>(use.id)];
  n.expected = use.warps;
  n.latest = std::max(n.latest, turn.cycle);
  const bool waits = use.form == kernel::BarrierForm::Sync;
  if (++n.arrived < n.expected) {
    if (!waits) { return; }
    n.waiters |= 1ULL << slot;
    async_[slot].object = use.id;
    block_async(slot, Reason::Barrier, AsyncWarp::On::Numbered, turn);
    return;
  }
  const std::int64_t open = n.latest;
  const Time at = std::max(surface_.wheel.now(), surface_.clocks.sm.edge(open));
  for (std::uint64_t rest = n.waiters; rest != 0; rest &= rest - 1) {
    const auto other = static_cast<std::uint32_t>(std::countr_zero(rest));
    async_[other].on = AsyncWarp::On::Nothing;
  }
  schedule_wakes(n.waiters, at);
  n = NumberedBarrier{};
  if (waits) { proceed(slot, Reason::Barrier, open, turn); }
}

// barrier.cluster: every warp of every block arrives; a wait passes when all that still run have.
void Sm::cluster_barrier(std::uint32_t slot, const Instr& instr, Turn& turn) {
  Warp& w = warps_[slot];
  AsyncWarp& a = async_[slot];
  const kernel::BarrierUse& use = w.code->barriers[static_cast<std::size_t>(instr.object)];
  const Block& b = blocks_[static_cast<std::size_t>(w.block)];
  if (use.form != kernel::BarrierForm::Wait && a.cluster_arrivals > a.cluster_waits) {
    fault({this, slot, w.pc}, "arrives a second time without a wait in between");
    block_async(slot, Reason::Barrier, AsyncWarp::On::Nothing, turn);
    return;
  }
  issue_now(slot, instr, turn);
  ++w.pc;
  Cluster& c = surface_.clusters[b.cluster];
  if (use.form != kernel::BarrierForm::Wait) {
    ++a.cluster_arrivals;
    ++c.arrived;
    c.latest = std::max(c.latest, turn.cycle);
    if (c.arrived == c.running) { complete_cluster(c); }
  }
  if (use.form == kernel::BarrierForm::Arrive) { return; }
  if (c.completed > a.cluster_waits++) {
    const bool present = c.completed == a.cluster_waits;
    proceed(slot, Reason::Barrier, present ? c.complete_at : turn.cycle, turn);
    return;
  }
  c.waiters.push_back((static_cast<std::uint32_t>(number_) << 16) | slot);
  block_async(slot, Reason::Barrier, AsyncWarp::On::Cluster, turn);
}

void Sm::complete_cluster(Cluster& c) {
  c.complete_at = c.latest + surface_.gpu.cluster.barrier.count();
  ++c.completed;
  c.arrived = 0;
  c.latest = 0;
  const Time open = std::max(surface_.wheel.now(), surface_.clocks.sm.edge(c.complete_at));
  for (const std::uint32_t waiter : c.waiters) {
    Sm& sm = surface_.sms[waiter >> 16];
    const std::uint32_t slot = waiter & 0xffffU;
    sm.async_[slot].on = AsyncWarp::On::Nothing;
    sm.schedule_wake(slot, open);
  }
  c.waiters.clear();
}

}  // namespace wavetail::sm
