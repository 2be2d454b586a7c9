// SPDX-License-Identifier: Apache-2.0
// The constant delays and service times of the way from an SM to DRAM and back, derived once from
// the GpuSpec. Latencies in the spec are end to end; the hops get what is left after the least
// service times on the way, so that a lone one-sector load takes exactly the specified time.
#pragma once

#include <vector>

#include "gpu/spec.h"
#include "memory/clocks.h"
#include "memory/hbm_channel.h"

namespace wavetail::memory {

using unit::Duration;

struct Timing {
  Timing(const gpu::GpuSpec& spec, const Clocks& clocks);

  Duration to_l2, from_l2;      // constant part of each direction, near partition
  Duration far_extra;           // added in each direction for the far partition
  Duration to_dram, from_dram;  // slice to channel and back
  Duration acknowledgement;     // from L2's taking of a store to its warp
  // Of the memory-side cache, which is as far out as the channels: back from a hit, and the service
  // of one burst.
  Duration from_memory_side, memory_side_burst;
  // Service times by number of 32 B sectors, index 0..kMaxSectors.
  std::vector<Duration> slice, ingress, gpc_ingress, egress;
  std::vector<Duration> link;     // between dies, one way; empty where there is one die
  Duration atomic;                // of one operation on a sector in its slice
  std::vector<Duration> landing;  // of the TMA's data in shared memory
  ChannelTiming channel;
  // From leaving the load/store unit to the data, hit in L1; at the present SM clock.
  unit::Cycles l1_hit_cycles;
  Duration l1_hit;

  // The SM clock has changed. What is stated in time, and what counts the clock of L2, stays.
  void follow(const Clocks& clocks) { l1_hit = clocks.sm.span(l1_hit_cycles); }
};

inline constexpr int kMaxSectors = 512;
// A slice of L2 reads 64 B halves of lines, whether or not both sectors are wanted.
inline constexpr int kSectorsPerHalf = 2;

}  // namespace wavetail::memory
