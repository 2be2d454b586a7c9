// SPDX-License-Identifier: Apache-2.0
// cp.async: global to shared memory, past the registers. A copy goes through the load/store unit
// and L1 as a load does, but belongs to a group instead of the scoreboard; groups complete in
// order.
#include <algorithm>

#include "sm/sm.h"

namespace wavetail::sm {

void Sm::copy(std::uint32_t slot, const Instr& instr, Turn& turn) {
  Warp& w = warps_[slot];
  proceed(slot, Reason::Wait, operands_at(w, instr), turn);
  const std::int32_t run = w.pc;
  while (w.pc == run && turn.budget > 0 && !turn.over) { some_copies(slot, instr, turn); }
  if (turn.over) { return; }
  AsyncWarp& a = async_[slot];
  if (w.pc != run && instr.mbarrier >= 0) {  // cp.async.mbarrier.arrive: behind all copies so far
    AsyncWarp::CopyGroup& group = a.copies[a.copies_open % AsyncWarp::kCopyGroups];
    group.mbarrier = instr.mbarrier;
    group.nth = a.cursors[static_cast<std::size_t>(instr.mbarrier)].signals++;
    ++a.copies_open;
    complete_copies(slot);
  }
  proceed(slot, Reason::LgThrottle, lsu_.free_at() - surface_.gpu.l1.queue.count(), turn);
}

void Sm::some_copies(std::uint32_t slot, const Instr& instr, Turn& turn) {
  Warp& w = warps_[slot];
  AsyncWarp& a = async_[slot];
  if (a.copies_open - a.copies_oldest >= AsyncWarp::kCopyGroups) {
    wait_copies(slot, a.copies_oldest + 1, turn);
    return;
  }
  const CompiledAccess& access = w.code->accesses[static_cast<std::size_t>(instr.access)];
  const std::int64_t at = address(w, access, w.done);
  const CompiledAccess::Request& request = request_at(w, access, at);
  if (request.shape.lines == 0) {
    issue_now(slot, instr, turn);
    advance(w, instr, 1);
    return;
  }
  const std::int64_t wanted = std::min(turn.budget, alike(w, instr, access, request, at));
  const int lines = access.bypass_l1 ? request.shape.lines : 1;
  const std::int64_t n = take_credit(slot, true, lines, wanted, turn);
  if (n == 0) { return; }
  memory::Access sent = request_of_run(slot, access, request, at, n, turn);
  const std::uint32_t group = a.copies_open % AsyncWarp::kCopyGroups;
  // Every copy of the run has the group's number.
  sent.sequence = static_cast<std::uint8_t>(kCopySequence + group);
  sent.sequence_step = 0;
  issue_now(slot, instr, turn, n);
  advance(w, instr, n);
  if (access.bypass_l1) {
    a.copies[group].outstanding += static_cast<std::int32_t>(n);
    surface_.memory.stream(sent);
    return;
  }
  const auto outcome = load_through_l1(sent);
  if (!outcome.complete) {
    ++a.copies[group].outstanding;
    return;
  }
  a.copies[group].latest = std::max(a.copies[group].latest, outcome.ready);
}

void Sm::copy_known(const memory::System::Finished& f) {
  AsyncWarp::CopyGroup& group = async_[f.warp].copies[f.sequence - kCopySequence];
  group.latest = std::max(group.latest, f.ready);
  if (--group.outstanding == 0) { complete_copies(f.warp); }
}

// Committed groups whose copies have all landed complete one after the other, in order.
void Sm::complete_copies(std::uint32_t slot) {
  AsyncWarp& a = async_[slot];
  while (a.copies_oldest != a.copies_open) {
    AsyncWarp::CopyGroup& group = a.copies[a.copies_oldest % AsyncWarp::kCopyGroups];
    if (group.outstanding > 0) { break; }
    const Time landed = std::max(group.latest, surface_.wheel.now());
    const Time complete = std::max(a.completion(a.copies_oldest), landed) +
                          surface_.clocks.sm.span(surface_.gpu.cp_async.group);
    a.copies_complete[a.copies_oldest % AsyncWarp::kCopyGroups] = complete;
    if (group.mbarrier >= 0) {
      arrive({static_cast<std::uint32_t>(warps_[slot].block), group.mbarrier, group.nth}, 0,
             complete, {this, slot, warps_[slot].pc});
    }
    group = AsyncWarp::CopyGroup{};
    ++a.copies_oldest;
  }
  if (a.on == AsyncWarp::On::Copies && a.copies_oldest - a.copies_wanted < 1U << 31) {
    a.on = AsyncWarp::On::Nothing;
    schedule_wake(slot, a.completion(a.copies_wanted));
  }
}

// Until the first `wanted` groups of the warp are complete.
void Sm::wait_copies(std::uint32_t slot, std::uint32_t wanted, Turn& turn) {
  AsyncWarp& a = async_[slot];
  if (a.copies_oldest - wanted >= 1U << 31) {
    a.copies_wanted = wanted;
    block_async(slot, Reason::LongScoreboard, AsyncWarp::On::Copies, turn);
    return;
  }
  const std::int64_t complete = surface_.clocks.sm.at_or_after(a.completion(wanted));
  proceed(slot, Reason::LongScoreboard, complete, turn);
}

}  // namespace wavetail::sm
