// SPDX-License-Identifier: Apache-2.0
#include "report/occupancy.h"

#include <fmt/format.h>

#include "occupancy/refusal.h"
#include "report/csv.h"
#include "report/json.h"
#include "report/table.h"
#include "unit/human.h"

namespace wavetail::report {

namespace {

using occupancy::bytes_of;
using occupancy::Launch;
using occupancy::Occupancy;

// Blocks that a resource allows; null where a block takes none of it.
Json limit(const std::optional<std::int64_t>& blocks) {
  return blocks ? Json(*blocks) : Json(nullptr);
}

// What is known only of a GPU, not of a compute capability.
Json known(std::int64_t value) { return value > 0 ? Json(value) : Json(nullptr); }

void add_waves(const Launch& l, const Occupancy& o, Json& json) {
  json["grid"] = l.grid;
  json["waves"] = known(o.waves);
  json["wave_efficiency_pct"] = o.waves > 0 ? number(o.wave_efficiency_pct) : Json(nullptr);
}

Json to_json(const gpu::GpuSpec& gpu, const Launch& l, const Occupancy& o) {
  Json json = {{"schema", "wavetail/occupancy/1"},
               {"gpu", gpu.name},
               {"block", l.block},
               {"registers", l.registers},
               {"shared_memory_bytes", l.shared_memory.count()},
               {"cluster", l.cluster},
               {"launchable", o.launchable},
               {"reason", o.reason},
               {"blocks_per_sm", o.blocks_per_sm},
               {"warps_per_block", o.warps_per_block},
               {"warps_per_sm", o.warps_per_sm},
               {"theoretical_occupancy_pct", number(o.theoretical_pct)},
               {"lanes_used_pct", number(o.lane_pct)},
               {"limiters", o.limiters}};
  if (o.launchable) {
    json["limits"] = {{"registers", limit(o.limits.registers)},
                      {"shared_memory", limit(o.limits.shared_memory)},
                      {"warps", o.limits.warps},
                      {"blocks", o.limits.blocks}};
    if (o.limits.tmem) { json["limits"]["tmem"] = *o.limits.tmem; }
    json["carveout_bytes"] = o.carveout.count();
    json["l1_bytes"] = o.l1.count();
    json["reachable_sms"] = known(o.reachable_sms);
    json["max_active_clusters"] = known(o.capacity() / l.cluster);
  }
  if (l.grid > 0) { add_waves(l, o, json); }
  return json;
}

}  // namespace

std::string occupancy_text(const gpu::GpuSpec& gpu, const Launch& l, const Occupancy& o) {
  std::string out = fmt::format("{}: {} threads, {} registers, {} shared", gpu.name, l.block,
                                l.registers, bytes_of(l.shared_memory));
  if (l.tmem_columns > 0) { out += fmt::format(", {} columns of tensor memory", l.tmem_columns); }
  out += l.cluster > 1 ? fmt::format(", clusters of {}\n", l.cluster) : "\n";
  if (!o.launchable) { return out + "not launchable: " + o.reason + "\n"; }
  Table table({{"", Table::Align::Left}, {"", Table::Align::Left}});
  table.add({"blocks per SM", std::to_string(o.blocks_per_sm)});
  table.add({"warps per SM", fmt::format("{} of {}, {}", o.warps_per_sm, gpu.sm.max_warps,
                                         unit::human(o.theoretical_pct, "pct"))});
  table.add({"limited by", fmt::format("{}", fmt::join(o.limiters, ", "))});
  table.add({"why", o.reason});
  table.add({"carve-out", fmt::format("{} shared memory, {} left for L1", bytes_of(o.carveout),
                                      bytes_of(o.l1))});
  if (o.reachable_sms > 0) {
    table.add({"SMs reached", fmt::format("{} of {}", o.reachable_sms, gpu.sms())});
  }
  if (o.reachable_sms > 0 && l.cluster > 1) {
    table.add({"clusters at once", std::to_string(o.capacity() / l.cluster)});
  }
  if (o.lane_pct < 100) {
    table.add(
        {"lanes used", unit::human(o.lane_pct, "pct") + " (the block is no multiple of a warp)"});
  }
  if (o.waves > 0) {
    table.add({"waves", fmt::format("{} for {} blocks, {} full", o.waves, l.grid,
                                    unit::human(o.wave_efficiency_pct, "pct"))});
  } else if (l.grid > 0) {
    table.add({"waves", fmt::format("unknown for {} blocks: a compute capability has no number of "
                                    "SMs; name a GPU",
                                    l.grid)});
  }
  return out + table.text(0);
}

std::string occupancy_json(const gpu::GpuSpec& gpu, const Launch& l, const Occupancy& o) {
  return text_of(to_json(gpu, l, o));
}

std::string occupancy_csv(const gpu::GpuSpec& gpu, const Launch& l, const Occupancy& o) {
  std::string keys;
  std::string values;
  const Json json = to_json(gpu, l, o);
  for (const auto& [key, value] : json.items()) {
    if (value.is_object()) { continue; }
    keys += (keys.empty() ? "" : ",") + key;
    std::string text = value.is_string() ? value.get<std::string>() : value.dump();
    if (value.is_array()) { text = fmt::format("{}", fmt::join(o.limiters, "+")); }
    values += (values.empty() ? "" : ",") + csv_cell(value.is_null() ? "" : text);
  }
  return keys + "\n" + values + "\n";
}

}  // namespace wavetail::report
