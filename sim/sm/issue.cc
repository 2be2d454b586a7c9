// SPDX-License-Identifier: Apache-2.0
// A warp's turn at the issue slot: it goes through its program until its budget of instructions is
// spent, it has to wait, or another warp of the sub-partition is ready. A run of like instructions
// is handled as one: it takes its issue slots and its pipe in one reservation.
#include <algorithm>

#include "sm/sm.h"

namespace wavetail::sm {

using event::Target;

void Sm::issue(std::uint32_t slot, std::int64_t cycle) {
  Scheduler& s = scheduler_of(slot);
  s.last = slot;
  s.free_at = std::max(s.free_at, cycle);
  Turn turn{cycle, cycle, std::min(surface_.issue_quantum, warps_[slot].code->longest_turn)};
  while (!turn.over) {
    if (++turn.steps <= kMaxTurnSteps) {
      step(slot, turn);
    } else {
      pause(slot, Reason::NotSelected, turn.cycle, turn.cycle, turn);
    }
  }
  request_slot_event(s);
}

void Sm::step(std::uint32_t slot, Turn& turn) {
  Warp& w = warps_[slot];
  const Instr& instr = w.code->instrs[static_cast<std::size_t>(w.pc)];
  if (turn.budget <= 0 && (instr.kind <= InstrKind::Store || instr.kind > InstrKind::Exit)) {
    if (may_run_ahead(slot, instr, turn)) {
      run_ahead(slot, instr, turn);
      return;
    }
    pause(slot, Reason::NotSelected, turn.cycle, turn.cycle, turn);
    return;
  }
  switch (instr.kind) {
    case InstrKind::Arithmetic: arithmetic(slot, instr, turn); break;
    case InstrKind::Load:
    case InstrKind::Store: memory_access(slot, instr, turn); break;
    case InstrKind::SharedLoad:
    case InstrKind::SharedStore: shared_access(slot, instr, turn); break;
    case InstrKind::WaitLoads:
      ++w.pc;
      wait_loads(slot, all_but_newest(w, instr.count), turn);
      break;
    case InstrKind::WaitShared:
      ++w.pc;
      wait_shared(slot, instr.count, turn);
      break;
    case InstrKind::Barrier: barrier(slot, turn); break;
    case InstrKind::LoopEnd: {
      std::int64_t& trip = w.trip[instr.depth];
      next_trip(w, instr, trip);
      const bool again = trip < instr.count;
      trip = again ? trip : 0;
      w.pc = again ? instr.target : w.pc + 1;
      break;
    }
    case InstrKind::Branch:
      issue_now(slot, instr, turn);
      ++w.pc;
      proceed(slot, Reason::BranchResolving, turn.cycle + instr.latency - 1, turn);
      break;
    case InstrKind::SkipUnless:
      w.pc = w.index % instr.ways == instr.way ? w.pc + 1 : instr.target;
      break;
    case InstrKind::TilesBegin:
    case InstrKind::TilesEnd:
    case InstrKind::StepsBegin:
    case InstrKind::StepsEnd:
    case InstrKind::SkipPortion: share_step(slot, instr); break;
    case InstrKind::SkipRank:
      w.pc = blocks_[static_cast<std::size_t>(w.block)].rank % instr.ways == instr.way
                 ? w.pc + 1
                 : instr.target;
      break;
    case InstrKind::IndexBegin:
    case InstrKind::IndexEnd: index_step(slot, instr); break;
    case InstrKind::Exit: finish(slot, turn); break;
    default: async_step(slot, instr, turn); break;
  }
}

// Books n instructions. The slots are taken off the scheduler without the gaps between the warp's
// instructions, which other warps may fill.
void Sm::count_issue(std::uint32_t slot, const Instr& instr, std::int64_t n) {
  result::Counters& c = warps_[slot].launch->counters;
  c.warp_instructions += n;
  c.thread_instructions += n * instr.lanes;
  c.stalls.selected += n;
  scheduler_of(slot).free_at += n;
}

// n instructions issue from turn.cycle on.
void Sm::issue_now(std::uint32_t slot, const Instr& instr, Turn& turn, std::int64_t n) {
  count_issue(slot, instr, n);
  turn.cycle += n;
  turn.budget -= n;
  warps_[slot].since = turn.cycle;
}

// The cycle before which an instruction's operands are not there. Runs on one pipe continue each
// other's dependency chain (accumulators); a run on another pipe and a store use the last result;
// the address of a load, from global or shared memory, comes from the integer pipe.
std::int64_t Sm::operands_at(const Warp& w, const Instr& instr) {
  if (w.done > 0) { return 0; }
  if (instr.kind == InstrKind::Arithmetic) {
    return instr.pipe == w.result_pipe ? w.chain_at : w.result_at + instr.crossing;
  }
  const bool is_load = instr.kind == InstrKind::Load || instr.kind == InstrKind::SharedLoad;
  const bool needed = !is_load || w.result_pipe == kernel::Pipe::Int32;
  return needed ? w.result_at : 0;
}

void Sm::barrier(std::uint32_t slot, Turn& turn) {
  Warp& w = warps_[slot];
  issue_now(slot, w.code->instrs[static_cast<std::size_t>(w.pc)], turn);
  ++w.pc;
  Block& b = blocks_[static_cast<std::size_t>(w.block)];
  b.latest = std::max(b.latest, turn.cycle);
  if (++b.at_barrier < b.running) {
    block_on(slot, Reason::Barrier, turn.cycle, turn);
    return;
  }
  open_barrier(b, slot);
  proceed(slot, Reason::Barrier, b.latest, turn);
}

void Sm::open_barrier(Block& block, std::uint32_t except) {
  block.at_barrier = 0;
  const Time open = surface_.clocks.sm.edge(block.latest);
  for (const std::uint32_t other : block.warps) {
    if (other != except && warps_[other].reason == Reason::Barrier) { schedule_wake(other, open); }
  }
}

// The warp's own loads have to be back before it can go; stores are on their way, and most GPUs do
// not wait for them.
void Sm::finish(std::uint32_t slot, Turn& turn) {
  Warp& w = warps_[slot];
  if (w.pending != 0 || w.latest_data > surface_.clocks.sm.edge(turn.cycle)) {
    wait_loads(slot, ~0ULL, turn);
    return;
  }
  wait_shared(slot, 0, turn);
  if (turn.over || !stores_acknowledged(slot, turn)) { return; }
  if (w.code->asynchronous && !async_done(slot, turn)) { return; }
  block_on(slot, Reason::Exit, turn.cycle, turn);
  Block& b = blocks_[static_cast<std::size_t>(w.block)];
  b.latest = std::max(b.latest, turn.cycle);
  if (--b.running == 0) {
    end_block(static_cast<std::uint32_t>(w.block));
  } else if (b.at_barrier == b.running) {
    open_barrier(b, slot);  // warps that have exited are not waited for
  }
}

// The warp waits from `from` until a known cycle and is then woken.
void Sm::pause(std::uint32_t slot, Reason reason, std::int64_t from, std::int64_t until,
               Turn& turn) {
  block_on(slot, reason, from, turn);
  if (until > from) {
    schedule_wake(slot, surface_.clocks.sm.edge(until));
    return;
  }
  // Its budget is spent: it stands in line again.
  Scheduler& s = scheduler_of(slot);
  if (from > s.free_at) {
    schedule_wake(slot, surface_.clocks.sm.edge(from));
  } else {
    s.ready |= 1ULL << slot;
  }
}

// The warp waits for somebody to wake it.
void Sm::block_on(std::uint32_t slot, Reason reason, std::int64_t from, Turn& turn) {
  Warp& w = warps_[slot];
  w.reason = reason;
  w.since = from;
  turn.over = true;
}

// The warp's next instruction can issue at `until` at the earliest. It keeps its turn over a short
// wait; the issue slots in between stay free for others.
void Sm::proceed(std::uint32_t slot, Reason reason, std::int64_t until, Turn& turn) {
  Warp& w = warps_[slot];
  if (until <= turn.cycle) { return; }
  if (until - turn.cycle > turn.budget) {
    pause(slot, reason, turn.cycle, until, turn);
    return;
  }
  bucket(w.launch->counters.stalls, reason) += until - turn.cycle;
  turn.cycle = until;
  w.since = until;
}

}  // namespace wavetail::sm
