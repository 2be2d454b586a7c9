// SPDX-License-Identifier: Apache-2.0
// A resident warp and its block. A warp is in exactly one state at any time: issuing, or waiting
// for one reason since a known cycle; whenever it changes, the cycles since then are booked on that
// reason.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "kernel/op.h"
#include "result/result.h"
#include "sm/cluster.h"
#include "sm/launch.h"

namespace wavetail::sm {

// Why a warp does not issue; one field of result::StallCycles each.
enum class Reason : std::uint8_t {
  Start,
  NotSelected,
  LongScoreboard,
  Wait,
  MathPipeThrottle,
  LgThrottle,
  ShortScoreboard,
  MioThrottle,
  Barrier,
  BranchResolving,
  Exit,
  Gmma,
  Drain,
};

[[nodiscard]] std::int64_t& bucket(result::StallCycles& stalls, Reason reason);
[[nodiscard]] std::string_view name(Reason reason);

inline constexpr std::int64_t kNoLeap = INT64_MAX;

// Three lines of the host's cache: the state of its waits, the run under way, its loops.
struct alignas(64) Warp {
  Launch* launch = nullptr;  // null: the slot is free
  const Code* code = nullptr;
  std::int64_t since = 0;  // SM cycle at which it last changed its state
  // Scoreboard of loads: instruction n is bit n modulo Code::scoreboard of `pending` until it is
  // known when its data will be there, and of `unseen` until the warp has waited for it.
  std::uint64_t pending = 0, unseen = 0;
  std::uint64_t blocking = 0;  // the loads that the warp waits for, if any
  Time latest_data;            // when the last of the data that are known of is there
  std::uint32_t loads_issued = 0;
  std::int32_t pc = 0;

  std::int64_t done = 0;  // instructions of the present run that have issued
  // The arithmetic run that issued last: its pipe, when the next of its kind may issue, and when
  // its last result can be used by others.
  std::int64_t chain_at = 0, result_at = 0;
  kernel::Pipe result_pipe = kernel::Pipe::Int32;
  Reason reason = Reason::Start;
  bool credited = false;    // credit for the next load or store has been granted
  std::int32_t block = -1;  // block slot of the SM
  std::int32_t role = 0;
  // Of stores, where the warp stays until L2 has acknowledged them: on their way to L2, and when
  // the last of the others is acknowledged.
  std::uint32_t stores_under_way = 0;
  Time acknowledged;
  std::int64_t index = 0;  // within its role
  std::uint64_t age = 0;   // order of placement

  alignas(64) std::array<std::int64_t, kernel::kMaxLoopDepth> trip{};
  // Trip of its long loop behind which it leaves out LoopTrips::leap.
  std::int64_t leap_from = kNoLeap;
};

// The scoreboard entries of all of the warp's loads but the newest `count`.
[[nodiscard]] inline std::uint64_t all_but_newest(const Warp& w, std::int64_t count) {
  const std::uint32_t size = w.code->scoreboard;
  if (count >= size) { return 0; }
  const std::uint64_t newest = (1ULL << count) - 1;
  const std::uint32_t first = (w.loads_issued - static_cast<std::uint32_t>(count)) & (size - 1);
  const std::uint64_t wrapped = first == 0 ? 0 : newest >> (size - first);
  return ~(newest << first | wrapped);
}

struct Block {
  Launch* launch = nullptr;             // null: the slot is free
  std::array<std::int64_t, 3> index{};  // blockIdx
  std::uint64_t placement = 0;          // number of the placement on this SM
  std::uint32_t cluster = kNoCluster;
  std::int64_t rank = 0;             // within the cluster
  std::vector<std::uint32_t> warps;  // slots, in warp order
  std::int64_t running = 0;          // warps not yet at their end
  std::int64_t at_barrier = 0;
  std::int64_t placed = 0;  // SM cycle
  // The latest cycle at which a warp came to a barrier or to its end: turns run ahead of events, so
  // that the last to come is not always the latest.
  std::int64_t latest = 0;
};

}  // namespace wavetail::sm
