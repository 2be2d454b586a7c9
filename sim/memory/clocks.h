// SPDX-License-Identifier: Apache-2.0
// The clock domains of the machine: the SMs' (which may change during a run) and that of crossbar
// and L2.
#pragma once

#include "event/clock.h"
#include "gpu/spec.h"

namespace wavetail::memory {

struct Clocks {
  explicit Clocks(const gpu::GpuSpec& spec) : sm(spec.sm_clock()), l2(spec.clock.l2) {}

  event::Clock sm, l2;
};

}  // namespace wavetail::memory
