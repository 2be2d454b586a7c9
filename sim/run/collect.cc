// SPDX-License-Identifier: Apache-2.0
#include "run/collect.h"

#include <algorithm>
#include <cmath>

#include "bound/bound.h"
#include "bound/little.h"
#include "host/gaps.h"
#include "isa/tensor.h"
#include "result/describe.h"
#include "run/warnings.h"
#include "unit/print.h"

namespace wavetail::run {

using result::Counters;
using result::KernelResult;
using result::RunResult;
using unit::Duration;

namespace {

constexpr std::size_t kWeakestShown = 5;

std::optional<double> share(double part, double whole, double scale = 100.0) {
  return whole > 0 ? std::optional<double>(part / whole * scale) : std::nullopt;
}

double real(std::int64_t n) { return static_cast<double>(n); }

void set_launch_figures(KernelResult& k, const kernel::Kernel& kernel, const KernelAccount& a) {
  k.grid = kernel::volume(kernel.grid);
  k.block = kernel.block;
  k.cluster = kernel::volume(kernel.cluster);
  k.registers = kernel.registers;
  k.shared_memory_bytes = real(kernel.shared_memory.count());
  k.waves = a.fit.waves;
  k.wave_efficiency_pct = a.fit.wave_efficiency_pct;
  k.sms_reached = a.sms_reached;
  k.blocks_per_sm = a.fit.blocks_per_sm;
  k.theoretical_occupancy_pct = a.fit.theoretical_pct;
  k.limiters = a.fit.limiters;
}

void set_sm_figures(KernelResult& k, const Counters& c, const gpu::GpuSpec& gpu,
                    const occupancy::Occupancy& fit) {
  const double active = real(c.active_sm_cycles);
  const double slots = active * real(gpu.sm.schedulers);
  k.achieved_occupancy_pct = share(real(c.resident_warp_cycles), active * real(gpu.sm.max_warps));
  k.warps_of_cap_pct = share(real(c.resident_warp_cycles), active * real(fit.warps_per_sm));
  k.active_lanes_pct = share(real(c.thread_instructions),
                             real(c.warp_instructions * gpu.sm.warp_size));
  k.issue_slot_pct = share(real(c.stalls.selected), slots);
  k.fp32_pct = share(real(c.fp32_busy), slots);
  k.sm_busy_pct = k.issue_slot_pct;
  for (const std::int64_t busy :
       {c.fp32_busy, c.int32_busy, c.fp64_busy, c.sfu_busy, c.redux_busy}) {
    k.sm_busy_pct = std::max(k.sm_busy_pct, share(real(busy), slots));
  }
  k.sm_busy_pct = std::max(k.sm_busy_pct, share(real(c.lsu_busy), active));
  if (c.tensor_busy > 0) {
    k.tensor_pct = share(real(c.tensor_busy), slots * isa::kThousandths);
    k.sm_busy_pct = std::max(k.sm_busy_pct, k.tensor_pct);
  }
  const double warp_cycles = real(c.stalls.total());
  result::describe(
      [&](std::string_view name, std::int64_t cycles, std::string_view, std::string_view) {
        k.stall_pct[std::string(name)] = share(real(cycles), warp_cycles).value_or(0);
      },
      c.stalls);
  const double all_slots = real(c.slots.total());
  result::describe(
      [&](std::string_view name, std::int64_t cycles, std::string_view, std::string_view) {
        k.slot_pct[std::string(name)] = share(real(cycles), all_slots).value_or(0);
      },
      c.slots);
}

void set_shared_memory_figures(KernelResult& k, const Counters& c) {
  const double requests = real(c.shared_load_requests + c.shared_store_requests);
  if (requests <= 0) { return; }
  k.bank_wavefronts_per_request = real(c.bank_wavefronts) / requests;
  k.bank_conflict_pct = share(real(c.bank_conflicts), real(c.bank_wavefronts));
  k.shared_busy_pct = share(real(c.shared_busy), real(c.active_sm_cycles));
}

void set_memory_figures(KernelResult& k, const Counters& c, const gpu::GpuSpec& gpu,
                        double total_ps) {
  const double launches = real(k.launches);
  const double dram = real(c.dram_read_bytes + c.dram_write_bytes);
  k.dram_read_bytes = real(c.dram_read_bytes) / launches;
  k.dram_write_bytes = real(c.dram_write_bytes) / launches;
  k.dram_gbps = share(dram, total_ps, 1e3);
  k.dram_pct = share(dram, total_ps * 1e-12 * real(gpu.hbm.bandwidth.count()));
  k.useful_gbps = share(
      real(c.useful_load_bytes + c.useful_store_bytes + c.tma_fetch_bytes + c.tma_store_bytes),
      total_ps, 1e3);
  k.l1_hit_pct = share(real(c.l1_hit_sectors + c.l1_pending_sectors), real(c.load_sectors));
  k.l2_sectors = real(c.l2_read_sectors + c.l2_write_sectors) / launches;
  k.l2_hit_pct = share(real(c.l2_hit_sectors), real(c.l2_read_sectors + c.l2_write_sectors));
  if (gpu.memory_side.capacity.count() > 0) {
    k.memory_side_hit_pct = share(real(c.memory_side_hit_sectors), real(c.memory_side_sectors));
  }
  const double requests = real(c.load_requests + c.store_requests);
  const double sectors = real(c.load_sectors + c.store_sectors);
  k.sectors_per_request = share(sectors, requests, 1);
  k.data_wavefronts_per_request = share(real(c.data_wavefronts), requests, 1);
  k.data_conflict_pct = share(real(c.data_conflicts), real(c.data_wavefronts));
  k.tag_wavefronts_per_request = share(real(c.tag_wavefronts), requests, 1);
  k.useful_sector_pct = share(real(c.distinct_bytes), sectors * real(gpu.l1.sector.count()));
  k.bytes_in_flight = share(c.in_flight_byte_ps, total_ps, 1);
  k.mean_latency_ns = share(real(c.latency_ps_sum), real(c.latency_bytes), 1e-3);
  if (c.latency_ps_sum > 0) {
    k.little_error_pct = std::abs(c.in_flight_byte_ps / real(c.latency_ps_sum) - 1) * 100;
  }
  k.tflops = share(c.flops, total_ps, 1);
  k.warp_instructions = real(c.warp_instructions) / launches;
}

// The bytes that really moved, at the rates of pins, ports and slices.
void set_traffic(KernelResult& k, const gpu::GpuSpec& gpu) {
  const double launches = real(k.launches);
  const auto us = [&](double bytes, double rate) {
    return rate > 0 ? bytes / launches / rate * 1e6 : 0;
  };
  const Counters& c = k.counters;
  k.traffic_us = std::max(
      {us(real(c.dram_read_bytes + c.dram_write_bytes), real(gpu.hbm.bandwidth.count())),
       us(real(c.ingress_bytes), k.bound.l2_to_sms), us(real(c.egress_bytes), k.bound.sms_to_l2)});
}

// Compulsory bytes over the capacity of L2: as the template states them, or from the closed form.
std::optional<double> l2_fit(const kernel::Kernel& kernel, const result::Bound& bound,
                             const gpu::GpuSpec& gpu) {
  const double capacity = real(gpu.l2.capacity.count());
  if (kernel.compulsory_read || kernel.compulsory_write) {
    return real(kernel.compulsory_read.value_or(unit::Bytes{}).count() +
                kernel.compulsory_write.value_or(unit::Bytes{}).count()) /
           capacity;
  }
  for (const result::ChainLink& link : bound.chain) {
    if (link.key == "compulsory_bytes") { return link.value / capacity; }
  }
  return std::nullopt;
}

// A matrix product is judged by the FLOPs that it was launched for; rows and columns of tiles that
// lie beyond the matrix are multiplied, too.
void set_tensor_figures(KernelResult& k, const kernel::Kernel& kernel, const Counters& c,
                        double total_ps) {
  if (!kernel.accumulators || c.tensor_busy == 0) { return; }
  const double useful = kernel.flops * real(k.launches);
  k.tflops = share(useful, total_ps, 1);
  k.fragment_fill_pct = share(useful, c.tensor_flops);
}

// Of a clock that is held, the stated one: cycles of a launch are whole.
double clock_mhz(const gpu::GpuSpec& gpu, const KernelAccount& a, bool throttled) {
  const double us = unit::microseconds(a.time);
  return throttled && us > 0 ? real(a.cycles) / us : real(gpu.sm_clock().count()) * 1e-6;
}

void set_power(KernelResult& k, const KernelAccount& a, const gpu::GpuSpec& gpu) {
  if (gpu.power.energy.static_watts <= 0 || a.time.count() <= 0) { return; }
  const double joules = a.energy.total();
  k.power_w = joules / unit::seconds(a.time);
  k.energy_mj = joules * 1e3 / real(a.launches);
  result::describe(
      [&](std::string_view name, double part, std::string_view, std::string_view) {
        k.energy_pct[std::string(name)] = share(part, joules).value_or(0);
      },
      a.energy);
}

// What set the clock: "spec 1830 MHz", "boost 1980 MHz", or what kept it down.
std::string regime_of(const gpu::GpuSpec& gpu, const Happened& happened) {
  const bool boost = gpu.clock.mode == gpu::ClockMode::Boost;
  const std::string set = (boost ? "boost " : "spec ") +
                          std::to_string(gpu.sm_clock().count() / 1'000'000) + " MHz";
  const auto watts = [](double w) { return unit::print_real(w, 4) + " W"; };
  std::string why;
  if (happened.held_by_limit.count() > 0) {
    why = "the power limit of " + watts(gpu.power.limit_watts);
  }
  if (happened.held_by_peak.count() > 0) {
    why += (why.empty() ? "" : " and ") + std::string("the peak limit of ") +
           watts(gpu.power.limit_watts * gpu.power.control.peak);
  }
  return why.empty() ? set : "throttled by " + why + "; " + set;
}

KernelResult kernel_result(const scenario::Scenario& s, std::size_t n, const KernelAccount& a,
                           bool throttled) {
  const kernel::Kernel& kernel = s.kernels[n];
  KernelResult k;
  k.name = kernel.name;
  k.role = kernel.role;
  k.note = kernel.note;
  k.launches = a.launches;
  k.replayed = a.replayed;
  k.skipped_trips = real(a.skipped_trips) / real(a.launches);
  k.skipped_waves = real(a.skipped_waves) / real(a.launches);
  k.time_total_us = unit::microseconds(a.time);
  k.time_us = k.time_total_us / real(a.launches);
  k.clock_mhz = clock_mhz(s.gpu, a, throttled);
  set_power(k, a, s.gpu);
  k.counters = a.counters;
  const bool simulated = !kernel.duration;
  bound::Caches caches;
  // The mean: the bound is one of the mean time.
  caches.in_l2_at_start = real(a.l2_bytes_at_start) / real(a.launches);
  k.bound = bound::bound_of(kernel, s.gpu, a.fit, caches);
  if (k.bound.time_us > 0) { k.time_over_bound = k.time_us / k.bound.time_us; }
  if (simulated) {
    set_launch_figures(k, kernel, a);
    set_sm_figures(k, a.counters, s.gpu, a.fit);
    set_memory_figures(k, a.counters, s.gpu, real(a.time.count()));
    set_shared_memory_figures(k, a.counters);
    set_traffic(k, s.gpu);
    k.l2_fit_ratio = l2_fit(kernel, k.bound, s.gpu);
    set_tensor_figures(k, kernel, a.counters, real(a.time.count()));
  }
  return k;
}

void set_gaps(RunResult& r, const host::Idle& idle) {
  r.busy_us = unit::microseconds(idle.busy);
  r.gaps.launch_bound_us = unit::microseconds(idle.launch_bound);
  r.gaps.sync_us = unit::microseconds(idle.sync);
  r.gaps.host_us = unit::microseconds(idle.host);
  r.gaps.dependency_us = unit::microseconds(idle.dependency);
  r.gaps.tail_us = unit::microseconds(idle.tail);
  r.gaps.launch_bound_count = idle.launch_bound_count;
  r.gaps.sync_count = idle.sync_count;
  r.gaps.host_count = idle.host_count;
  r.gaps.dependency_count = idle.dependency_count;
  r.gaps.startup_us = unit::microseconds(idle.startup);
}

// By kernel of the scenario: idle time before its launches, and whether graphs made all of them.
struct Launching {
  Duration gaps;
  std::int64_t followers = 0;  // its launches but the first of the run
  bool from_graphs = true;
};

std::vector<Launching> launching(const scenario::Scenario& s, const host::Log& log,
                                 const host::Idle& idle) {
  std::vector<Launching> all(s.kernels.size());
  for (std::size_t i = 0; i < log.launches.size(); ++i) {
    const host::LaunchRecord& l = log.launches[i];
    Launching& of = all[static_cast<std::size_t>(l.kernel)];
    of.gaps += idle.before[i];
    of.followers += i == idle.first ? 0 : 1;
    of.from_graphs = of.from_graphs && log.spans[l.call].kind == host::SpanKind::GraphCall;
  }
  return all;
}

void set_unfinished(RunResult& r, const scenario::Scenario& s, const Happened& happened) {
  for (const CutOff& c : happened.cut_off) {
    const host::LaunchRecord& l = happened.log.launches[c.record];
    r.unfinished.push_back({.kernel = s.kernels[static_cast<std::size_t>(l.kernel)].name,
                            .started_us = unit::microseconds(l.started - unit::Time{}),
                            .ran_us = unit::microseconds(happened.end - l.started),
                            .blocks = c.blocks,
                            .blocks_done = c.blocks_done,
                            .warp_instructions = real(c.counters.warp_instructions),
                            .dram_read_bytes = real(c.counters.dram_read_bytes),
                            .dram_write_bytes = real(c.counters.dram_write_bytes)});
  }
}

void set_confidence(RunResult& r, const gpu::GpuSpec& gpu) {
  const gpu::Confidence weakest = gpu.weakest();
  r.confidence = std::string(gpu::name(weakest));
  for (const auto& [path, provenance] : gpu.provenance) {
    if (provenance.confidence == weakest && r.weakest_values.size() < kWeakestShown) {
      r.weakest_values.push_back("gpu." + path);
    }
  }
}

std::string_view span_name(host::SpanKind kind) {
  switch (kind) {
    case host::SpanKind::LaunchCall: return "launch";
    case host::SpanKind::GraphCall: return "graph launch";
    case host::SpanKind::Sync: return "synchronise";
    case host::SpanKind::Work: return "host work";
  }
  return "";
}

double since_start(unit::Time t) { return unit::microseconds(t - unit::Time{}); }

void set_trace(RunResult& r, const scenario::Scenario& s, const host::Log& log) {
  for (const host::Span& span : log.spans) {
    r.trace.push_back({since_start(span.start), since_start(span.end),
                       std::string(span_name(span.kind)), "host"});
  }
  for (const host::LaunchRecord& l : log.launches) {
    if (l.ended > unit::Time{}) {
      r.trace.push_back({since_start(l.started), since_start(l.ended),
                         s.kernels[static_cast<std::size_t>(l.kernel)].name,
                         "stream " + std::to_string(l.stream)});
    }
  }
}

// Kernels in the order of their first launch.
std::vector<std::size_t> launch_order(const scenario::Scenario& s, const host::Log& log) {
  std::vector<bool> seen(s.kernels.size(), false);
  std::vector<std::size_t> order;
  for (const host::LaunchRecord& l : log.launches) {
    const auto k = static_cast<std::size_t>(l.kernel);
    if (!seen[k]) {
      seen[k] = true;
      order.push_back(k);
    }
  }
  return order;
}

}  // namespace

RunResult collect(const scenario::Scenario& s, const Happened& happened, bool trace) {
  RunResult r;
  r.scenario = s.name;
  r.gpu = s.gpu.name;
  r.clock_mhz = real(mean_clock(s.gpu, happened).count()) * 1e-6;
  r.regime = regime_of(s.gpu, happened);
  const bool throttled = (happened.held_by_limit + happened.held_by_peak).count() > 0;
  r.time_us = since_start(happened.end);
  r.events = happened.events;
  r.outcome = happened.outcome;
  r.outcome_message = happened.message;
  r.warnings = warnings_of(s);
  set_confidence(r, s.gpu);
  const host::Idle idle = host::account_for_gaps(happened.log, happened.end);
  const std::vector<Launching> launches = launching(s, happened.log, idle);
  r.gaps.from_graphs = true;
  for (const std::size_t k : launch_order(s, happened.log)) {
    if (happened.kernels[k].launches == 0) { continue; }
    r.kernels.push_back(kernel_result(s, k, happened.kernels[k], throttled));
    KernelResult& made = r.kernels.back();
    made.gap_us = share(unit::microseconds(launches[k].gaps), real(launches[k].followers), 1);
    made.from_graphs = launches[k].from_graphs;
    r.gaps.from_graphs = r.gaps.from_graphs && made.from_graphs;
    r.kernel_time_us += made.time_total_us;
  }
  set_gaps(r, idle);
  set_unfinished(r, s, happened);
  if (s.model_bytes) {
    r.mbu_pct = share(real(s.model_bytes->count()),
                      r.time_us * 1e-6 * real(s.gpu.hbm.bandwidth.count()));
  }
  if (s.assumed_latency) { r.closed_form = bound::in_flight_chain(s.gpu, *s.assumed_latency); }
  if (trace) { set_trace(r, s, happened.log); }
  return r;
}

}  // namespace wavetail::run
