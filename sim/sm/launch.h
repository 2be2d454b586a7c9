// SPDX-License-Identifier: Apache-2.0
// One launch of a kernel while it is on the machine: its compiled programs, where its arrays lie,
// what it needs per block, and the account that everything it does is booked on.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/kernel.h"
#include "memory/system.h"
#include "occupancy/occupancy.h"
#include "result/result.h"
#include "sm/code.h"

namespace wavetail::sm {

using unit::Time;

// The launch's presence on one SM.
struct Presence {
  memory::Account account;
  std::int64_t blocks = 0;        // resident now
  std::int64_t active_since = 0;  // SM cycle at which `blocks` last left zero
  bool reached = false;           // has run a block here
};

// A kernel whose blocks loop over tiles: how far its warps have come, and the rounds that are left
// out.
struct TileRounds {
  std::int64_t passes_per_round = 0;  // tiles ended by warps, one by each; 0: nobody counts
  std::int64_t passes = 0;
  std::int64_t furthest = 0;   // round that some warp has begun
  std::int64_t jump_from = 0;  // behind this round the next `jump` rounds are left out
  std::int64_t jump = 0;
};

// Trips of long loops that warps of the launch have ended.
struct LoopTrips {
  std::int64_t per_mark = 0;  // after so many the device is told; 0: nobody counts
  std::int64_t passed = 0;
  std::int64_t leap = 0;  // trips that every warp leaves out, once (Warp::leap_from)
};

// What a launch spent during some time under power control, in femtojoules at the clock for which
// the GPU file states energies.
struct Spent {
  unit::Duration time;
  std::int64_t core = 0, dram = 0;
};

struct Launch {
  std::uint32_t id = 0;
  std::int64_t kernel_index = 0;  // of the scenario
  const kernel::Kernel* kernel = nullptr;
  const std::vector<Code>* codes = nullptr;  // by role; see compile()
  std::vector<std::int64_t> array_base;      // bytes
  std::vector<bool> array_once;              // no other launch reads or writes it
  occupancy::Occupancy fit;
  std::int64_t registers_per_warp = 0;
  std::int64_t shared_memory_per_block = 0;  // bytes, reserve included
  std::int64_t cluster = 1;
  std::int64_t blocks = 0;      // of the grid
  std::int64_t next_block = 0;  // first one not yet placed
  std::int64_t retired = 0;
  Time started, ended;
  memory::Stores stores;               // a launch is complete when L2 has taken them all
  bool end_known = false;              // the event that completes it is scheduled
  std::int64_t l2_bytes_at_start = 0;  // of its arrays, held in L2 when it started
  bool replayed = false;               // answered from an identical earlier launch
  TileRounds rounds;
  LoopTrips trips;
  unit::Duration left_out;         // time of the trips of loops that were left out
  std::int64_t skipped_trips = 0;  // of one warp, together
  std::int64_t skipped_waves = 0;  // that were not simulated
  result::Counters counters;
  std::vector<Presence> presence;  // by SM
  std::int64_t cycles = 0;         // of the SM clock, from its start to its end
  result::Energy energy;           // what it took so far
  result::Work metered;            // of its counters, what `energy` has
  std::vector<Spent> spent;        // in order; the times add up to its own
};

}  // namespace wavetail::sm
