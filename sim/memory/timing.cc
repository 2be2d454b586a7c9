// SPDX-License-Identifier: Apache-2.0
#include "memory/timing.h"

#include <algorithm>
#include <cmath>

#include "memory/divider.h"
#include "memory/shape.h"

namespace wavetail::memory {

namespace {

// Picoseconds for n sectors at `rate` bytes (thousandths) per cycle of `clock`, rounded up.
std::vector<Duration> service(gpu::BytesPerCycle rate, const event::Clock& clock) {
  std::vector<Duration> table;
  const auto per_second = static_cast<Wide>(rate.count()) *
                          static_cast<std::uint64_t>(clock.frequency().count());
  for (int sectors = 0; sectors <= kMaxSectors; ++sectors) {
    // bytes x 10^12 / (rate/1000 x hertz)
    const Wide numerator = static_cast<Wide>(sectors) * kSectorBytes * 1'000'000'000'000'000ULL;
    table.emplace_back(static_cast<std::int64_t>((numerator + per_second - 1) / per_second));
  }
  return table;
}

// Picoseconds for n sectors one way over a link that carries `both` bytes per second in both.
std::vector<Duration> link_service(unit::Bandwidth both) {
  std::vector<Duration> table;
  if (both.count() == 0) { return table; }
  for (int sectors = 0; sectors <= kMaxSectors; ++sectors) {
    const double bytes = static_cast<double>(sectors) * kSectorBytes;
    table.emplace_back(static_cast<std::int64_t>(
        std::ceil(bytes * 1e12 / (static_cast<double>(both.count()) / 2))));
  }
  return table;
}

// Of one channel, where all together carry `rate` bytes per second.
Duration at_least_zero(Duration d) { return std::max(d, Duration{0}); }

Duration burst_at(double rate, const gpu::HbmSpec& hbm) {
  const double each = rate / static_cast<double>(hbm.channels);
  return Duration{
      static_cast<std::int64_t>(std::ceil(static_cast<double>(hbm.burst.count()) * 1e12 / each))};
}

ChannelTiming channel_timing(const gpu::HbmSpec& hbm) {
  ChannelTiming t;
  t.burst = burst_at(static_cast<double>(hbm.bandwidth.count()) * hbm.efficiency, hbm);
  t.row_access = hbm.row_access;
  t.opening = at_least_zero(hbm.row_access - t.burst);
  t.row_cycle = hbm.row_cycle;
  t.banks = hbm.banks;
  t.read_to_write = hbm.read_to_write;
  t.write_to_read = hbm.write_to_read;
  t.drain_bursts = std::max<std::int64_t>(1, hbm.write_drain * kLineBytes / hbm.burst.count());
  return t;
}

// The least time of an access in the load/store unit.
unit::Cycles least_wavefront(const gpu::L1Spec& l1) {
  constexpr std::int64_t kThousandths = 1000;
  const std::int64_t cycles = (kLineBytes * kThousandths + l1.bandwidth.count() - 1) /
                              l1.bandwidth.count();
  return std::min(unit::Cycles{cycles}, l1.latency);
}

}  // namespace

Timing::Timing(const gpu::GpuSpec& spec, const Clocks& clocks)
    : slice(service(spec.l2.slice_bandwidth, clocks.l2)),
      ingress(service(spec.crossbar.ingress, clocks.l2)),
      gpc_ingress(service(spec.crossbar.gpc_ingress, clocks.l2)),
      egress(service(spec.crossbar.egress, clocks.l2)),
      link(link_service(spec.die_link.bandwidth)),
      atomic(clocks.l2.span(spec.l2.atomic)),
      landing(service(std::max(spec.tma.landing, gpu::BytesPerCycle{1}), clocks.l2)),
      channel(channel_timing(spec.hbm)),
      l1_hit_cycles(spec.l1.latency - least_wavefront(spec.l1)),
      l1_hit(clocks.sm.span(l1_hit_cycles)) {
  const Duration lsu = clocks.sm.span(least_wavefront(spec.l1));
  const Duration l2_constant = at_least_zero(spec.l2.latency_near - lsu - slice[kSectorsPerHalf] -
                                             ingress[1]);
  to_l2 = l2_constant / 2;
  from_l2 = l2_constant - to_l2;
  const bool memory_side = spec.memory_side.capacity.count() > 0;
  const bool two_sided = spec.l2.partitions > 1 && !memory_side;
  far_extra = two_sided ? (spec.l2.latency_far - spec.l2.latency_near) / 2 : Duration{0};
  const Duration l2_mean = spec.l2.latency_near + far_extra;
  const Duration dram = at_least_zero(spec.hbm.latency - l2_mean -
                                      std::max(channel.row_access, channel.burst));
  to_dram = dram / 2;
  from_dram = dram - to_dram;
  acknowledgement = at_least_zero(spec.store_acknowledgement.latency - lsu - egress[1] - to_l2);
  if (memory_side) {
    memory_side_burst = burst_at(static_cast<double>(spec.memory_side.bandwidth.count()), spec.hbm);
    const Duration way = at_least_zero(spec.memory_side.latency - spec.l2.latency_near -
                                       memory_side_burst);
    to_dram = std::min(way / 2, dram);
    from_dram = dram - to_dram;
    from_memory_side = way - way / 2;
  }
}

}  // namespace wavetail::memory
