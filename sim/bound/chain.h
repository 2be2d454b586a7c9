// SPDX-License-Identifier: Apache-2.0
// One block alone on an ideal machine: every instruction issues as early as its own dependencies
// allow and every load comes back after the least latency that its data can have. The time is a
// floor under any simulated block; the bytes under way are a ceiling over what the program lets be
// under way.
#pragma once

#include <vector>

#include "bound/work.h"
#include "gpu/spec.h"
#include "kernel/kernel.h"

namespace wavetail::bound {

struct BlockChain {
  double time_ns = 0;      // of the slowest warp
  double loads_bytes = 0;  // most bytes of loads under way, all warps of the block together
  double boxes_bytes = 0;  // the same of TMA boxes that the block fetches
  double memory_ns = 0;    // part of time_ns spent waiting for loads
};

// `latency_ns[i]` is the least latency of access i of `work.accesses`.
[[nodiscard]] BlockChain block_chain(const kernel::Kernel& kernel, const gpu::GpuSpec& gpu,
                                     const std::vector<double>& latency_ns);

}  // namespace wavetail::bound
