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
      trip = begins ? share.portion.first + instr.count : trip + 1;
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
  trip = begins ? 0 : trip + 1;
  const kernel::Trips& t = w.code->trips[static_cast<std::size_t>(instr.object)];
  const bool more = trip < trips_of(t, instr.count, index_of(w));
  trip = more ? trip : 0;
  w.pc = more == begins ? w.pc + 1 : instr.target;
}

}  // namespace wavetail::sm
