// SPDX-License-Identifier: Apache-2.0
// Arithmetic in a warp's turn: a run of like instructions on one pipe. It is handled as one, in
// pieces of the turn's budget; while no other warp of the sub-partition is ready the rest of it
// issues ahead of the events.
#include <algorithm>

#include "sm/sm.h"

namespace wavetail::sm {

using event::Target;

namespace {

std::int64_t& busy_cycles(result::Counters& c, kernel::Pipe pipe) {
  switch (pipe) {
    case kernel::Pipe::Fp32: return c.fp32_busy;
    case kernel::Pipe::Int32: return c.int32_busy;
    case kernel::Pipe::Fp64: return c.fp64_busy;
    case kernel::Pipe::Sfu: return c.sfu_busy;
    case kernel::Pipe::Redux: return c.redux_busy;
  }
  return c.fp32_busy;
}

}  // namespace

void Sm::arithmetic(std::uint32_t slot, const Instr& instr, Turn& turn) {
  Warp& w = warps_[slot];
  proceed(slot, Reason::Wait, operands_at(w, instr), turn);
  if (turn.over) { return; }
  event::CycleServer& pipe = scheduler_of(slot).pipes[static_cast<std::size_t>(instr.pipe)];
  if (pipe.free_at() > turn.cycle) {
    proceed(slot, Reason::MathPipeThrottle, pipe.free_at(), turn);
    if (turn.over) { return; }
  }
  const bool whole = instr.beside && surface_.issue_quantum > 1;
  const std::int64_t left = instr.count - w.done, n = whole ? left : std::min(left, turn.budget);
  // As with the issue slots, the gaps between this warp's runs stay free for others.
  pipe.reserve(turn.granted, n * instr.pipe_cycles);
  const std::int64_t next = book_run(slot, instr, turn.cycle, n);
  turn.budget -= n;
  turn.cycle += n;
  w.since = turn.cycle;
  proceed(slot, Reason::Wait, next, turn);
}

// Books the next n instructions of a run, the first of which issues at `first`. Returns when the
// warp can go on: one cycle after the run's last instruction, or when the next may follow.
std::int64_t Sm::book_run(std::uint32_t slot, const Instr& instr, std::int64_t first,
                          std::int64_t n) {
  Warp& w = warps_[slot];
  result::Counters& c = w.launch->counters;
  busy_cycles(c, instr.pipe) += n * instr.pipe_cycles;
  c.flops += static_cast<double>(n * instr.lanes * instr.flops_per_lane);
  count_issue(slot, instr, n);
  if (!instr.beside) { write_beside_wgmma(scheduler_of(slot), first, n); }
  w.done += n;
  const bool run_over = w.done == instr.count;
  if (run_over) {
    w.done = 0;
    ++w.pc;
  }
  const std::int64_t last = first + (n - 1) * instr.interval;
  w.result_pipe = instr.pipe;
  w.chain_at = last + instr.interval;
  w.result_at = last + instr.latency;
  return run_over ? last + 1 : w.chain_at;
}

// A warp in the middle of a run whose turn is over may go on if no other warp of the sub-partition
// is ready, and the pipe is free.
bool Sm::may_run_ahead(std::uint32_t slot, const Instr& instr, const Turn& turn) {
  const Scheduler& s = scheduler_of(slot);
  return instr.kind == InstrKind::Arithmetic && warps_[slot].done > 0 && s.ready == 0 &&
         surface_.issue_quantum > 1 &&
         s.pipes[static_cast<std::size_t>(instr.pipe)].free_at() <= turn.cycle;
}

void Sm::run_ahead(std::uint32_t slot, const Instr& instr, Turn& turn) {
  Scheduler& s = scheduler_of(slot);
  const std::int64_t n = instr.count - warps_[slot].done;
  s.ahead = {true, slot, turn.cycle, (s.ahead.number + 1) & 0xffffffU};
  block_on(slot, Reason::NotSelected, turn.cycle, turn);
  const auto number = static_cast<std::uint32_t>(&s - schedulers_.data());
  surface_.wheel.schedule({surface_.clocks.sm.edge(turn.cycle + (n - 1) * instr.interval + 1),
                           Target::Sm, static_cast<std::uint8_t>(SmEvent::RunEnds), number_,
                           number | s.ahead.number << 8});
}

// Another warp is ready at `cycle`: the run that is under way is booked as far as it has come, and
// its warp stands in line again.
void Sm::settle(Scheduler& s, std::int64_t cycle) {
  s.ahead.active = false;
  const std::uint32_t slot = s.ahead.slot;
  Warp& w = warps_[slot];
  const Instr& instr = w.code->instrs[static_cast<std::size_t>(w.pc)];
  const std::int64_t first = s.ahead.first;
  const std::int64_t by_then = cycle <= first
                                   ? 0
                                   : (cycle - first + instr.interval - 1) / instr.interval;
  const std::int64_t n = std::min(instr.count - w.done, by_then);
  std::int64_t next = first;
  if (n > 0) {
    s.pipes[static_cast<std::size_t>(instr.pipe)].reserve(first, n * instr.pipe_cycles);
    next = book_run(slot, instr, first, n);
    bucket(w.launch->counters.stalls, Reason::Wait) += next - first - n;
    w.since = next;
  }
  if (next > s.free_at) {
    schedule_wake(slot, surface_.clocks.sm.edge(next));
  } else {
    s.ready |= 1ULL << slot;
    request_slot_event(s);
  }
}

// A run ahead has come to its end undisturbed.
void Sm::run_ends(std::uint32_t which) {
  Scheduler& s = schedulers_[which & 0xff];
  if (!s.ahead.active || s.ahead.number != which >> 8) { return; }
  s.ahead.active = false;
  const std::uint32_t slot = s.ahead.slot;
  Warp& w = warps_[slot];
  const Instr& instr = w.code->instrs[static_cast<std::size_t>(w.pc)];
  const std::int64_t n = instr.count - w.done;
  s.pipes[static_cast<std::size_t>(instr.pipe)].reserve(s.ahead.first, n * instr.pipe_cycles);
  const std::int64_t next = book_run(slot, instr, s.ahead.first, n);
  bucket(w.launch->counters.stalls, Reason::Wait) += next - s.ahead.first - n;
  w.since = next;
  offer(slot, next);
}

}  // namespace wavetail::sm
