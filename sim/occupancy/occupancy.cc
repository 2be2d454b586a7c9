// SPDX-License-Identifier: Apache-2.0
#include "occupancy/occupancy.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/count.h"
#include "occupancy/refusal.h"

namespace wavetail::occupancy {

namespace {

std::int64_t ceil_div(std::int64_t a, std::int64_t b) { return a / b + (a % b != 0 ? 1 : 0); }

std::int64_t round_up(std::int64_t n, std::int64_t step) {
  return step > 0 ? ceil_div(n, step) * step : n;
}

// Warps that the register files of the sub-partitions hold together.
std::int64_t warps_by_registers(const gpu::SmSpec& sm, std::int64_t per_warp) {
  return sm.registers / sm.schedulers / per_warp * sm.schedulers;
}

// The smallest selectable size of shared memory that holds so much; the largest if none does.
unit::Bytes step_for(const gpu::SmSpec& sm, unit::Bytes bytes) {
  const auto step = std::find_if(sm.carveouts.begin(), sm.carveouts.end(),
                                 [&](unit::Bytes s) { return s >= bytes; });
  return step != sm.carveouts.end() ? *step : sm.shared_memory;
}

// Shared memory that the blocks of an SM can share.
unit::Bytes available(const gpu::GpuSpec& gpu, const Launch& l) {
  if (!l.carveout) { return gpu.sm.shared_memory; }
  return std::max(step_for(gpu.sm, *l.carveout),
                  step_for(gpu.sm, shared_memory_per_block(gpu, l.shared_memory)));
}

Limits limits_of(const gpu::GpuSpec& gpu, const Launch& l, std::int64_t warps) {
  const auto& sm = gpu.sm;
  Limits limits{.registers = {},
                .shared_memory = {},
                .tmem = {},
                .warps = sm.max_warps / warps,
                .blocks = sm.max_blocks};
  if (const auto per_warp = registers_per_warp(gpu, l.registers); per_warp > 0) {
    limits.registers = warps_by_registers(sm, per_warp) / warps;
  }
  if (const auto bytes = shared_memory_per_block(gpu, l.shared_memory); bytes.count() > 0) {
    limits.shared_memory = available(gpu, l) / bytes;
  }
  if (l.tmem_columns > 0) { limits.tmem = sm.tmem_columns / l.tmem_columns; }
  return limits;
}

struct Term {
  std::string name;
  std::int64_t blocks;
};

// The resources of which a block takes something, in the order in which they are named.
std::vector<Term> terms(const Limits& l) {
  std::vector<Term> all;
  if (l.registers) { all.push_back({"registers", *l.registers}); }
  if (l.shared_memory) { all.push_back({"shared_memory", *l.shared_memory}); }
  if (l.tmem) { all.push_back({"tmem", *l.tmem}); }
  all.push_back({"warps", l.warps});
  all.push_back({"blocks", l.blocks});
  return all;
}

std::string registers_sentence(const gpu::GpuSpec& gpu, const Launch& l, std::int64_t warps) {
  const auto per_warp = registers_per_warp(gpu, l.registers);
  return fmt::format(
      "a block takes {} x {} registers, and {} sub-partitions of {} hold {} such "
      "warps",
      base::count_of(warps, "warp"), per_warp, gpu.sm.schedulers,
      gpu.sm.registers / gpu.sm.schedulers, warps_by_registers(gpu.sm, per_warp));
}

std::string shared_memory_sentence(const gpu::GpuSpec& gpu, const Launch& l) {
  const auto reserved = gpu.sm.shared_memory_reserved;
  return fmt::format("a block takes {}{} of {}",
                     bytes_of(shared_memory_per_block(gpu, l.shared_memory)),
                     reserved.count() > 0 ? fmt::format(", {} of it reserved,", bytes_of(reserved))
                                          : std::string(),
                     bytes_of(available(gpu, l)));
}

// What a block takes of a resource and how much there is.
std::string needs(const std::string& name, const gpu::GpuSpec& gpu, const Launch& l,
                  std::int64_t warps) {
  if (name == "registers") { return registers_sentence(gpu, l, warps); }
  if (name == "shared_memory") { return shared_memory_sentence(gpu, l); }
  if (name == "tmem") {
    return fmt::format("a block takes {} of {} columns of tensor memory", l.tmem_columns,
                       gpu.sm.tmem_columns);
  }
  if (name == "warps") {
    return fmt::format("a block takes {} of {} warps", warps, gpu.sm.max_warps);
  }
  return fmt::format("an SM has {} block slots", gpu.sm.max_blocks);
}

// What else is to be said of the launch, behind the sentence.
std::string remarks(const gpu::GpuSpec& gpu, const Launch& l) {
  std::string out;
  if (l.cluster > kPortableCluster) {
    out += fmt::format(". Clusters above {} blocks need the non-portable opt-in", kPortableCluster);
  }
  if (l.carveout && available(gpu, l) != *l.carveout) {
    out += fmt::format(". A carve-out of {} was asked for; {} is the step taken",
                       bytes_of(*l.carveout), bytes_of(available(gpu, l)));
  }
  return out;
}

// "2 blocks per SM (16 of 64 warps), limited by registers: a block takes ...; shared_memory would
// allow 4, warps 8, blocks 32"
std::string sentence(const gpu::GpuSpec& gpu, const Launch& l, const Occupancy& o) {
  std::string binding, others;
  for (const auto& [name, blocks] : terms(o.limits)) {
    if (blocks == o.blocks_per_sm) {
      binding += fmt::format("{}{}: {}", binding.empty() ? "" : "; and by ", name,
                             needs(name, gpu, l, o.warps_per_block));
    } else {
      others += fmt::format(
          "{} {}{}", others.empty() ? ";" : ",", name,
          others.empty() ? fmt::format(" would allow {}", blocks) : fmt::format(" {}", blocks));
    }
  }
  return fmt::format("{} per SM ({} of {} warps), limited by {}{}{}",
                     base::count_of(o.blocks_per_sm, "block"), o.warps_per_sm, gpu.sm.max_warps,
                     binding, others, remarks(gpu, l));
}

void choose_carveout(const gpu::GpuSpec& gpu, const Launch& l, Occupancy& o) {
  const auto needed = shared_memory_per_block(gpu, l.shared_memory) * o.blocks_per_sm;
  o.carveout = l.carveout ? available(gpu, l) : step_for(gpu.sm, needed);
  o.l1 = std::max(unit::Bytes{}, gpu.sm.unified_l1 - o.carveout);
}

void count_waves(const Launch& l, Occupancy& o) {
  if (l.grid < 1 || o.capacity() < 1) { return; }
  o.waves = ceil_div(l.grid, o.capacity());
  o.wave_efficiency_pct = 100.0 * static_cast<double>(l.grid) /
                          (static_cast<double>(o.waves) * static_cast<double>(o.capacity()));
}

// The reason and the limiters of a launch that is refused.
void refuse(const std::vector<Refusal>& refusals, Occupancy& o) {
  for (const auto& [resource, why] : refusals) {
    o.reason += fmt::format("{}{}", o.reason.empty() ? "" : ". ", why);
    const bool known = std::find(o.limiters.begin(), o.limiters.end(), resource) !=
                       o.limiters.end();
    if (!resource.empty() && !known) { o.limiters.push_back(resource); }
  }
}

}  // namespace

Launch launch_of(const kernel::Kernel& kernel) {
  return {.block = kernel.block,
          .registers = kernel.registers,
          .shared_memory = kernel.shared_memory,
          .cluster = kernel::volume(kernel.cluster),
          .grid = kernel::volume(kernel.grid),
          .portable = kernel.portable,
          .carveout = kernel.carveout,
          .tmem_columns = kernel.tmem_columns};
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
  refuse(refusals(gpu, launch), o);
  if (!o.reason.empty()) { return o; }
  o.warps_per_block = ceil_div(launch.block, gpu.sm.warp_size);
  o.lane_pct = 100.0 * static_cast<double>(launch.block) /
               static_cast<double>(o.warps_per_block * gpu.sm.warp_size);
  o.limits = limits_of(gpu, launch, o.warps_per_block);
  const auto all = terms(o.limits);
  o.blocks_per_sm = std::min_element(all.begin(), all.end(), [](const Term& a, const Term& b) {
                      return a.blocks < b.blocks;
                    })->blocks;
  for (const auto& term : all) {
    if (term.blocks == o.blocks_per_sm) { o.limiters.push_back(term.name); }
  }
  o.launchable = o.blocks_per_sm > 0;
  o.warps_per_sm = o.blocks_per_sm * o.warps_per_block;
  o.theoretical_pct = 100.0 * static_cast<double>(o.warps_per_sm) /
                      static_cast<double>(gpu.sm.max_warps);
  o.reason = sentence(gpu, launch, o);
  if (!o.launchable) { return o; }
  o.reachable_sms = reachable_sms(gpu, launch.cluster);
  choose_carveout(gpu, launch, o);
  count_waves(launch, o);
  return o;
}

}  // namespace wavetail::occupancy
