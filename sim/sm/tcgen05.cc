// SPDX-License-Identifier: Apache-2.0
// tcgen05: the tensor core of an SM as an engine that works by itself. One elected thread issues
// products; they take the engine in order, each for its interval, and are complete a fixed time
// behind it; a commit is an arrival at an mbarrier at that time. A product of two SMs takes the
// engines of both. Sums stay in tensor memory, of which the warps of each sub-partition load and
// store a quarter, 32 lanes, through a port of their own.
#include <algorithm>

#include "sm/sm.h"

namespace wavetail::sm {

namespace {

constexpr std::int64_t kUnit = isa::kThousandths;

std::int64_t whole(std::int64_t thousandths) { return (thousandths + kUnit - 1) / kUnit; }

}  // namespace

// A block of a pair, ranks 2 i and 2 i + 1 of its cluster: the first or the second.
ClusterMember Sm::of_pair(std::uint32_t block_slot, std::int64_t which) const {
  const Block& b = blocks_[block_slot];
  if (b.cluster == kNoCluster) { return {number_, block_slot, b.placement, {}}; }
  return surface_.clusters[b.cluster].members[static_cast<std::size_t>(b.rank / 2 * 2 + which)];
}

void Sm::tcgen05_step(std::uint32_t slot, const Instr& instr, Turn& turn) {
  Warp& w = warps_[slot];
  const bool elected = instr.kind == InstrKind::Tcgen05Mma ||
                       instr.kind == InstrKind::Tcgen05Copy ||
                       instr.kind == InstrKind::Tcgen05Commit;
  if (elected && w.index != 0) {  // the thread is another warp's
    ++w.pc;
    --turn.budget;
    return;
  }
  switch (instr.kind) {
    case InstrKind::Tcgen05Commit: tcgen05_commit(slot, instr, turn); break;
    case InstrKind::Tcgen05Load:
    case InstrKind::Tcgen05Store: tmem_access(slot, instr, turn); break;
    case InstrKind::Tcgen05Wait:
      issue_now(slot, instr, turn);
      ++w.pc;
      pass(slot, Reason::ShortScoreboard,
           async_[slot].tmem_done[static_cast<std::size_t>(instr.count)], 0, turn);
      break;
    default: tcgen05_engine(slot, instr, turn); break;
  }
}

void Sm::tcgen05_engine(std::uint32_t slot, const Instr& instr, Turn& turn) {
  Warp& w = warps_[slot];
  const CompiledTensor& t = w.code->tensors[static_cast<std::size_t>(instr.object)];
  const std::int64_t n = std::min(instr.count - w.done, turn.budget);
  std::int64_t start = std::max(turn.cycle * kUnit, tcgen05_.free_at());
  Sm* peer = nullptr;
  if (t.ctas > 1) {
    const Block& b = blocks_[static_cast<std::size_t>(w.block)];
    peer = &surface_.sms[of_pair(static_cast<std::uint32_t>(w.block), 1 - b.rank % 2).sm];
    start = std::max(start, peer->tcgen05_.free_at());
    peer->tcgen05_.reserve(start, n * t.cost.pipe);
  }
  // The warp issues more slowly than the engine works, or it runs ahead.
  const std::int64_t last = (turn.cycle + (n - 1) * t.interval) * kUnit + t.cost.pipe;
  const std::int64_t end = std::max(tcgen05_.reserve(start, n * t.cost.pipe).end, last);
  result::Counters& c = w.launch->counters;
  c.tensor_busy += n * t.cost.full * surface_.gpu.sm.schedulers * t.ctas;
  c.flops += static_cast<double>(n) * t.cost.flops;
  c.tensor_flops += static_cast<double>(n) * t.cost.flops;
  c.tensor_energy += n * t.cost.energy;
  AsyncWarp& a = async_[slot];
  a.tcgen05_done = std::max(a.tcgen05_done, whole(end) + instr.latency);
  const std::int64_t next = turn.cycle + n * t.interval;
  issue_now(slot, instr, turn, n);
  w.done += n;
  if (w.done == instr.count) {
    w.done = 0;
    ++w.pc;
  }
  proceed(slot, Reason::MathPipeThrottle, next, turn);
}

void Sm::tcgen05_commit(std::uint32_t slot, const Instr& instr, Turn& turn) {
  Warp& w = warps_[slot];
  AsyncWarp& a = async_[slot];
  const auto block_slot = static_cast<std::uint32_t>(w.block);
  const std::uint32_t nth = a.cursors[static_cast<std::size_t>(instr.mbarrier)].arrivals++;
  issue_now(slot, instr, turn);
  const Time at = surface_.clocks.sm.edge(std::max(turn.cycle, a.tcgen05_done));
  const Party who{this, slot, w.pc++};
  const Block& b = blocks_[block_slot];
  if (instr.target != kAtPair || b.cluster == kNoCluster) {
    arrive({block_slot, instr.mbarrier, nth}, 0, at, who);
    return;
  }
  const Time there = at + peer_latency(surface_.clusters[b.cluster]) / 2;
  for (const std::int64_t which : {0, 1}) {
    const ClusterMember m = of_pair(block_slot, which);
    const bool own = m.sm == number_ && m.block == block_slot;
    arrive_there(m, {instr.mbarrier, nth, 0}, own ? at : there, who);
  }
}

void Sm::tmem_access(std::uint32_t slot, const Instr& instr, Turn& turn) {
  Warp& w = warps_[slot];
  if (instr.kind == InstrKind::Tcgen05Store) {
    proceed(slot, Reason::Wait, operands_at(w, instr), turn);
    if (turn.over) { return; }
  }
  const CompiledTensor& t = w.code->tensors[static_cast<std::size_t>(instr.object)];
  const std::int64_t n = std::min(instr.count - w.done, turn.budget);
  const auto port = scheduler_of(slot).tmem.reserve(turn.cycle * kUnit, n * t.interval);
  std::int64_t& done = async_[slot].tmem_done[instr.kind == InstrKind::Tcgen05Load ? 0 : 1];
  done = std::max(done, whole(port.end) + instr.latency);
  issue_now(slot, instr, turn, n);
  w.done += n;
  if (w.done < instr.count) { return; }
  w.done = 0;
  ++w.pc;
}

}  // namespace wavetail::sm
