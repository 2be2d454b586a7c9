// SPDX-License-Identifier: Apache-2.0
#include "occupancy/occupancy.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace wavetail::occupancy {

namespace {

constexpr std::int64_t kNoLimit = std::numeric_limits<std::int64_t>::max();

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

std::int64_t round_up(std::int64_t n, std::int64_t step) {
  return step > 0 ? ceil_div(n, step) * step : n;
}

std::string kib(unit::Bytes b) {
  const auto bytes = b.count();
  return bytes % 1024 == 0 ? fmt::format("{} KiB", bytes / 1024) : fmt::format("{} B", bytes);
}

// Why the hardware refuses the launch; empty if it does not.
std::string refusal(const gpu::GpuSpec& gpu, const Launch& l) {
  const auto& sm = gpu.sm;
  if (l.block < 1 || l.block > sm.max_threads_per_block) {
    return fmt::format("threads: {} per block; allowed 1 to {}", l.block, sm.max_threads_per_block);
  }
  if (l.registers < 0 || l.registers > sm.max_registers_per_thread) {
    return fmt::format("registers: {} per thread; allowed up to {}", l.registers,
                       sm.max_registers_per_thread);
  }
  const auto per_warp = registers_per_warp(gpu, l.registers);
  const auto warps = ceil_div(l.block, sm.warp_size);
  const auto checked_warps = round_up(warps, sm.warp_unit);
  if (per_warp > 0 && checked_warps > sm.registers / per_warp) {
    return fmt::format("registers: {} warps (in units of {}) x {} per warp = {}; an SM has {}",
                       checked_warps, sm.warp_unit, per_warp, checked_warps * per_warp,
                       sm.registers);
  }
  if (l.shared_memory.count() < 0 || l.shared_memory > sm.shared_memory_per_block) {
    return fmt::format("shared_memory: {} per block; a block may have up to {}",
                       kib(l.shared_memory), kib(sm.shared_memory_per_block));
  }
  if (l.cluster < 1 || l.cluster > sm.max_cluster) {
    return sm.max_cluster <= 1
               ? fmt::format("cluster: {} blocks; {} has no clusters", l.cluster, gpu.architecture)
               : fmt::format("cluster: {} blocks; allowed 1 to {}", l.cluster, sm.max_cluster);
  }
  if (reachable_sms(gpu, l.cluster) == 0) {
    return fmt::format("cluster: {} blocks; no GPC has as many SMs", l.cluster);
  }
  if (l.grid % l.cluster != 0) {
    return fmt::format("cluster: {} blocks do not divide a grid of {}", l.cluster, l.grid);
  }
  return {};
}

Limits limits_of(const gpu::GpuSpec& gpu, const Launch& l, std::int64_t warps) {
  const auto& sm = gpu.sm;
  Limits limits{.registers = kNoLimit,
                .shared_memory = kNoLimit,
                .warps = sm.max_warps / warps,
                .blocks = sm.max_blocks};
  if (const auto per_warp = registers_per_warp(gpu, l.registers); per_warp > 0) {
    const auto warps_that_fit = sm.registers / sm.schedulers / per_warp * sm.schedulers;
    limits.registers = warps_that_fit / warps;
  }
  if (const auto bytes = shared_memory_per_block(gpu, l.shared_memory); bytes.count() > 0) {
    limits.shared_memory = sm.shared_memory / bytes;
  }
  return limits;
}

struct Term {
  const char* name;
  std::int64_t blocks;
};

std::vector<Term> terms(const Limits& l) {
  return {{"registers", l.registers},
          {"shared_memory", l.shared_memory},
          {"warps", l.warps},
          {"blocks", l.blocks}};
}

std::string count_of(std::int64_t n, const char* noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

// "2 blocks per SM (16 of 64 warps): registers allow 2; shared_memory 4, warps 8, blocks 32"
std::string sentence(const gpu::GpuSpec& gpu, const Occupancy& o) {
  std::string binding;
  std::string others;
  for (const auto& [name, blocks] : terms(o.limits)) {
    if (blocks == o.blocks_per_sm) {
      binding += fmt::format("{}{}", binding.empty() ? "" : ", ", name);
    } else if (blocks != kNoLimit) {
      others += fmt::format("{}{} {}", others.empty() ? "" : ", ", name, blocks);
    }
  }
  const bool several = o.limiters.size() > 1 || binding.back() == 's';
  return fmt::format("{} per SM ({} of {} warps): {} {} {}{}{}", count_of(o.blocks_per_sm, "block"),
                     o.warps_per_sm, gpu.sm.max_warps, binding, several ? "allow" : "allows",
                     o.blocks_per_sm, others.empty() ? "" : "; ", others);
}

void choose_carveout(const gpu::GpuSpec& gpu, const Launch& l, Occupancy& o) {
  const auto needed = shared_memory_per_block(gpu, l.shared_memory) * o.blocks_per_sm;
  const auto& steps = gpu.sm.carveouts;
  const auto step = std::find_if(steps.begin(), steps.end(),
                                 [&](unit::Bytes s) { return s >= needed; });
  o.carveout = step != steps.end() ? *step : gpu.sm.shared_memory;
  o.l1 = std::max(unit::Bytes{}, gpu.sm.unified_l1 - o.carveout);
}

void count_waves(const Launch& l, Occupancy& o) {
  if (l.grid < 1 || o.capacity() < 1) { return; }
  o.waves = ceil_div(l.grid, o.capacity());
  o.wave_efficiency_pct = 100.0 * static_cast<double>(l.grid) /
                          (static_cast<double>(o.waves) * static_cast<double>(o.capacity()));
}

}  // namespace

Launch launch_of(const kernel::Kernel& kernel) {
  return {.block = kernel.block,
          .registers = kernel.registers,
          .shared_memory = kernel.shared_memory,
          .cluster = kernel::volume(kernel.cluster),
          .grid = kernel::volume(kernel.grid)};
}

std::int64_t registers_per_warp(const gpu::GpuSpec& gpu, std::int64_t registers_per_thread) {
  return round_up(registers_per_thread * gpu.sm.warp_size, gpu.sm.register_unit);
}

unit::Bytes shared_memory_per_block(const gpu::GpuSpec& gpu, unit::Bytes asked) {
  return unit::Bytes{
      round_up((asked + gpu.sm.shared_memory_reserved).count(), gpu.sm.shared_memory_unit.count())};
}

std::int64_t reachable_sms(const gpu::GpuSpec& gpu, std::int64_t cluster) {
  std::int64_t sms = 0;
  for (const auto gpc : gpu.gpcs) { sms += gpc / cluster * cluster; }
  return sms;
}

Occupancy occupy(const gpu::GpuSpec& gpu, const Launch& launch) {
  Occupancy o;
  o.reason = refusal(gpu, launch);
  if (!o.reason.empty()) {
    const auto resource = o.reason.substr(0, o.reason.find(':'));
    if (resource != "threads") {  // a malformed block, not a resource that ran out
      o.limiters = {resource};
    }
    return o;
  }
  o.warps_per_block = ceil_div(launch.block, gpu.sm.warp_size);
  o.lane_pct = 100.0 * static_cast<double>(launch.block) /
               static_cast<double>(o.warps_per_block * gpu.sm.warp_size);
  o.limits = limits_of(gpu, launch, o.warps_per_block);
  const auto all = terms(o.limits);
  o.blocks_per_sm = std::min_element(all.begin(), all.end(), [](const Term& a, const Term& b) {
                      return a.blocks < b.blocks;
                    })->blocks;
  for (const auto& term : all) {
    if (term.blocks == o.blocks_per_sm) { o.limiters.emplace_back(term.name); }
  }
  if (o.blocks_per_sm == 0) {
    o.reason = fmt::format("{}: not even one block fits on an SM", o.limiters.front());
    return o;
  }
  o.launchable = true;
  o.warps_per_sm = o.blocks_per_sm * o.warps_per_block;
  o.theoretical_pct = 100.0 * static_cast<double>(o.warps_per_sm) /
                      static_cast<double>(gpu.sm.max_warps);
  o.reachable_sms = reachable_sms(gpu, launch.cluster);
  choose_carveout(gpu, launch, o);
  count_waves(launch, o);
  o.reason = sentence(gpu, o);
  return o;
}

}  // namespace wavetail::occupancy
