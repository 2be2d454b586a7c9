// SPDX-License-Identifier: Apache-2.0
#include "gpu/rules.h"

#include <algorithm>
#include <numeric>

#include "config/setting.h"
#include "config/value.h"
#include "unit/print.h"

namespace wavetail::gpu {

namespace {

class Rules {
 public:
  Rules(const config::Node& root, config::Diagnostics& diagnostics)
      : root_(root), diagnostics_(diagnostics) {}

  // `message` follows "'path' is FOUND; ".
  void require(bool holds, std::string_view path, const std::string& message) {
    if (!holds) {
      config::At{node(path), "gpu." + std::string(path), diagnostics_}.refuse(message);
    }
  }

 private:
  const config::Node& node(std::string_view path) const {
    const config::Node* at = &root_;
    while (!path.empty() && at != nullptr) {
      const auto dot = std::min(path.find('.'), path.size());
      const config::Node* next = at->find(path.substr(0, dot));
      if (next == nullptr) { break; }
      at = next;
      path.remove_prefix(std::min(dot + 1, path.size()));
    }
    return *at;
  }

  const config::Node& root_;
  config::Diagnostics& diagnostics_;
};

Duration at_clock(Cycles cycles, Hertz clock) {
  return Duration{static_cast<std::int64_t>(static_cast<double>(cycles.count()) * 1e12 /
                                            static_cast<double>(clock.count()))};
}

void check_sm(const SmSpec& sm, Rules& rules) {
  const std::string schedulers = "sm.schedulers (" + std::to_string(sm.schedulers) + ")";
  rules.require(sm.registers % sm.schedulers == 0, "sm.registers",
                "it must be a multiple of " + schedulers);
  rules.require(sm.max_warps % sm.schedulers == 0, "sm.max_warps",
                "it must be a multiple of " + schedulers);
  rules.require(sm.registers % sm.register_unit == 0, "sm.register_unit",
                "it must divide sm.registers (" + std::to_string(sm.registers) + ")");
  rules.require(sm.max_threads_per_block % sm.warp_size == 0, "sm.max_threads_per_block",
                "it must be a multiple of sm.warp_size (" + std::to_string(sm.warp_size) + ")");
  rules.require(
      sm.shared_memory <= sm.unified_l1, "sm.shared_memory",
      "it is taken from sm.unified_l1 (" + unit::print(sm.unified_l1) + ") and cannot be larger");
  rules.require(sm.shared_memory_per_block <= sm.shared_memory, "sm.shared_memory_per_block",
                "a block cannot have more than the SM's sm.shared_memory (" +
                    unit::print(sm.shared_memory) + ")");
  rules.require(
      sm.shared_memory.count() == 0 || sm.shared_memory_unit <= sm.shared_memory,
      "sm.shared_memory_unit",
      "it cannot be larger than sm.shared_memory (" + unit::print(sm.shared_memory) + ")");
  const bool ascending = std::adjacent_find(sm.carveouts.begin(), sm.carveouts.end(),
                                            std::greater_equal<>()) == sm.carveouts.end();
  rules.require(ascending, "sm.carveouts", "its entries must ascend");
  rules.require(
      !ascending || sm.carveouts.back() == sm.shared_memory, "sm.carveouts",
      "its largest entry must be sm.shared_memory (" + unit::print(sm.shared_memory) + ")");
}

void check_pipes(const GpuSpec& spec, Rules& rules) {
  const auto divides = [&](const PipeSpec& pipe, std::string_view path) {
    rules.require(spec.sm.warp_size % pipe.lanes == 0, path,
                  "it must divide sm.warp_size (" + std::to_string(spec.sm.warp_size) + ")");
  };
  divides(spec.pipes.fp32, "pipes.fp32.lanes");
  divides(spec.pipes.int32, "pipes.int32.lanes");
  divides(spec.pipes.fp64, "pipes.fp64.lanes");
  divides(spec.pipes.sfu, "pipes.sfu.lanes");
  if (spec.pipes.redux.lanes > 0) { divides(spec.pipes.redux, "pipes.redux.lanes"); }
}

// Latencies are end to end, so every level must be farther than the one before it.
void check_memory(const GpuSpec& spec, Rules& rules) {
  const Duration l1 = at_clock(spec.l1.latency, spec.clock.sm);
  rules.require(spec.l2.latency_near > l1, "l2.latency_near",
                "it contains the way through L1 and must exceed l1.latency (" +
                    unit::print(spec.l1.latency) + ", " +
                    unit::print_real(unit::nanoseconds(l1), 4) + " ns at clock.sm)");
  rules.require(
      spec.l2.latency_far >= spec.l2.latency_near, "l2.latency_far",
      "it cannot be less than l2.latency_near (" + unit::print(spec.l2.latency_near) + ")");
  rules.require(spec.hbm.latency > spec.l2.latency_near, "hbm.latency",
                "it contains the way through L2 and must exceed l2.latency_near (" +
                    unit::print(spec.l2.latency_near) + ")");
  rules.require((spec.l1.tag_banks & (spec.l1.tag_banks - 1)) == 0, "l1.tag_banks",
                "it must be a power of two");
  rules.require(spec.hbm.interleave.count() % spec.hbm.burst.count() == 0, "hbm.interleave",
                "it must be a multiple of hbm.burst (" + unit::print(spec.hbm.burst) + ")");
  const auto interleave = static_cast<std::uint64_t>(spec.hbm.interleave.count());
  rules.require((interleave & (interleave - 1)) == 0, "hbm.interleave",
                "it must be a power of two");
  rules.require(spec.hbm.capacity > spec.l2.capacity, "hbm.capacity",
                "it must exceed l2.capacity (" + unit::print(spec.l2.capacity) + ")");
}

// Every partition of L2 has SMs of its own, and no far side.
void check_memory_side(const GpuSpec& spec, Rules& rules) {
  if (spec.memory_side.capacity.count() == 0) { return; }
  const std::string why = " where there is a memory_side_cache";
  const auto gpcs = static_cast<std::int64_t>(spec.gpcs.size());
  rules.require(spec.l2.partitions <= gpcs, "l2.partitions",
                "it cannot exceed the number of GPCs (" + std::to_string(gpcs) + ")" + why);
  rules.require(spec.l2.latency_far == spec.l2.latency_near, "l2.latency_far",
                "it must be l2.latency_near (" + unit::print(spec.l2.latency_near) + ")" + why);
  rules.require(spec.memory_side.latency > spec.l2.latency_near, "memory_side_cache.latency",
                "it contains the way through L2 and must exceed l2.latency_near (" +
                    unit::print(spec.l2.latency_near) + ")");
  rules.require(spec.hbm.latency > spec.memory_side.latency, "hbm.latency",
                "it contains the way through the memory-side cache and must exceed "
                "memory_side_cache.latency (" +
                    unit::print(spec.memory_side.latency) + ")");
  rules.require(spec.hbm.capacity > spec.cached(), "hbm.capacity",
                "it must exceed l2.capacity and memory_side_cache.capacity together (" +
                    unit::print(spec.cached()) + ")");
}

// A GPU with clusters has a TMA as well.
void check_tma(const GpuSpec& spec, Rules& rules) {
  if (spec.sm.max_cluster <= 1) { return; }
  const std::string why = "a GPU with clusters (sm.max_cluster) has a TMA";
  rules.require(spec.tma.rate.count() > 0, "tma.rate", why);
  rules.require(spec.tma.landing.count() > 0, "tma.landing", why);
  rules.require(spec.cluster.latency.count() > 0, "cluster.latency", why);
  rules.require(spec.cluster.pair_latency.count() > 0, "cluster.pair_latency", why);
}

// A limit that idling exceeds cannot be kept.
void check_power(const GpuSpec& spec, Rules& rules) {
  const PowerSpec& p = spec.power;
  if (!p.known()) { return; }
  rules.require(p.energy.static_watts < p.limit_watts, "power.energy.static",
                "it must be below power.limit (" + unit::print_real(p.limit_watts, 4) + " W)");
  rules.require(p.control.peak_window <= p.control.window, "power.control.peak_window",
                "it cannot exceed power.control.window (" + unit::print(p.control.window) + ")");
  rules.require(p.control.lowest <= spec.clock.sm, "power.control.lowest",
                "it cannot exceed clock.sm (" + unit::print(spec.clock.sm) + ")");
}

// A GPU with tensor memory says what its engine does.
void check_tcgen05(const GpuSpec& spec, Rules& rules) {
  if (spec.sm.tmem_columns == 0) { return; }
  rules.require(spec.tcgen05.read.count() > 0, "tcgen05",
                "a GPU with tensor memory (sm.tmem_columns) needs this section");
}

}  // namespace

void check_rules(const GpuSpec& spec, const config::Node& root, config::Diagnostics& diagnostics) {
  Rules rules(root, diagnostics);
  rules.require(spec.clock.sm_max >= spec.clock.sm, "clock.sm_max",
                "it cannot be below clock.sm (" + unit::print(spec.clock.sm) + ")");
  constexpr std::int64_t kMostSms = 4096;
  const auto sms = std::accumulate(spec.gpcs.begin(), spec.gpcs.end(), std::int64_t{0});
  rules.require(
      sms <= kMostSms, "gpcs",
      "it has " + std::to_string(sms) + " SMs in all; allowed up to " + std::to_string(kMostSms));
  constexpr std::int64_t kMostLines = 1 << 24;  // requests under way are numbered
  const std::int64_t lines = sms * (spec.l1.in_flight_lines + spec.l1.store_lines);
  rules.require(
      lines <= kMostLines,
      spec.l1.store_lines > spec.l1.in_flight_lines ? "l1.store_lines" : "l1.in_flight_lines",
      "on all SMs that is, with l1.in_flight_lines and l1.store_lines, " + std::to_string(lines) +
          " lines under way; allowed up to " + std::to_string(kMostLines));
  check_sm(spec.sm, rules);
  check_pipes(spec, rules);
  check_memory(spec, rules);
  check_memory_side(spec, rules);
  check_tma(spec, rules);
  check_power(spec, rules);
  check_tcgen05(spec, rules);
}

}  // namespace wavetail::gpu
