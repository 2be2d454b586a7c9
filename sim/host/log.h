// SPDX-License-Identifier: Apache-2.0
// What the host and its launches did and when, for the accounting of gaps and for traces.
#pragma once

#include <cstdint>
#include <vector>

#include "unit/quantity.h"

namespace wavetail::host {

using unit::Duration;
using unit::Time;

enum class SpanKind : std::uint8_t { LaunchCall, GraphCall, Sync, Work };

// One thing that the host thread did.
struct Span {
  SpanKind kind = SpanKind::LaunchCall;
  Time start, end;
};

// One launch on its way.
struct LaunchRecord {
  int kernel = -1;
  int stream = 0;
  std::size_t call = 0;    // index of the span of its call
  Time arrived;            // visible to the device
  Time started, ended;     // first block dispatched, last block retired
  bool on_device = false;  // dispatched; not yet ended in a run that was cut short
  bool replayed = false;
};

struct Log {
  std::vector<Span> spans;             // in order of time
  std::vector<LaunchRecord> launches;  // in order of their calls
};

}  // namespace wavetail::host
