// SPDX-License-Identifier: Apache-2.0
// What could be best: the closed-form ceilings of one launch and the chain of figures that leads to
// each. The highest ceiling binds; no simulated launch may be faster. Hence only what is certain
// counts: the pins' rate, the least latencies, bytes that must move whatever the caches do.
//
//   dram       compulsory bytes not in L2 / pin bandwidth
//   l2         compulsory bytes through the crossbar and the slices
//   issue      warp instructions of the fullest SM / its schedulers
//   fp32 ...   the same for one pipe
//   shared     bank wavefronts of the fullest SM / the rate of shared memory
//   tensor     tensor instructions of the fullest SM / its tensor pipes
//   tma        bytes that the engine of the fullest SM fetches or sends / its rate
//   in_flight  bytes x least latency / most bytes that can be under way (Little)
//   latency    rounds of blocks x the dependent chain of one block
//   stated     the duration that the scenario states
#pragma once

#include "bound/work.h"
#include "gpu/spec.h"
#include "kernel/kernel.h"
#include "occupancy/occupancy.h"
#include "result/result.h"

namespace wavetail::bound {

// What the caches may spare one launch.
struct Caches {
  double in_l2_at_start = 0;  // bytes of its compulsory reads that may already be in L2
  // Bytes of its writes that may still be in L2 when it ends; absent: as many as L2 holds.
  std::optional<double> dirty_at_end;
};

// The launch must be launchable or of stated duration.
[[nodiscard]] result::Bound bound_of(const kernel::Kernel& kernel, const gpu::GpuSpec& gpu,
                                     const occupancy::Occupancy& occupancy, const Caches& caches);

}  // namespace wavetail::bound
