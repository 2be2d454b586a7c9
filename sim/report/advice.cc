// SPDX-License-Identifier: Apache-2.0
#include "report/advice.h"

#include <algorithm>

namespace wavetail::report {

std::vector<GapClass> gap_classes(const result::Gaps& g) {
  const double between = std::max(0.0, g.launch_bound_us - g.startup_us);
  const bool starts_only = between <= 0 && g.launch_bound_count <= 1;
  std::vector<GapClass> classes = {
      {"launch_bound", g.launch_bound_us, between, g.launch_bound_count,
       starts_only ? "the first launch is on its way"
                   : "the CPU launches more slowly than the GPU finishes",
       g.from_graphs ? "larger graphs, or fewer kernels: fuse small ones"
                     : "capture the launches in a graph, fuse small kernels, or launch from native "
                       "code"},
      {"sync", g.sync_us, g.sync_us, g.sync_count,
       "the host waits for the device before it launches again",
       "remove the synchronisation, or do the host's work before it and launch ahead"},
      {"host", g.host_us, g.host_us, g.host_count,
       "the host works while the device has nothing queued",
       "overlap the host's work with kernels: launch first, or work on another thread"},
      {"dependency", g.dependency_us, g.dependency_us, g.dependency_count,
       "the next kernel is queued and waits for the previous one to end",
       g.from_graphs ? "programmatic dependent launch, or fusion"
                     : "programmatic dependent launch, fusion, or a graph (its nodes follow more "
                       "closely)"},
      {"tail", g.tail_us, 0, 0, "after the last kernel", "the host's return from its last wait"},
  };
  std::stable_sort(classes.begin(), classes.end(),
                   [](const GapClass& a, const GapClass& b) { return a.time_us > b.time_us; });
  return classes;
}

}  // namespace wavetail::report
