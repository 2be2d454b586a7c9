// SPDX-License-Identifier: Apache-2.0
// State of the mbarriers and numbered barriers of a resident block, and of what a warp has under
// way without waiting for it: copies, tensor groups, bulk stores. Times of completion may lie some
// cycles ahead of the event at hand: whoever waits is woken at them.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "unit/quantity.h"

namespace wavetail::sm {

using unit::Time;

// One stage of an mbarrier.
struct MbarrierStage {
  std::uint32_t completed = 0;  // phases
  std::int64_t arrived = 0;     // in the present phase
  std::int64_t missing = 0;     // bytes announced and not yet landed; peers' bytes may come first
  Time latest;                  // last arrival or byte of the present phase
  Time complete_at;             // the last completed phase
  std::uint64_t waiters = 0;    // warp slots
};

struct NumberedBarrier {
  std::int64_t arrived = 0, expected = 0;
  std::int64_t latest = 0;    // SM cycle of the last arrival
  std::uint64_t waiters = 0;  // warp slots
};

inline constexpr int kNumberedBarriers = 16, kWarpgroups = 8;

// What a block has beside its warps; made when the first block needs it.
struct BlockSync {
  std::vector<MbarrierStage> stages;  // of all mbarriers, see isa::MbarrierPlan::first
  std::array<NumberedBarrier, kNumberedBarriers> numbered{};
  std::array<NumberedBarrier, kWarpgroups> groups{};  // whose warps have come to their wgmma
  std::int64_t bulk_under_way = 0;  // pieces of boxes that the block has asked for
  Time bulk_done_at;                // when the last of the others is done
  bool ended = false;               // all warps are at their end, pieces are not
};

struct AsyncWarp {
  struct Cursor {
    std::uint32_t waits = 0, arrivals = 0, signals = 0;
  };

  struct CopyGroup {
    std::int32_t outstanding = 0;
    std::int32_t mbarrier = -1;  // that the group's completion arrives at
    std::uint32_t nth = 0;
    Time latest;
  };

  static constexpr std::uint32_t kCopyGroups = 16, kTensorGroups = 8;

  std::vector<Cursor> cursors;  // by mbarrier
  // What the warp is blocked on, for hang reports.
  enum class On : std::uint8_t { Nothing, Mbarrier, Copies, Stores, Numbered, Cluster } on{};
  std::int32_t object = 0;  // mbarrier or number of the barrier
  std::uint32_t nth = 0;
  // wgmma: the last groups' ends, in SM cycles; they end in order.
  std::uint32_t tensor_groups = 0;
  std::array<std::int64_t, kTensorGroups> tensor_end{};
  bool in_step = false;  // with its warpgroup, for the wgmma run at hand
  // mma.sync: when the next of the chain may issue (thousandths of a cycle), when the last result
  // is there.
  std::int64_t mma_chain = 0, mma_result_at = -1;
  // tcgen05: when the last of the products that it has issued is done, when the last of its
  // accesses to tensor memory have passed (SM cycles).
  std::int64_t tcgen05_done = 0;
  std::array<std::int64_t, 2> tmem_done{};  // loads, stores
  // Bulk stores, by group.
  std::uint32_t stores_issued = 0, stores_left = 0, stores_wanted = 0;
  Time stores_at;
  std::uint32_t cluster_arrivals = 0, cluster_waits = 0;
  // cp.async: groups [oldest, open) are committed and it is not known when they will be complete,
  // `open` is being filled.
  std::uint32_t copies_oldest = 0, copies_open = 0, copies_wanted = 0;
  std::array<CopyGroup, kCopyGroups> copies{};
  // When the last of the complete groups were or will be complete: in order.
  std::array<Time, kCopyGroups> copies_complete{};

  // When the first `groups` groups are, of which that is known.
  [[nodiscard]] Time completion(std::uint32_t groups) const {
    return groups == 0 ? Time{} : copies_complete[(groups - 1) % kCopyGroups];
  }
};

}  // namespace wavetail::sm
