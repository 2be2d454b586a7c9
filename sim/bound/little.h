// SPDX-License-Identifier: Apache-2.0
// Closed forms of memory parallelism. Little's law: what is under way = rate x time under way,
// whatever the distribution (J. D. C. Little, Operations Research 9(3), 1961).
//
//   3.35 TB/s x 600 ns = 2.01 MB under way, 15.2 KB on each of 132 SMs
#pragma once

#include <vector>

#include "gpu/spec.h"
#include "result/result.h"
#include "unit/quantity.h"

namespace wavetail::bound {

// Bytes that must be under way to keep up `rate` at `latency`.
[[nodiscard]] double bytes_in_flight(unit::Bandwidth rate, unit::Duration latency);

// Bytes per second that `bytes` under way can bring at `latency`.
[[nodiscard]] double rate_of(double bytes, unit::Duration latency);

// The chain for an assumed latency: needed_in_flight_bytes, needed_in_flight_per_sm_bytes.
[[nodiscard]] std::vector<result::ChainLink> in_flight_chain(const gpu::GpuSpec& gpu,
                                                             unit::Duration latency);

// The least latency of a dependent load that DRAM has to answer: hbm.latency is the mean over both
// L2 partitions, of which the near one is faster by half their distance.
[[nodiscard]] unit::Duration least_dram_latency(const gpu::GpuSpec& gpu);

}  // namespace wavetail::bound
