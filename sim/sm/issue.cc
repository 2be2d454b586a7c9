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
  if (turn.budget <= 0 && (instr.kind <= InstrKind::Store || instr.kind > InstrKind::Exit)) {
    pause(slot, Reason::NotSelected, turn.cycle, turn.cycle, turn);
    return;
  }
  switch (instr.kind) {
    case InstrKind::Arithmetic: arithmetic(slot, instr, turn); break;
    case InstrKind::Load:
    case InstrKind::Store: memory_access(slot, instr, turn); break;
    case InstrKind::WaitLoads: {
      const std::uint64_t newest = instr.count >= 64 ? ~0ULL : (1ULL << instr.count) - 1;
      const auto oldest_allowed = static_cast<int>(
          (w.loads_issued - static_cast<std::uint32_t>(instr.count)) & 63U);
      ++w.pc;
      wait_loads(slot, w.pending & ~std::rotl(newest, oldest_allowed), turn);
      break;
    }
    case InstrKind::Barrier: barrier(slot, turn); break;
    case InstrKind::LoopEnd: {
      std::int64_t& trip = w.trip[instr.depth];
      const bool again = ++trip < instr.count;
      trip = again ? trip : 0;
      w.pc = again ? instr.target : w.pc + 1;
      break;
    }
    case InstrKind::Branch:
      count_issue(w, instr, 1, turn);
      ++w.pc;
      proceed(slot, Reason::BranchResolving, turn.cycle + instr.latency - 1, turn);
      break;
    case InstrKind::SkipUnless:
      w.pc = w.index % instr.ways == instr.way ? w.pc + 1 : instr.target;
      break;
    case InstrKind::Exit: finish(slot, turn); break;
    default: async_step(slot, instr, turn); break;
  }
}

// n instructions issue from turn.cycle on: books them and moves the turn behind the last one. The
// slots are taken off the scheduler without the gaps between the warp's instructions, which other
// warps may fill.
void Sm::count_issue(Warp& w, const Instr& instr, std::int64_t n, Turn& turn) {
  result::Counters& c = w.launch->counters;
  c.warp_instructions += n;
  c.thread_instructions += n * instr.lanes;
  c.stalls.selected += n;
  Scheduler& s = scheduler_of(static_cast<std::uint32_t>(&w - warps_.data()));
  s.free_at += n;
  turn.cycle += n;
  turn.budget -= n;
  w.since = turn.cycle;
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
  const std::int64_t first = turn.cycle;
  // As with the issue slots, the gaps between this warp's runs stay free for others.
  pipe.reserve(turn.granted, n * instr.pipe_cycles);
  busy_cycles(w.launch->counters, instr.pipe) += n * instr.pipe_cycles;
  w.launch->counters.flops += static_cast<double>(n * instr.lanes * instr.flops_per_lane);
  count_issue(w, instr, n, turn);
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
  proceed(slot, Reason::Wait, run_over ? last + 1 : w.chain_at, turn);
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
  while (w.pc == run && turn.budget > 0 && !turn.over) { one_access(slot, instr, turn); }
  if (!turn.over) {
    proceed(slot, Reason::LgThrottle, lsu_.free_at() - surface_.gpu.l1.queue.count(), turn);
  }
}

void Sm::one_access(std::uint32_t slot, const Instr& instr, Turn& turn) {
  Warp& w = warps_[slot];
  const bool is_load = instr.kind == InstrKind::Load;
  if (is_load && ((w.pending >> (w.loads_issued & 63U)) & 1) != 0) {
    wait_loads(slot, 1ULL << (w.loads_issued & 63U), turn);
    return;
  }
  const CompiledAccess& a = w.code->accesses[static_cast<std::size_t>(instr.access)];
  const std::int64_t at = address(w, a, w.done);
  const CompiledAccess::Request& request = request_at(w, a, at);
  const memory::Shape& shape = request.shape;
  if (shape.lines == 0) {  // no lane is active: an issue slot and nothing else
    count_issue(w, instr, 1, turn);
    next_of_run(w, instr);
    return;
  }
  event::Credit& credit = is_load ? line_credit_ : store_credit_;
  if (!w.credited && !credit.try_take(shape.lines)) {
    credit.wait(slot, shape.lines);
    block_on(slot, Reason::LgThrottle, turn.cycle, turn);
    return;
  }
  w.credited = false;
  memory::Access access;
  access.shape = &shape;
  access.base_line = at / memory::kLineBytes;
  access.sm = number_;
  access.warp = static_cast<std::uint16_t>(slot);
  access.bypass_l1 = a.bypass_l1;
  access.own_shape = a.random;
  access.issued = surface_.clocks.sm.edge(turn.cycle);
  access.departs = surface_.clocks.sm.edge(lsu_.reserve(turn.cycle, request.cycles).end);
  access.account = &w.launch->presence[number_].account;
  access.account->counters->lsu_busy += request.cycles;
  count_issue(w, instr, 1, turn);
  if (is_load) {
    send_load(slot, access);
  } else {
    surface_.memory.store(access);
  }
  next_of_run(w, instr);
}

void Sm::next_of_run(Warp& w, const Instr& instr) {
  if (++w.done == instr.count) {
    w.done = 0;
    ++w.pc;
  }
}

void Sm::send_load(std::uint32_t slot, memory::Access& access) {
  Warp& w = warps_[slot];
  access.sequence = static_cast<std::uint8_t>(w.loads_issued++ & 63U);
  const auto outcome = surface_.memory.load(access);
  if (!outcome.complete) {
    w.pending |= 1ULL << access.sequence;
    return;
  }
  w.latest_data = std::max(w.latest_data, outcome.ready);
  line_credit_.release(access.shape->lines, [&](std::uint32_t waiting) {
    warps_[waiting].credited = true;
    schedule_wake(waiting, surface_.wheel.now());
  });
}

// Until the loads in `blocking` are back; if they are, until the last data are there.
void Sm::wait_loads(std::uint32_t slot, std::uint64_t blocking, Turn& turn) {
  Warp& w = warps_[slot];
  if ((blocking & w.pending) != 0) {
    w.blocking = blocking;
    block_on(slot, Reason::LongScoreboard, turn.cycle, turn);
    return;
  }
  if (w.latest_data > surface_.clocks.sm.edge(turn.cycle)) {
    pause(slot, Reason::LongScoreboard, turn.cycle, surface_.clocks.sm.at_or_after(w.latest_data),
          turn);
  }
}

void Sm::barrier(std::uint32_t slot, Turn& turn) {
  Warp& w = warps_[slot];
  count_issue(w, w.code->instrs[static_cast<std::size_t>(w.pc)], 1, turn);
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
    wait_loads(slot, w.pending, turn);
    return;
  }
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
