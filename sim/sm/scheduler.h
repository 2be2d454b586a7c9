// SPDX-License-Identifier: Apache-2.0
// A warp scheduler of one sub-partition: one issue slot per cycle, its own pipes, and the choice
// among the warps that are ready. A warp that finds the slot free issues at once; otherwise it
// waits in `ready` and is chosen by the policy when the slot becomes free.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <span>

#include "event/server.h"
#include "gpu/spec.h"
#include "sm/warp.h"

namespace wavetail::sm {

// A run of arithmetic that issues ahead of the events, as nobody else wants the slot: it is booked
// when it ends, or as far as it has come when another warp becomes ready.
struct RunAhead {
  bool active = false;
  std::uint32_t slot = 0;    // the warp's
  std::int64_t first = 0;    // SM cycle of the first instruction
  std::uint32_t number = 0;  // 24 bits; an event that ends another run is out of date
};

struct Scheduler {
  std::int64_t free_at = 0;  // SM cycle from which the issue slot is free
  std::uint64_t ready = 0;   // waiting warps, by slot of the SM
  std::uint32_t last = 0;    // warp slot issued last
  bool slot_event_pending = false;
  RunAhead ahead;
  std::array<event::CycleServer, kernel::kPipes> pipes;  // by kernel::Pipe
  event::CycleServer tmem;    // its quarter of tensor memory, in thousandths of a cycle
  event::CycleServer tensor;  // the tensor pipe, in thousandths of a cycle
  std::int64_t
      wgmma_until = 0;  // thousandths: until then it works on wgmma, whose sums are registers
  std::int64_t free_registers = 0;
  std::int64_t free_warps = 0;
};

// Greedy-then-oldest: the warp issued last goes on while it is ready, else the oldest ready one.
// Loose round robin: the next ready one after the warp issued last. `s.ready` must not be empty.
[[nodiscard]] inline std::uint32_t choose(const Scheduler& s, gpu::WarpPolicy policy,
                                          std::span<const Warp> warps) {
  if (policy == gpu::WarpPolicy::LooseRoundRobin) {
    const std::uint64_t after = s.last == 63 ? 0 : s.ready & (~0ULL << (s.last + 1));
    return static_cast<std::uint32_t>(std::countr_zero(after != 0 ? after : s.ready));
  }
  if (((s.ready >> s.last) & 1) != 0) { return s.last; }
  std::uint32_t oldest = static_cast<std::uint32_t>(std::countr_zero(s.ready));
  for (std::uint64_t rest = s.ready & (s.ready - 1); rest != 0; rest &= rest - 1) {
    const auto w = static_cast<std::uint32_t>(std::countr_zero(rest));
    if (warps[w].age < warps[oldest].age) { oldest = w; }
  }
  return oldest;
}

}  // namespace wavetail::sm
