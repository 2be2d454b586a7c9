// SPDX-License-Identifier: Apache-2.0
#include "bound/little.h"

#include <fmt/format.h>

#include <algorithm>

#include "unit/human.h"

namespace wavetail::bound {

double bytes_in_flight(unit::Bandwidth rate, unit::Duration latency) {
  return static_cast<double>(rate.count()) * unit::seconds(latency);
}

double rate_of(double bytes, unit::Duration latency) { return bytes / unit::seconds(latency); }

std::vector<result::ChainLink> in_flight_chain(const gpu::GpuSpec& gpu, unit::Duration latency) {
  const double total = bytes_in_flight(gpu.hbm.bandwidth, latency);
  const double sms = static_cast<double>(gpu.sms());
  return {{.name = "bytes in flight needed",
           .key = "needed_in_flight_bytes",
           .formula = "bandwidth x latency",
           .inputs = fmt::format("{} x {}", unit::human(gpu.hbm.bandwidth), unit::human(latency)),
           .value = total,
           .unit = "bytes"},
          {.name = "the same per SM",
           .key = "needed_in_flight_per_sm_bytes",
           .formula = "bytes in flight / SMs",
           .inputs = fmt::format("{} / {}", unit::human(total, "bytes"), gpu.sms()),
           .value = total / sms,
           .unit = "bytes"}};
}

unit::Duration least_dram_latency(const gpu::GpuSpec& gpu) {
  const auto half_distance = (gpu.l2.latency_far - gpu.l2.latency_near) / 2;
  const auto least = gpu.hbm.latency - half_distance - gpu.hbm.row_access;
  return std::max(gpu.l2.latency_near, least);
}

}  // namespace wavetail::bound
