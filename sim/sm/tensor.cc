// SPDX-License-Identifier: Apache-2.0
// Tensor instructions. wgmma is asynchronous: a warpgroup's four warps come to it together, each
// puts its quarter on the pipe of its own sub-partition, a run is a group, and groups end in order.
// mma.sync waits for the one it depends on, as arithmetic does. Pipes are booked in thousandths of
// a cycle: an mma.sync takes 6.1 cycles of Hopper's.
#include <algorithm>

#include "sm/sm.h"

namespace wavetail::sm {

namespace {

constexpr std::int64_t kUnit = isa::kThousandths;

std::int64_t whole(std::int64_t thousandths) { return (thousandths + kUnit - 1) / kUnit; }

}  // namespace

// The four warps of a warpgroup issue a wgmma together: whoever comes first waits for the others.
// Says whether the warp may go on; it is asked once per run.
bool Sm::join_warpgroup(std::uint32_t slot, Turn& turn) {
  constexpr std::int64_t kWarps = 4;
  Warp& w = warps_[slot];
  if (async_[slot].in_step) { return true; }
  async_[slot].in_step = true;
  const auto& roles = w.launch->kernel->roles;
  const auto role = static_cast<std::size_t>(w.role);
  std::int64_t group = w.index / kWarps;
  for (std::size_t r = 0; r < role; ++r) { group += roles[r].warps / kWarps; }
  auto& groups = sync_[static_cast<std::size_t>(w.block)].groups;
  NumberedBarrier& n = groups[static_cast<std::size_t>(group % kWarpgroups)];
  n.expected = std::min(kWarps, roles[role].warps - w.index / kWarps * kWarps);
  n.latest = std::max(n.latest, turn.cycle);
  if (++n.arrived < n.expected) {
    n.waiters |= 1ULL << slot;
    block_async(slot, Reason::Gmma, AsyncWarp::On::Nothing, turn);
    return false;
  }
  const std::int64_t open = n.latest;
  schedule_wakes(n.waiters, std::max(surface_.wheel.now(), surface_.clocks.sm.edge(open)));
  n = NumberedBarrier{};
  proceed(slot, Reason::Gmma, open, turn);
  return !turn.over;
}

void Sm::wgmma(std::uint32_t slot, const Instr& instr, Turn& turn) {
  Warp& w = warps_[slot];
  AsyncWarp& a = async_[slot];
  proceed(slot, Reason::Wait, operands_at(w, instr), turn);
  if (turn.over || !join_warpgroup(slot, turn)) { return; }
  if (w.done == 0 && a.tensor_groups >= AsyncWarp::kTensorGroups) {
    proceed(slot, Reason::Gmma, a.tensor_end[a.tensor_groups % AsyncWarp::kTensorGroups], turn);
    if (turn.over) { return; }
  }
  const CompiledTensor& t = w.code->tensors[static_cast<std::size_t>(instr.object)];
  const std::int64_t n = std::min(instr.count - w.done, turn.budget);
  Scheduler& s = scheduler_of(slot);
  const std::int64_t start = w.done == 0 ? t.start : 0;
  const auto slots = s.tensor.reserve(turn.cycle * kUnit, start + n * t.cost.pipe);
  s.wgmma_until = slots.end;
  result::Counters& c = w.launch->counters;
  c.tensor_busy += n * t.cost.full;
  c.tensor_energy += n * t.cost.energy;
  c.flops += static_cast<double>(n) * t.cost.flops;
  c.tensor_flops += static_cast<double>(n) * t.cost.flops;
  issue_now(slot, instr, turn, n);
  w.done += n;
  if (w.done < instr.count) { return; }
  w.done = 0;
  ++w.pc;
  a.in_step = false;
  a.tensor_end[a.tensor_groups++ % AsyncWarp::kTensorGroups] = whole(slots.end) + instr.latency;
}

// The sums of wgmma pass the register file, whose port takes a result per cycle: the results of
// `n` instructions that issue from `first` on, while wgmma is under way, hold it up by as much.
void Sm::write_beside_wgmma(Scheduler& s, std::int64_t first, std::int64_t n) {
  if (s.wgmma_until <= first * kUnit) { return; }
  s.wgmma_until = s.tensor.reserve(first * kUnit, n * isa::kRegisterWrite).end;
}

void Sm::wgmma_wait(std::uint32_t slot, std::int64_t left, Turn& turn) {
  const AsyncWarp& a = async_[slot];
  if (left >= AsyncWarp::kTensorGroups || a.tensor_groups <= left) { return; }
  const auto newest = a.tensor_groups - 1 - static_cast<std::uint32_t>(left);
  pass(slot, Reason::Gmma, a.tensor_end[newest % AsyncWarp::kTensorGroups], 0, turn);
}

void Sm::mma(std::uint32_t slot, const Instr& instr, Turn& turn) {
  Warp& w = warps_[slot];
  AsyncWarp& a = async_[slot];
  const bool chained = w.result_at == a.mma_result_at;  // nothing else has made a result since
  proceed(slot, Reason::Wait, chained ? whole(a.mma_chain) : operands_at(w, instr), turn);
  if (turn.over) { return; }
  event::CycleServer& pipe = scheduler_of(slot).tensor;
  if (pipe.free_at() / kUnit > turn.cycle) {
    proceed(slot, Reason::MathPipeThrottle, pipe.free_at() / kUnit, turn);
    if (turn.over) { return; }
  }
  const CompiledTensor& t = w.code->tensors[static_cast<std::size_t>(instr.object)];
  const std::int64_t n = std::min(instr.count - w.done, turn.budget);
  pipe.reserve(turn.granted * kUnit, n * t.cost.pipe);
  result::Counters& c = w.launch->counters;
  c.tensor_busy += n * t.cost.full;
  c.tensor_energy += n * t.cost.energy;
  c.flops += static_cast<double>(n) * t.cost.flops;
  c.tensor_flops += static_cast<double>(n) * t.cost.flops;
  // The chain goes on from its own thousandth of a cycle if this is the earliest cycle behind it.
  const std::int64_t from = chained && whole(a.mma_chain) == turn.cycle ? a.mma_chain
                                                                        : turn.cycle * kUnit;
  issue_now(slot, instr, turn, n);
  w.done += n;
  const bool run_over = w.done == instr.count;
  if (run_over) {
    w.done = 0;
    ++w.pc;
  }
  const std::int64_t last = from + (n - 1) * t.interval;
  a.mma_chain = last + t.interval;
  a.mma_result_at = whole(last) + instr.latency;
  w.result_pipe = kernel::Pipe::Fp32;
  w.chain_at = w.result_at = a.mma_result_at;
  proceed(slot, Reason::Wait, run_over ? whole(last) + 1 : whole(a.mma_chain), turn);
}

}  // namespace wavetail::sm
