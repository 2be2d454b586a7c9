// SPDX-License-Identifier: Apache-2.0
// Loops over tiles that blocks share out (kernel/share.h): which portion a warp works on, and how
// many steps of it are left. Counting costs nothing, as in any loop.
#include "sm/share.h"

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

void Sm::share_step(std::uint32_t slot, const Instr& instr) {
  Warp& w = warps_[slot];
  WarpShare& share = shares_[slot];
  const kernel::Kernel& k = *w.launch->kernel;
  std::int64_t& trip = w.trip[instr.depth];
  switch (instr.kind) {
    case InstrKind::TilesBegin:
    case InstrKind::TilesEnd: {
      const bool begins = instr.kind == InstrKind::TilesBegin;
      trip = begins ? 0 : trip + 1;
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

}  // namespace wavetail::sm
