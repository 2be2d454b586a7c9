// SPDX-License-Identifier: Apache-2.0
// Loops over tiles that blocks share out (kernel/share.h): which portion a warp works on, and how
// many steps of it are left; loops whose trips a block's index says (kernel/trips.h). Counting
// costs nothing, as in any loop.
#include "sm/share.h"

#include "kernel/trips.h"
#include "sm/sm.h"

namespace wavetail::sm {

// A block's tile stands in its group as the block does in its cluster.
void Sm::take_portion(std::uint32_t slot, std::int64_t n) {
  const Warp& w = warps_[slot];
  const kernel::Kernel& k = *w.launch->kernel;
  const Block& b = blocks_[static_cast<std::size_t>(w.block)];
  WarpShare& share = shares_[slot];
  share.portion = portion_of(k, share.cluster, n);
  for (std::size_t axis = 0; axis < 3; ++axis) {
    share.index[axis] = share.portion.tile[axis] + b.index[axis] % k.cluster[axis];
  }
}

// A warp goes on from its round to the next one that is simulated.
void Sm::tile_ended(Warp& w, std::int64_t& trip) {
  TileRounds& rounds = w.launch->rounds;
  const bool jumps = rounds.jump > 0 && trip == rounds.jump_from;
  trip += jumps ? rounds.jump + 1 : 1;
  rounds.furthest = std::max(rounds.furthest, trip);
  if (rounds.passes_per_round > 0 && ++rounds.passes % rounds.passes_per_round == 0) {
    surface_.wheel.schedule(
        {surface_.wheel.now(), event::Target::Device, kRoundEnded, 0, w.launch->id});
  }
}

void Sm::share_step(std::uint32_t slot, const Instr& instr) {
  Warp& w = warps_[slot];
  WarpShare& share = shares_[slot];
  const kernel::Kernel& k = *w.launch->kernel;
  std::int64_t& trip = w.trip[instr.depth];
  switch (instr.kind) {
    case InstrKind::TilesBegin:
    case InstrKind::TilesEnd: {
      const bool begins = instr.kind == InstrKind::TilesBegin;
      begins ? static_cast<void>(trip = 0) : tile_ended(w, trip);
      if (trip < portions_of(k, share.cluster)) {
        take_portion(slot, trip);
        w.pc = begins ? w.pc + 1 : instr.target;
        return;
      }
      trip = 0;
      share.index = blocks_[static_cast<std::size_t>(w.block)].index;
      w.pc = begins ? instr.target : w.pc + 1;
      return;
    }
    case InstrKind::StepsBegin:
    case InstrKind::StepsEnd: {
      const bool begins = instr.kind == InstrKind::StepsBegin;
      begins ? static_cast<void>(trip = share.portion.first + instr.count)
             : next_trip(w, instr, trip);
      const bool more = trip < share.portion.last;
      trip = more ? trip : 0;
      w.pc = more == begins ? w.pc + 1 : instr.target;
      return;
    }
    default:
      w.pc = static_cast<std::int16_t>(way_of(share.portion, *k.shares)) == instr.way
                 ? w.pc + 1
                 : instr.target;
  }
}

void Sm::index_step(std::uint32_t slot, const Instr& instr) {
  Warp& w = warps_[slot];
  const bool begins = instr.kind == InstrKind::IndexBegin;
  std::int64_t& trip = w.trip[instr.depth];
  begins ? static_cast<void>(trip = 0) : next_trip(w, instr, trip);
  const kernel::Trips& t = w.code->trips[static_cast<std::size_t>(instr.object)];
  const bool more = trip < trips_of(t, instr.count, index_of(w));
  trip = more ? trip : 0;
  w.pc = more == begins ? w.pc + 1 : instr.target;
}

// The warp ends a trip of a loop.
void Sm::next_trip(Warp& w, const Instr& instr, std::int64_t& trip) const {
  ++trip;
  if (!instr.counts_trips) { return; }
  LoopTrips& trips = w.launch->trips;
  if (trip >= w.leap_from) {
    trip += trips.leap;
    w.leap_from = kNoLeap;
  }
  if (trips.per_mark > 0 && ++trips.passed % trips.per_mark == 0) {
    surface_.wheel.schedule(
        {surface_.wheel.now(), event::Target::Device, kTripsEnded, 0, w.launch->id});
  }
}

// How many trips the loop that the warp is in has.
std::int64_t Sm::trips_of_loop(std::uint32_t slot, const LongLoop& loop) const {
  const Warp& w = warps_[slot];
  const Instr& end = w.code->instrs[static_cast<std::size_t>(loop.end)];
  if (end.kind == InstrKind::StepsEnd) { return shares_[slot].portion.last; }
  if (end.kind == InstrKind::LoopEnd) { return end.count; }
  return trips_of(w.code->trips[static_cast<std::size_t>(end.object)], end.count, index_of(w));
}

namespace {

const LongLoop* loop_of(const Warp& w) {
  for (const LongLoop& loop : w.code->long_loops) {
    if (w.pc >= loop.first && w.pc <= loop.end) { return &loop; }
  }
  return nullptr;
}

}  // namespace

void Sm::count_in_loops(const Launch& launch, InLoops& sum) const {
  for (const Block& block : blocks_) {
    if (block.launch != &launch) { continue; }
    for (const std::uint32_t slot : block.warps) {
      const Warp& w = warps_[slot];
      if (w.code->long_loops.empty()) { continue; }
      ++sum.warps;
      const LongLoop* loop = loop_of(w);
      if (loop == nullptr || w.leap_from != kNoLeap) {
        ++sum.outside;
      } else {
        sum.furthest = std::max(sum.furthest, w.trip[static_cast<std::size_t>(loop->depth)]);
        sum.end = std::min(sum.end, trips_of_loop(slot, *loop));
      }
    }
  }
}

void Sm::leave_out_trips(const Launch& launch, std::int64_t from) {
  for (const Block& block : blocks_) {
    if (block.launch != &launch) { continue; }
    for (const std::uint32_t slot : block.warps) {
      Warp& w = warps_[slot];
      if (!w.code->long_loops.empty()) { w.leap_from = from; }
    }
  }
}

}  // namespace wavetail::sm
