// SPDX-License-Identifier: Apache-2.0
// How tables of library operators are made (AIConfigurator's collectors): a CUDA graph holds the
// operation once for every copy of its weights, as many copies as it takes to overflow L2 but at
// most five; it is replayed a few times to warm up and a few times between two events, all back to
// back. The figure is the mean time per operation of the timed replays, from end to end: gaps
// between nodes are in it, and so is the clock that a run of this length settles at.
//
//   auto kernels = from_template("gemm", ..., gpu);
//   return graph_replays(gpu, std::move(kernels), {.rotated = {"w"}, .copies =
//   rotated_copies(...)});
#pragma once

#include <string>
#include <vector>

#include "study/protocols/bench.h"

namespace wavetail::study {

// For scenarios of long launches that repeat themselves: a launch may stand for one that finds the
// caches nearly alike (1 % of its time), and steady waves are left out (0.5 %).
void let_repeat(scenario::Scenario& scenario);

// clamp(ceil(L2 / weights), 1, 5).
[[nodiscard]] std::int64_t rotated_copies(unit::Bytes weights, const gpu::GpuSpec& gpu);

struct GraphReplays {
  std::vector<std::string> rotated = {};  // arrays of which each operation of a graph has its copy
  std::int64_t copies = 1;                // operations in the graph
  std::int64_t warm_up = 3, timed = 6;    // replays
};

// A product D = X W^T, X [m, k].
struct LibrarySize {
  std::int64_t m = 0, n = 0, k = 0;

  [[nodiscard]] double flops() const {
    return 2 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

[[nodiscard]] LibrarySize read_size(Params& params);  // m, n and k

// One call after a write of gigabytes: the time on the device, as a profiler sums up its kernels.
// `metric`: time or throughput.
[[nodiscard]] Plan after_flush(std::vector<kernel::Kernel> kernels, double flops,
                               const std::string& metric, const gpu::GpuSpec& gpu);

// The same again and again in a stream: time or operations per second of the mean call.
[[nodiscard]] Plan again_and_again(std::vector<kernel::Kernel> kernels, double flops,
                                   const std::string& metric, const gpu::GpuSpec& gpu);

// The kernels of one operation, launched in this order. Arrays that are not rotated are the same
// for all operations. The figure is a time per operation.
[[nodiscard]] Plan graph_replays(const gpu::GpuSpec& gpu, std::vector<kernel::Kernel> operation,
                                 const GraphReplays& how);

}  // namespace wavetail::study
