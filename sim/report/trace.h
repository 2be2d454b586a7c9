// SPDX-License-Identifier: Apache-2.0
// The run as Chrome trace-event JSON, for Perfetto and chrome://tracing: one track per host thread,
// stream, SM or channel, complete events with `ts` and `dur` in microseconds from the run's start.
#pragma once

#include <string>

#include "result/result.h"

namespace wavetail::report {

// One event per line. Tracks come in the order of their first interval.
[[nodiscard]] std::string to_trace(const result::RunResult& run);

}  // namespace wavetail::report
