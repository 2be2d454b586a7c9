// SPDX-License-Identifier: Apache-2.0
// What the programs of a kernel say about its mbarriers together: how many arrivals complete a
// phase, whether the first wait passes, and who takes part.
#pragma once

#include <string>
#include <vector>

#include "kernel/kernel.h"

namespace wavetail::isa {

struct MbarrierPlan {
  std::string name;
  std::int64_t first = 0;  // of its stages among those of all mbarriers of the block
  std::int64_t stages = 1;
  std::int64_t arrivals = 0;  // that complete a phase
  bool open = false;
  std::string released_by;       // "role 'producer' (tma_load)"; empty: nobody
  std::int64_t stage_bytes = 0;  // that one phase lands in the block, at most
  std::int64_t fetch_bytes = 0;  // of these, fetched by the block itself
};

[[nodiscard]] std::vector<MbarrierPlan> plan_mbarriers(const kernel::Kernel& kernel);

// Calls f(op) for every operation that warp `warp` of its role comes to, once each.
template <class F>
void for_each_op(const kernel::Program& program, std::int64_t warp, F&& f) {
  for (const kernel::Op& op : program) {
    f(op);
    for (std::size_t way = 0; way < op.bodies.size(); ++way) {
      const bool taken = op.kind != kernel::OpKind::Diverge ||
                         op.diverge_by != kernel::DivergeBy::Warp ||
                         static_cast<std::size_t>(warp) % op.bodies.size() == way;
      if (taken) { for_each_op(op.bodies[way], warp, f); }
    }
  }
}

// Blocks that a box lands in.
[[nodiscard]] std::int64_t receivers(const kernel::Box& box, const kernel::Kernel& kernel);

}  // namespace wavetail::isa
