// SPDX-License-Identifier: Apache-2.0
// Shared memory in closed form: the wavefronts that one warp instruction takes at least, and the
// data path that serves them one after the other.
//
//   column of float tile[32][32]: 32 wavefronts of 128 B; at 128 B per cycle 32 cycles
#pragma once

#include <cstdint>
#include <deque>

#include "bound/request.h"
#include "gpu/spec.h"
#include "kernel/op.h"

namespace wavetail::bound {

struct SharedRequest {
  int lanes = 0;       // that take part
  int wavefronts = 0;  // at least, wherever the instruction's address stands
  int passes = 0;      // of them, what they would be without conflicts
  bool exact = true;   // the same number at every address that the instruction comes to
};

// `op`: SharedLoad or SharedStore; `active`: the lanes that execute it, which the access may narrow
// further.
[[nodiscard]] SharedRequest shared_request_of(const kernel::Op& op, Lanes active,
                                              const gpu::GpuSpec& gpu);

// SM cycles that one wavefront keeps the data path.
[[nodiscard]] double cycles_per_wavefront(const gpu::GpuSpec& gpu);

// The data path as one warp alone sees it; times in cycles from the warp's start.
class SharedPath {
 public:
  explicit SharedPath(const gpu::GpuSpec& gpu)
      : each_(cycles_per_wavefront(gpu)),
        latency_(static_cast<double>(gpu.shared_memory.latency.count())) {}

  // `count` like accesses, issued one per cycle from `now` on; a load's data are there a latency
  // after its first wavefront and later by every further one.
  void serve(double now, const SharedRequest& request, std::int64_t count, bool load);

  // When all but the newest n loads are back, `now` at the earliest.
  [[nodiscard]] double back(double now, std::int64_t newest);

  // Everything under way comes that much later.
  void advance(double cycles);

 private:
  double each_, latency_;
  double free_ = 0;
  std::deque<double> ready_;  // of the last loads not yet waited for, oldest first
};

}  // namespace wavetail::bound
