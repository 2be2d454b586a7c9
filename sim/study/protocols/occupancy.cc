// SPDX-License-Identifier: Apache-2.0
// Launch rules: what the GPU's file says of a limit, and how many blocks of a launch the rules put
// on an SM. Nothing is simulated.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "occupancy/occupancy.h"
#include "study/protocols/all.h"

namespace wavetail::study {

namespace {

struct Rule {
  std::string_view name;
  Quantity quantity;
  std::int64_t (*value)(const gpu::SmSpec&);
};

constexpr Rule kRules[] = {
    {"registers per SM", Quantity::Count, [](const gpu::SmSpec& s) { return s.registers; }},
    {"max regs per thread", Quantity::Count,
     [](const gpu::SmSpec& s) { return s.max_registers_per_thread; }},
    {"max warps per SM", Quantity::Count, [](const gpu::SmSpec& s) { return s.max_warps; }},
    {"max blocks per SM", Quantity::Count, [](const gpu::SmSpec& s) { return s.max_blocks; }},
    {"smem per SM", Quantity::Size, [](const gpu::SmSpec& s) { return s.shared_memory.count(); }},
    {"max smem per block (opt-in)", Quantity::Size,
     [](const gpu::SmSpec& s) { return s.shared_memory_per_block.count(); }},
    {"driver-reserved smem per block", Quantity::Size,
     [](const gpu::SmSpec& s) { return s.shared_memory_reserved.count(); }},
    {"max cluster size portable", Quantity::Count,
     [](const gpu::SmSpec& s) { return std::min(s.max_cluster, occupancy::kPortableCluster); }},
    {"max cluster size", Quantity::Count, [](const gpu::SmSpec& s) { return s.max_cluster; }},
};

Plan stated(double value, Quantity quantity) {
  return {{}, quantity, [=](const run::Happened&) { return value; }};
}

}  // namespace

Plan occupancy_rule_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"value"});
  std::vector<std::string_view> names;
  for (const Rule& r : kRules) { names.push_back(r.name); }
  const std::string name = params.one_of("rule", names);
  for (const Rule& r : kRules) {
    if (r.name == name) { return stated(static_cast<double>(r.value(gpu.sm)), r.quantity); }
  }
  throw Unmapped(fmt::format("rule={}", name));
}

Plan occupancy_case_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"blocks_per_sm"});
  params.ignore({"kernel", "limit_regs", "limit_smem", "limit_warps"});
  const auto fit = occupancy::occupy(
      gpu,
      {.block = params.count("block"),
       .registers = params.count("regs"),
       .shared_memory = unit::Bytes{std::llround(params.number("dyn_smem_kB_decimal") * 1e3)}});
  return stated(static_cast<double>(fit.blocks_per_sm), Quantity::Count);
}

}  // namespace wavetail::study
