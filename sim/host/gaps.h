// SPDX-License-Identifier: Apache-2.0
// Why the device was idle: every interval without a resident kernel, cut into the parts that one
// cause each explains. Busy time plus all gaps is the run's time, to the picosecond.
#pragma once

#include <vector>

#include "host/log.h"

namespace wavetail::host {

struct Idle {
  Duration launch_bound, sync, host, dependency, tail, busy;
  std::int64_t launch_bound_count = 0, sync_count = 0, host_count = 0, dependency_count = 0;
  Duration startup;  // part of launch_bound: before the first launch
  // By launch of the log: launch_bound and dependency right before it; nothing before the first.
  std::vector<Duration> before;
  std::size_t first = 0;  // the launch that started first
};

// `end`: the run's end, not before the last launch's. A launch that is still on the device then is
// busy until then.
[[nodiscard]] Idle account_for_gaps(const Log& log, Time end);

}  // namespace wavetail::host
