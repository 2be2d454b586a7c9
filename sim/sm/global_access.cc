// SPDX-License-Identifier: Apache-2.0
// Global loads and stores in a warp's turn, and its waiting for loads. Instructions of a run that
// differ only by whole lines travel as one request.
#include <algorithm>
#include <array>

#include "sm/sm.h"

namespace wavetail::sm {

std::int64_t Sm::address(const Warp& w, const CompiledAccess& a, std::int64_t count_index) const {
  const kernel::Dim3& index = index_of(w);
  std::int64_t at = a.offset + index[0] * a.block[0] + index[1] * a.block[1] + a.of_z(index[2]) +
                    w.index * a.warp + count_index * a.count;
  for (std::size_t d = 0; d < static_cast<std::size_t>(a.depth); ++d) {
    at += w.trip[d] * a.loop[d];
  }
  if (at >= a.wrap || at < 0) {
    at %= a.wrap;
    at += at < 0 ? a.wrap : 0;
  }
  return w.launch->array_base[static_cast<std::size_t>(a.array)] + at;
}

// The access' table has the shape, unless lanes wrap at the array's end or are random.
const CompiledAccess::Request& Sm::request_at(const Warp& w, const CompiledAccess& a,
                                              std::int64_t at) {
  const std::int64_t base = w.launch->array_base[static_cast<std::size_t>(a.array)];
  if (!a.random && a.holds_lanes(at - base)) {
    return a.request(static_cast<int>(at % memory::kLineBytes));
  }
  std::array<std::int64_t, 64> offsets;
  const std::size_t lanes = a.lane_offsets.size();
  if (a.random) {
    random_lanes(w, a, {offsets.data(), lanes});
  } else {
    for (std::size_t lane = 0; lane < lanes; ++lane) {
      offsets[lane] = (at - base + a.lane_offsets[lane]) % a.bytes;
    }
  }
  const std::int64_t start = at / memory::kLineBytes * memory::kLineBytes;
  for (std::size_t lane = 0; lane < lanes; ++lane) { offsets[lane] += base - start; }
  own_request_ = a.request_of({offsets.data(), lanes}, start);
  return own_request_;
}

// Random lanes get new addresses every time: offsets from the array's start.
void Sm::random_lanes(const Warp& w, const CompiledAccess& a,
                      std::span<std::int64_t> offsets) const {
  const auto elements = static_cast<std::uint64_t>(a.wrap / a.width);
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
  for (std::size_t lane = 0; lane < offsets.size(); ++lane) {
    state = memory::mix(state + lane + 1);
    offsets[lane] = static_cast<std::int64_t>(state % elements) * a.width;
  }
}

// A run of loads or stores, as far as the budget and the credit for their lines go. Each takes its
// turn in the load/store unit, which moves `l1.bandwidth` bytes per cycle through the banks of the
// data and looks up a line per cycle in each of `l1.tag_banks`; the warp goes on when its last one
// has found a place in the unit's queue.
void Sm::memory_access(std::uint32_t slot, const Instr& instr, Turn& turn) {
  Warp& w = warps_[slot];
  proceed(slot, Reason::Wait, operands_at(w, instr), turn);
  const std::int32_t run = w.pc;
  while (w.pc == run && turn.budget > 0 && !turn.over) {
    some_accesses(slot, instr, turn);
    if (turn.over) { return; }
    proceed(slot, Reason::LgThrottle, lsu_.free_at() - surface_.gpu.l1.queue.count(), turn);
  }
}

// How many of the run's next instructions are alike but for an address that moves by whole lines:
// they can travel as one request. Loads that look into L1 go one by one, and so do those that may
// take longer for their tags than for their data; a request must not take longer in the load/store
// unit than other warps' may have to wait for their turn.
std::int64_t Sm::alike(const Warp& w, const Instr& instr, const CompiledAccess& a,
                       const CompiledAccess::Request& request, std::int64_t at) const {
  constexpr std::int64_t kLongest = 64;  // cycles
  const bool looks_up = instr.kind != InstrKind::Store && !a.bypass_l1;
  if (looks_up || a.atomic || a.random || a.count % memory::kLineBytes != 0) { return 1; }
  std::int64_t n = std::min(instr.count - w.done, std::int64_t{memory::kMaxRun});
  if (request.shape.lines > request.cycles) { n = 1; }
  if (n * request.cycles > kLongest) { n = std::max<std::int64_t>(1, kLongest / request.cycles); }
  if (n == 1) { return 1; }
  const std::int64_t offset = at - w.launch->array_base[static_cast<std::size_t>(a.array)];
  const std::int64_t last = offset + (n - 1) * a.count;
  const bool inside = last >= 0 && last < a.wrap && a.holds_lanes(std::max(offset, last));
  return inside ? n : 1;
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
  const std::int64_t free = credit.free(now);
  const std::int64_t n = free >= wanted * lines ? wanted : std::max<std::int64_t>(1, free / lines);
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

// The request of n instructions alike, the first of which issues now: they take their turns in the
// load/store unit.
memory::Access Sm::request_of_run(std::uint32_t slot, const CompiledAccess& a,
                                  const CompiledAccess::Request& request, std::int64_t at,
                                  std::int64_t n, const Turn& turn) {
  memory::Access access;
  access.shape = &request.shape;
  access.base_line = at / memory::kLineBytes;
  access.line_stride = a.count / memory::kLineBytes;
  access.sm = number_;
  access.warp = static_cast<std::uint16_t>(slot);
  access.count = static_cast<std::uint8_t>(n);
  access.own_shape = &request == &own_request_;
  access.atomic = a.atomic;
  access.issued = surface_.clocks.sm.edge(turn.cycle);
  access.account = &warps_[slot].launch->presence[number_].account;
  const std::int64_t cycles = count_wavefronts(access, request);
  const std::int64_t done = lsu_.reserve(turn.cycle, n * cycles).end;
  access.departs = surface_.clocks.sm.edge(done - (n - 1) * cycles);
  if (n > 1) {
    access.issue_step = surface_.clocks.sm.period();
    access.depart_step = access.issue_step * cycles;
  }
  access.account->counters->lsu_busy += n * cycles;
  return access;
}

// Books the wavefronts of the request and returns the cycles of the load/store unit that each of
// its instructions takes.
std::int64_t Sm::count_wavefronts(const memory::Access& access,
                                  const CompiledAccess::Request& request) const {
  std::int64_t tags = 0;
  for (std::int64_t n = 0, line = access.base_line; n < access.count;
       ++n, line += access.line_stride) {
    tags += surface_.memory.tags().wavefronts(request.shape, line);
  }
  result::Counters& c = *access.account->counters;
  c.data_wavefronts += std::int64_t{access.count} * request.banks.wavefronts;
  c.data_conflicts += std::int64_t{access.count} * request.banks.conflicts();
  c.tag_wavefronts += tags;
  return access.count == 1 ? std::max(request.cycles, tags) : request.cycles;
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
  std::int64_t n = std::min(turn.budget, alike(w, instr, a, request, at));
  if (is_load) {
    n = free_entries(w, n);
    if (n == 0) {
      wait_loads(slot, 1ULL << (w.loads_issued & (w.code->scoreboard - 1)), turn);
      return;
    }
  }
  // Of a load through L1 only the lines count that L1 has no place for, and how many that are it
  // says later.
  const bool through_l1 = is_load && !a.bypass_l1;
  n = take_credit(slot, is_load, through_l1 ? 1 : shape.lines, n, turn);
  if (n == 0) { return; }
  memory::Access access = request_of_run(slot, a, request, at, n, turn);
  issue_now(slot, instr, turn, n);
  if (is_load) {
    send_loads(slot, access, a.bypass_l1);
  } else {
    w.stores_under_way += static_cast<std::uint32_t>(n);
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
  const std::uint32_t mask = w.code->scoreboard - 1;
  access.sequence = static_cast<std::uint8_t>(w.loads_issued & mask);
  std::uint64_t entries = 0;
  for (int i = 0; i < access.count; ++i) { entries |= 1ULL << (w.loads_issued++ & mask); }
  w.unseen |= entries;
  w.pending |= entries;
  if (access.atomic) {
    surface_.memory.atomic(access);
    return;
  }
  if (bypass_l1) {
    surface_.memory.stream(access);
    return;
  }
  const auto outcome = load_through_l1(access);
  if (!outcome.complete) { return; }
  w.pending &= ~entries;
  note_ready(slot, access.sequence, outcome.ready);
}

// A load for which one line's credit has been taken. What it fetches will have to be written into
// the banks of L1's data, a wavefront per line: that takes its turn now, not when the line comes.
memory::System::LoadOutcome Sm::load_through_l1(const memory::Access& access) {
  const auto outcome = surface_.memory.load(access);
  if (outcome.placeless == 0) {
    give_back(line_credit_, Time{}, 1);
  } else {
    const std::int64_t owed = std::min<std::int64_t>(outcome.placeless,
                                                     surface_.gpu.l1.in_flight_lines);
    line_credit_.overdraw(owed - 1);
  }
  lsu_.reserve(lsu_.free_at(), outcome.lines);
  access.account->counters->lsu_busy += outcome.lines;
  return outcome;
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

}  // namespace wavetail::sm
