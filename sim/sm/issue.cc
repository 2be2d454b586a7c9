// SPDX-License-Identifier: Apache-2.0
// A warp's turn at the issue slot: it goes through its program until its budget of instructions is
// spent, it has to wait, or another warp of the sub-partition is ready. A run of like instructions
// is handled as one: it takes its issue slots and its pipe in one reservation.
#include <algorithm>
#include <array>
#include <bit>

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
  }
  return c.fp32_busy;
}

// The scoreboard entries of all loads but the newest `count`.
std::uint64_t all_but_newest(const Warp& w, std::int64_t count) {
  const std::uint32_t size = w.code->scoreboard;
  if (count >= size) { return 0; }
  const std::uint64_t newest = (1ULL << count) - 1;
  const std::uint32_t first = (w.loads_issued - static_cast<std::uint32_t>(count)) & (size - 1);
  const std::uint64_t wrapped = first == 0 ? 0 : newest >> (size - first);
  return ~(newest << first | wrapped);
}

}  // namespace

void Sm::issue(std::uint32_t slot, std::int64_t cycle) {
  Scheduler& s = scheduler_of(slot);
  s.last = slot;
  s.free_at = std::max(s.free_at, cycle);
  Turn turn{cycle, cycle, surface_.issue_quantum};
  while (!turn.over) { step(slot, turn); }
  request_slot_event(s);
}

void Sm::step(std::uint32_t slot, Turn& turn) {
  Warp& w = warps_[slot];
  const Instr& instr = w.code->instrs[static_cast<std::size_t>(w.pc)];
  if (turn.budget <= 0 && instr.kind <= InstrKind::Store) {
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
    case InstrKind::WaitLoads:
      ++w.pc;
      wait_loads(slot, all_but_newest(w, instr.count), turn);
      break;
    case InstrKind::Barrier: barrier(slot, turn); break;
    case InstrKind::LoopEnd: {
      std::int64_t& trip = w.trip[instr.depth];
      const bool again = ++trip < instr.count;
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
    case InstrKind::Exit: finish(slot, turn); break;
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
// the address of a load comes from the integer pipe.
std::int64_t Sm::operands_at(const Warp& w, const Instr& instr) {
  if (w.done > 0) { return 0; }
  if (instr.kind == InstrKind::Arithmetic && instr.pipe == w.result_pipe) { return w.chain_at; }
  const bool needed = instr.kind != InstrKind::Load || w.result_pipe == kernel::Pipe::Int32;
  return needed ? w.result_at : 0;
}

void Sm::arithmetic(std::uint32_t slot, const Instr& instr, Turn& turn) {
  Warp& w = warps_[slot];
  proceed(slot, Reason::Wait, operands_at(w, instr), turn);
  if (turn.over) { return; }
  event::CycleServer& pipe = scheduler_of(slot).pipes[static_cast<std::size_t>(instr.pipe)];
  if (pipe.free_at() > turn.cycle) {
    proceed(slot, Reason::MathPipeThrottle, pipe.free_at(), turn);
    if (turn.over) { return; }
  }
  const std::int64_t n = std::min(instr.count - w.done, turn.budget);
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
  const std::int64_t by_then = cycle <= first ? 0
                                              : (cycle - first + instr.interval - 1) /
                                                    instr.interval;
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

std::int64_t Sm::address(const Warp& w, const CompiledAccess& a, std::int64_t count_index) const {
  const Block& b = blocks_[static_cast<std::size_t>(w.block)];
  std::int64_t at = a.offset + b.index[0] * a.block[0] + b.index[1] * a.block[1] +
                    b.index[2] * a.block[2] + w.index * a.warp + count_index * a.count;
  for (std::size_t d = 0; d < static_cast<std::size_t>(a.depth); ++d) {
    at += w.trip[d] * a.loop[d];
  }
  if (at >= a.wrap || at < 0) {
    at %= a.wrap;
    at += at < 0 ? a.wrap : 0;
  }
  return w.launch->array_base[static_cast<std::size_t>(a.array)] + at;
}

// Random lanes get new addresses every time; everything else comes from the access' table of
// shapes.
const CompiledAccess::Request& Sm::request_at(const Warp& w, const CompiledAccess& a,
                                              std::int64_t at) {
  if (!a.random) { return a.request(static_cast<int>(at % memory::kLineBytes)); }
  const std::int64_t base = w.launch->array_base[static_cast<std::size_t>(a.array)];
  const std::int64_t start = at / memory::kLineBytes * memory::kLineBytes;
  const auto elements = static_cast<std::uint64_t>(a.wrap / a.width);
  std::array<std::int64_t, 64> offsets;
  const Block& b = blocks_[static_cast<std::size_t>(w.block)];
  std::uint64_t state = memory::mix(a.seed + surface_.seed);
  for (const std::int64_t part :
       {b.index[0], b.index[1], b.index[2], std::int64_t{w.role}, w.index}) {
    state = memory::mix(state + static_cast<std::uint64_t>(part) + 1);
  }
  for (std::size_t d = 0; d < static_cast<std::size_t>(a.depth); ++d) {
    state = memory::mix(state + static_cast<std::uint64_t>(w.trip[d]));
  }
  state = memory::mix(state + static_cast<std::uint64_t>(w.done));
  for (std::size_t lane = 0; lane < a.lane_offsets.size(); ++lane) {
    state = memory::mix(state + lane + 1);
    offsets[lane] = base + static_cast<std::int64_t>(state % elements) * a.width - start;
  }
  random_request_ = a.request_of(
      memory::coalesce({offsets.data(), a.lane_offsets.size()}, a.width, 0));
  return random_request_;
}

// A run of loads or stores, as far as the budget and the credit for their lines go. Each takes its
// turn in the load/store unit, which moves `l1.bandwidth` bytes and looks up `l1.tags_per_cycle`
// lines per cycle; the warp goes on when its last one has found a place in the unit's queue.
void Sm::memory_access(std::uint32_t slot, const Instr& instr, Turn& turn) {
  Warp& w = warps_[slot];
  proceed(slot, Reason::Wait, operands_at(w, instr), turn);
  const std::int32_t run = w.pc;
  while (w.pc == run && turn.budget > 0 && !turn.over) { some_accesses(slot, instr, turn); }
  if (!turn.over) {
    proceed(slot, Reason::LgThrottle, lsu_.free_at() - surface_.gpu.l1.queue.count(), turn);
  }
}

// How many of the run's next instructions are alike but for an address that moves by whole lines:
// they can travel as one request. Loads that look into L1 go one by one; a request must not take
// longer in the load/store unit than other warps' may have to wait for their turn.
std::int64_t Sm::alike(const Warp& w, const Instr& instr, const CompiledAccess& a, std::int64_t at,
                       std::int64_t cycles) const {
  constexpr std::int64_t kLongest = 64;  // cycles
  const bool looks_up = instr.kind == InstrKind::Load && !a.bypass_l1;
  if (looks_up || a.random || a.count % memory::kLineBytes != 0) { return 1; }
  std::int64_t n = std::min({instr.count - w.done, std::int64_t{memory::kMaxRun},
                             std::max<std::int64_t>(1, kLongest / cycles)});
  const std::int64_t offset = at - w.launch->array_base[static_cast<std::size_t>(a.array)];
  if (a.count > 0) { n = std::min(n, 1 + (a.wrap - 1 - offset) / a.count); }
  if (a.count < 0) { n = std::min(n, 1 + offset / -a.count); }
  return n;
}

// Scoreboard entries that the warp's next loads can have, up to `wanted`.
std::int64_t Sm::free_entries(const Warp& w, std::int64_t wanted) {
  const std::uint64_t taken = w.code->partial_waits ? w.unseen : w.pending;
  if (taken == 0) { return std::min<std::int64_t>(wanted, w.code->scoreboard); }
  std::int64_t n = 0;
  const std::uint32_t mask = w.code->scoreboard - 1;
  while (n < wanted && ((taken >> ((w.loads_issued + n) & mask)) & 1) == 0) { ++n; }
  return n;
}

// Takes credit for up to `wanted` instructions of so many lines: for as many as there is now, else
// for one, for which the warp waits. Returns for how many; 0 if the turn is over.
std::int64_t Sm::take_credit(std::uint32_t slot, bool is_load, int lines, std::int64_t wanted,
                             Turn& turn) {
  Warp& w = warps_[slot];
  if (w.credited) {
    w.credited = false;
    return 1;
  }
  event::Credit& credit = is_load ? line_credit_ : store_credit_;
  const Time now = surface_.clocks.sm.edge(turn.cycle);
  const std::int64_t n = std::clamp<std::int64_t>(credit.free(now) / lines, 1, wanted);
  const auto granted = credit.take(now, n * lines);
  if (granted && *granted == now) { return n; }
  if (!granted) {
    credit.wait(slot, lines);
    block_on(slot, Reason::LgThrottle, turn.cycle, turn);
    return 0;
  }
  proceed(slot, Reason::LgThrottle, surface_.clocks.sm.at_or_after(*granted), turn);
  w.credited = turn.over;
  return turn.over ? 0 : 1;
}

void Sm::some_accesses(std::uint32_t slot, const Instr& instr, Turn& turn) {
  Warp& w = warps_[slot];
  const bool is_load = instr.kind == InstrKind::Load;
  const CompiledAccess& a = w.code->accesses[static_cast<std::size_t>(instr.access)];
  const std::int64_t at = address(w, a, w.done);
  const CompiledAccess::Request& request = request_at(w, a, at);
  const memory::Shape& shape = request.shape;
  if (shape.lines == 0) {  // no lane is active: an issue slot and nothing else
    issue_now(slot, instr, turn);
    advance(w, instr, 1);
    return;
  }
  std::int64_t n = std::min(turn.budget, alike(w, instr, a, at, request.cycles));
  if (is_load) {
    n = free_entries(w, n);
    if (n == 0) {
      wait_loads(slot, 1ULL << (w.loads_issued & (w.code->scoreboard - 1)), turn);
      return;
    }
  }
  n = take_credit(slot, is_load, shape.lines, n, turn);
  if (n == 0) { return; }
  memory::Access access;
  access.shape = &shape;
  access.base_line = at / memory::kLineBytes;
  access.line_stride = a.count / memory::kLineBytes;
  access.sm = number_;
  access.warp = static_cast<std::uint16_t>(slot);
  access.count = static_cast<std::uint8_t>(n);
  access.own_shape = a.random;
  access.issued = surface_.clocks.sm.edge(turn.cycle);
  const std::int64_t done = lsu_.reserve(turn.cycle, n * request.cycles).end;
  access.departs = surface_.clocks.sm.edge(done - (n - 1) * request.cycles);
  if (n > 1) {
    access.issue_step = cycle_;
    access.depart_step = cycle_ * request.cycles;
  }
  access.account = &w.launch->presence[number_].account;
  access.account->counters->lsu_busy += n * request.cycles;
  issue_now(slot, instr, turn, n);
  if (is_load) {
    send_loads(slot, access, a.bypass_l1);
  } else {
    surface_.memory.store(access);
  }
  advance(w, instr, n);
}

// n instructions of the present run have issued.
void Sm::advance(Warp& w, const Instr& instr, std::int64_t n) {
  w.done += n;
  if (w.done == instr.count) {
    w.done = 0;
    ++w.pc;
  }
}

void Sm::send_loads(std::uint32_t slot, memory::Access& access, bool bypass_l1) {
  Warp& w = warps_[slot];
  access.sequence = static_cast<std::uint8_t>(w.loads_issued & 0xffU);
  const std::uint32_t mask = w.code->scoreboard - 1;
  std::uint64_t entries = 0;
  for (int i = 0; i < access.count; ++i) { entries |= 1ULL << (w.loads_issued++ & mask); }
  w.unseen |= entries;
  w.pending |= entries;
  if (bypass_l1) {
    surface_.memory.stream(access);
    return;
  }
  const auto outcome = surface_.memory.load(access);
  if (!outcome.complete) { return; }
  w.pending &= ~entries;
  note_ready(slot, access.sequence & mask, outcome.ready);
  give_back(line_credit_, outcome.ready, access.shape->lines);
}

// Until the data of the loads in `blocking` are there, which may not even be known for some.
void Sm::wait_loads(std::uint32_t slot, std::uint64_t blocking, Turn& turn) {
  Warp& w = warps_[slot];
  if ((blocking & w.pending) != 0) {
    w.blocking = blocking;
    block_on(slot, Reason::LongScoreboard, turn.cycle, turn);
    return;
  }
  const Time ready = data_ready(slot, blocking);
  if (ready > surface_.clocks.sm.edge(turn.cycle)) {
    pause(slot, Reason::LongScoreboard, turn.cycle, surface_.clocks.sm.at_or_after(ready), turn);
  }
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

// The warp's own loads have to be back before it can go; stores are on their way and nobody waits
// for them.
void Sm::finish(std::uint32_t slot, Turn& turn) {
  Warp& w = warps_[slot];
  if (w.pending != 0 || w.latest_data > surface_.clocks.sm.edge(turn.cycle)) {
    wait_loads(slot, ~0ULL, turn);
    return;
  }
  block_on(slot, Reason::Exit, turn.cycle, turn);
  Block& b = blocks_[static_cast<std::size_t>(w.block)];
  b.latest = std::max(b.latest, turn.cycle);
  if (--b.running == 0) {
    const Time free = surface_.clocks.sm.edge(b.latest) + surface_.gpu.launch.block_exit;
    surface_.wheel.schedule(
        {free, Target::Device, kBlockFree, number_, static_cast<std::uint32_t>(w.block)});
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
