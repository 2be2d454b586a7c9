// SPDX-License-Identifier: Apache-2.0
// What work costs: the energy of what counters count, by part of the machine, from the GPU file's
// `power.energy`. Counted events only: instructions, lanes, FLOPs and bytes that really moved.
#pragma once

#include "gpu/spec.h"
#include "result/result.h"

namespace wavetail::device {

// At `power.energy.clock`. `randomness`: of the data, kernel::Kernel::randomness.
[[nodiscard]] result::Work work_of(const gpu::GpuSpec& gpu, const result::Counters& counters,
                                   double randomness);

// What the core's share of it costs at another SM clock: the voltage falls with the clock, and the
// energy of switching with its square (clock^exponent; rounded to 2^-20).
[[nodiscard]] double energy_scale(const gpu::GpuSpec& gpu, unit::Hertz clock);

}  // namespace wavetail::device
