// SPDX-License-Identifier: Apache-2.0
#include "gpu/spec.h"

#include <algorithm>
#include <numeric>

namespace wavetail::gpu {

std::string_view name(Confidence c) {
  switch (c) {
    case Confidence::Measured: return "measured";
    case Confidence::Vendor: return "vendor";
    case Confidence::Derived: return "derived";
    case Confidence::Assumed: return "assumed";
  }
  return "assumed";
}

std::int64_t GpuSpec::sms() const {
  return std::accumulate(gpcs.begin(), gpcs.end(), std::int64_t{0});
}

Hertz GpuSpec::sm_clock() const { return clock.mode == ClockMode::Boost ? clock.sm_max : clock.sm; }

Bandwidth GpuSpec::sustained_bandwidth() const {
  return Bandwidth{
      static_cast<std::int64_t>(static_cast<double>(hbm.bandwidth.count()) * hbm.efficiency)};
}

Bytes GpuSpec::cached() const { return l2.capacity + memory_side.capacity; }

Confidence GpuSpec::weakest() const {
  if (provenance.empty()) { return Confidence::Assumed; }
  auto weaker = [](const auto& a, const auto& b) {
    return a.second.confidence < b.second.confidence;
  };
  return std::max_element(provenance.begin(), provenance.end(), weaker)->second.confidence;
}

}  // namespace wavetail::gpu
