// SPDX-License-Identifier: Apache-2.0
// Shared memory in a warp's turn. An access goes through the load/store unit like a global one and
// keeps its data path for one cycle per wavefront (128 bytes at `shared_memory.bandwidth`); the
// data of a load are there `shared_memory.latency` cycles after its first wavefront and one cycle
// per further wavefront. No event is needed but the one that wakes a warp which has to wait.
#include <algorithm>

#include "sm/sm.h"

namespace wavetail::sm {

// A run of loads or stores, as far as the budget goes. After each the warp goes on when the access
// has found a place in the unit's queue: a conflict may keep the unit for many cycles, and other
// warps' accesses come in between.
void Sm::shared_access(std::uint32_t slot, const Instr& instr, Turn& turn) {
  if (shared_scoreboards_.empty()) { shared_scoreboards_.resize(warps_.size()); }
  Warp& w = warps_[slot];
  proceed(slot, Reason::Wait, operands_at(w, instr), turn);
  const std::int32_t run = w.pc;
  while (w.pc == run && turn.budget > 0 && !turn.over) {
    one_shared_access(slot, instr, turn);
    if (turn.over) { return; }
    proceed(slot, Reason::MioThrottle, lsu_.free_at() - surface_.gpu.l1.queue.count(), turn);
  }
}

void Sm::one_shared_access(std::uint32_t slot, const Instr& instr, Turn& turn) {
  Warp& w = warps_[slot];
  const CompiledShared& access = w.code->shared[static_cast<std::size_t>(instr.access)];
  if (access.active_lanes() == 0) {  // an issue slot and nothing else
    issue_now(slot, instr, turn);
    advance(w, instr, 1);
    return;
  }
  const bool is_load = instr.kind == InstrKind::SharedLoad;
  SharedScoreboard& scoreboard = shared_scoreboards_[slot];
  if (is_load) {
    proceed(slot, Reason::ShortScoreboard, scoreboard.room_at(), turn);
    if (turn.over) { return; }
  }
  const CompiledShared::Request request = shared_request(w, access);
  const std::int64_t served = lsu_.reserve(turn.cycle, request.cycles).end;
  if (is_load) { scoreboard.add(served - 1 + instr.latency); }
  result::Counters& c = w.launch->counters;
  ++(is_load ? c.shared_load_requests : c.shared_store_requests);
  c.bank_wavefronts += request.banks.wavefronts;
  c.bank_conflicts += request.banks.conflicts();
  c.shared_busy += request.cycles;
  c.lsu_busy += request.cycles;
  issue_now(slot, instr, turn);
  advance(w, instr, 1);
}

// Random lanes are drawn anew every time: from the access' seed, the block, the warp, the trips of
// its loops and the position in the run.
CompiledShared::Request Sm::shared_request(const Warp& w, const CompiledShared& access) const {
  const std::int64_t at = access.address(w.index, w.done, w.trip);
  if (!access.random()) { return access.request(at); }
  const Block& b = blocks_[static_cast<std::size_t>(w.block)];
  std::uint64_t state = memory::mix(access.seed() + surface_.seed);
  const auto stir = [&](std::int64_t part) {
    state = memory::mix(state + static_cast<std::uint64_t>(part) + 1);
  };
  for (const std::int64_t part : b.index) { stir(part); }
  stir(w.role);
  stir(w.index);
  for (const std::int64_t trip : w.trip) { stir(trip); }
  stir(w.done);
  return access.random_request(at, state);
}

// Until all but the newest n loads are back.
void Sm::wait_shared(std::uint32_t slot, std::int64_t newest, Turn& turn) {
  if (shared_scoreboards_.empty()) { return; }
  proceed(slot, Reason::ShortScoreboard, shared_scoreboards_[slot].back_at(newest), turn);
}

}  // namespace wavetail::sm
