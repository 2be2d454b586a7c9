// SPDX-License-Identifier: Apache-2.0
#include "scenario/reader.h"

#include <algorithm>
#include <cmath>

#include "base/nearest.h"
#include "gpu/keys.h"
#include "host/addresses.h"
#include "host/launches.h"
#include "memory/shape.h"
#include "scenario/kernels.h"
#include "scenario/keys.h"
#include "scenario/timeline.h"
#include "unit/print.h"

namespace wavetail::scenario {

namespace {

using config::At;
using config::Diagnostics;
using config::MapReader;
using config::Setting;

// Sections that settings may change, besides gpu.*.
std::vector<std::string> settable() {
  return {"gpu", "kernels", "host", "timeline", "simulation", "initial", "assume", "model_bytes"};
}

// Every path that could have been meant, for the hint.
std::vector<std::string> known_paths(const config::Node& root) {
  std::vector<std::string> paths{"gpu", "gpu.sms", "model_bytes"};
  for (const std::string& path : gpu::field_paths()) { paths.push_back("gpu." + path); }
  const auto add = [&](const std::string& section, const config::KeyTable& keys) {
    for (const config::Key& key : keys) { paths.push_back(section + "." + key.name); }
  };
  add("host", host_keys());
  add("simulation", simulation_keys());
  add("initial", initial_keys());
  add("assume", assume_keys());
  if (const config::Node* kernels = root.find("kernels")) {
    for (const config::Entry& kernel : kernels->entries) {
      for (const config::Entry& entry : kernel.value.entries) {
        paths.push_back("kernels." + kernel.key + "." + entry.key);
      }
    }
  }
  return paths;
}

// Whether the path leads somewhere; a kernel must exist, its keys are checked by the kernel's
// reader.
bool leads_somewhere(const config::Node& root, const Setting& setting, Diagnostics& diagnostics) {
  const auto steps = config::split_path(setting.path);
  const auto sections = settable();
  const bool known = steps && std::find(sections.begin(), sections.end(), steps->front().key) !=
                                  sections.end();
  if (!known) {
    diagnostics.error(setting.place, "unknown path '" + setting.path + "'" +
                                         base::hint(setting.path, known_paths(root), false));
    return false;
  }
  if (steps->front().key != "kernels") { return true; }
  const config::Node* kernels = root.find("kernels");
  std::vector<std::string> names;
  if (kernels != nullptr) {
    for (const config::Entry& entry : kernels->entries) { names.push_back(entry.key); }
  }
  const std::string name = steps->size() < 2 ? "" : (*steps)[1].key;
  const bool there = std::find(names.begin(), names.end(), name) != names.end();
  if (there && steps->size() == 2) {
    diagnostics.error(setting.place, "'" + setting.path +
                                         "' is a kernel; kernels.NAME.KEY is needed: its keys are "
                                         "set one by one");
    return false;
  }
  if (!there) {
    diagnostics.error(setting.place, "'" + setting.path +
                                         "': kernels.NAME.KEY is needed; there is no kernel '" +
                                         name + "'" + base::hint(name, names));
    return false;
  }
  return true;
}

void apply_settings(config::Node& root, std::span<const Setting> settings,
                    Diagnostics& diagnostics) {
  for (const Setting& setting : settings) {
    if (!setting.path.starts_with("gpu.") && leads_somewhere(root, setting, diagnostics)) {
      config::apply(root, setting, "", diagnostics);
    }
  }
}

// While a turn lasts no other warp of its scheduler comes in between: far beyond 64 the order of
// warps, and with it the time, is that of another machine.
void read_quantum(const MapReader& map, Simulation& simulation) {
  constexpr std::int64_t kMostQuantum = 64;
  if (!map.read("issue_quantum", simulation.issue_quantum, {"1", ""})) { return; }
  if (simulation.issue_quantum > kMostQuantum) {
    map.at("issue_quantum")
        .refuse("a warp would keep its scheduler for so many instructions; allowed 1 to " +
                std::to_string(kMostQuantum));
  }
}

double read_skip_waves(const MapReader& map) {
  if (!map.has("skip_waves")) { return 0; }
  const At at = map.at("skip_waves");
  if (config::plain(at.node).text == "off") { return 0; }
  return config::real(at, unit::Dimension::Fraction, {"0 %", "5 %"}).value_or(0);
}

Simulation read_simulation(const config::Node* node, Diagnostics& diagnostics) {
  Simulation simulation;
  if (node == nullptr) { return simulation; }
  const MapReader map(*node, "simulation", simulation_keys(), diagnostics);
  read_quantum(map, simulation);
  map.read_flag("replay", simulation.replay);
  simulation.skip_waves = read_skip_waves(map);
  std::int64_t seed = 1;
  if (map.read("seed", seed, {"0", ""})) { simulation.seed = static_cast<std::uint64_t>(seed); }
  return simulation;
}

void read_initial(const MapReader& root, Scenario& out, Diagnostics& diagnostics) {
  const config::Node* node = root.find("initial");
  if (node == nullptr) { return; }
  const MapReader map(*node, "initial", initial_keys(), diagnostics);
  if (map.has("l2")) {
    const std::vector<std::string> states{"empty", "clean", "dirty"};
    out.initial_l2 = static_cast<InitialL2>(config::choice(map.at("l2"), states).value_or(0));
  }
  if (map.has("board")) {
    const std::vector<std::string> states{"idle", "busy"};
    out.busy_board = config::choice(map.at("board"), states).value_or(0) == 1;
  }
  map.read("persisting_l2", out.persisting_l2, {"0 B", "1 TiB"});
  const unit::Bytes most = out.gpu.l2.capacity * 3 / 4;
  if (map.has("persisting_l2") && most.count() > 0 && out.persisting_l2 > most) {
    map.at("persisting_l2")
        .complain(unit::print(out.persisting_l2) + " is more than three quarters of L2; up to " +
                  unit::print(most) + " can be set aside");
  }
}

// Where the scenario describes an array of a kernel; the kernels themselves if it comes from a
// template.
At place_of(const MapReader& root, const kernel::Kernel& k, const kernel::Array& a) {
  const At kernels = root.at("kernels");
  const config::Node* node = &kernels.node;
  std::string path = kernels.path;
  for (const std::string& key : {k.name, std::string("arrays"), a.name}) {
    const config::Node* next = node->find(key);
    if (next == nullptr) { break; }
    node = next;
    path = config::join(path, key);
  }
  return {*node, path, kernels.diagnostics};
}

// Persisting arrays need something set aside for them.
void check_set_aside(const MapReader& root, const Scenario& s) {
  const config::Node* initial = root.find("initial");
  if (initial != nullptr && initial->find("persisting_l2") != nullptr) { return; }
  for (const kernel::Kernel& k : s.kernels) {
    for (const kernel::Array& a : k.arrays) {
      if (!a.persisting) { continue; }
      place_of(root, k, a)
          .complain(
              "is persisting, and nothing of L2 is set aside for it; give 'initial: "
              "{persisting_l2: "
              "SIZE}'");
      return;
    }
  }
}

void read_assumptions(const MapReader& map, Scenario& out, Diagnostics& diagnostics) {
  if (map.has("assume")) {
    const MapReader assume(*map.find("assume"), "assume", assume_keys(), diagnostics);
    unit::Duration latency;
    if (assume.read("latency", latency, {"1 ns", "1 s"})) { out.assumed_latency = latency; }
  }
  unit::Bytes bytes;
  if (map.read("model_bytes", bytes, {"1 B", "1000 TB"})) { out.model_bytes = bytes; }
}

// The timeline as `host.mode` and `host.syncs` have it.
std::vector<host::Item> read_items(const MapReader& map, const KernelSet& kernels,
                                   Diagnostics& diagnostics) {
  constexpr double kMostNodes = 1e6;
  auto items = read_timeline(map.at("timeline"), kernels);
  const TimelineMode mode = read_mode(map.find("host"), diagnostics);
  if (mode.graph && expanded(items) > kMostNodes) {
    map.at("host").complain("'mode: graph' takes timelines of up to 1000000 launches");
    return items;
  }
  return apply_mode(std::move(items), mode);
}

// A run counts picoseconds in 64 bits, 9.2 million seconds of them; what is simulated comes on top.
void check_length(const MapReader& map, const Scenario& scenario, const gpu::LaunchSpec& launch,
                  const KernelSet& kernels) {
  constexpr double kMostStatedS = 1e6;
  const auto gap = launch.submit +
                   std::max({launch.stream_gap, launch.graph_gap, launch.graph_start});
  const double stated = stated_seconds(scenario.timeline.items, kernels.kernels,
                                       {scenario.timeline.costs, gap});
  if (stated > kMostStatedS) {
    map.at("timeline")
        .complain(
            "its calls, gaps, host work and stated durations last more than 1000000 s in all");
  }
}

// Arrays, with the copies that launches get, must fit into the addresses that there are.
void check_addresses(const MapReader& map, const Scenario& scenario, const KernelSet& kernels) {
  const double most = std::ldexp(1.0, memory::kAddressBits);
  const auto launches = host::count_launches(scenario.timeline, kernels.kernels.size());
  const host::AddressSpace all = host::addresses_needed(kernels.kernels, launches);
  if (all.bytes > most) {
    map.at("kernels").complain(
        "the arrays take " + unit::print_real(all.bytes, 4) + " bytes of addresses, '" +
        all.largest + "' alone " + unit::print_real(all.largest_bytes, 4) +
        ", copies for launches counted; GPUs have addresses for " + unit::print_real(most, 15) +
        " (" + std::to_string(memory::kAddressBits) + " bits)");
  }
}

void read_schema(const MapReader& map) {
  std::string schema;
  if (map.read_text("schema", schema) && schema != "wavetail/scenario/1") {
    map.at("schema").refuse("a scenario says wavetail/scenario/1");
  }
}

// The command line's GPU stands in for the file's; the file need not name one then.
config::KeyTable keys_here(bool gpu_chosen) {
  config::KeyTable keys = root_keys();
  for (config::Key& key : keys) {
    key.required = key.required && !(gpu_chosen && key.name == "gpu");
  }
  return keys;
}

}  // namespace

std::optional<gpu::Document> GpuSource::load(const std::string& which, bool trusted,
                                             const config::Place& place,
                                             Diagnostics& diagnostics) const {
  const bool file = trusted && gpu::is_file_name(which);
  return file ? catalog_.load_file(which, diagnostics)
              : catalog_.load(which, beside_, place, diagnostics);
}

std::optional<gpu::Document> GpuSource::document(const config::Node* named,
                                                 std::span<const Setting> settings,
                                                 Diagnostics& diagnostics) {
  std::string which = chosen_.value_or("");
  config::Place place = config::place_of_setting("--gpu", which);
  if (!chosen_ && named != nullptr) {
    which = config::text({*named, "gpu", diagnostics}).value_or("");
    place = named->place;
  }
  if (which.empty()) {
    if (chosen_ || (named != nullptr && named->is_scalar() && named->text.empty())) {
      diagnostics.error(place, "'gpu' is empty; `wavetail list gpus` names them");
    }
    return std::nullopt;
  }
  auto known = known_.find(which);
  if (known == known_.end()) {
    known = known_.emplace(which, load(which, chosen_.has_value(), place, diagnostics)).first;
  }
  if (!known->second) { return std::nullopt; }
  gpu::Document document = *known->second;
  gpu::apply_settings(document, settings, diagnostics);
  return document;
}

std::optional<gpu::GpuSpec> GpuSource::read(const config::Node* named,
                                            std::span<const Setting> settings,
                                            Diagnostics& diagnostics) {
  const auto found = document(named, settings, diagnostics);
  return found ? gpu::read_gpu(*found, diagnostics) : std::nullopt;
}

bool GpuSource::chosen() const { return chosen_.has_value(); }

bool touches(std::span<const Setting> settings, std::string_view section) {
  return std::any_of(settings.begin(), settings.end(),
                     [&](const Setting& s) { return s.path.starts_with(section); });
}

namespace {

// The kernels of a scenario on this GPU; the base's where nothing can differ.
KernelSet kernels_of(const MapReader& map, const gpu::GpuSpec* gpu, const Inherited& inherited) {
  const Reading* base = inherited.base;
  if (base != nullptr && gpu != nullptr && *gpu == base->scenario.gpu &&
      !touches(inherited.own, "kernels")) {
    return base->kernels;
  }
  if (!map.has("kernels")) { return {}; }
  KernelSet kernels = read_kernels(map.at("kernels"), gpu);
  if (base != nullptr && kernels.kernels == base->kernels.kernels) {
    kernels.kernels = base->kernels.kernels;
  }
  return kernels;
}

}  // namespace

Reading read_scenario(config::Node root, std::span<const Setting> settings, GpuSource& gpus,
                      Diagnostics& diagnostics, const Inherited& inherited) {
  Reading reading;
  Scenario& out = reading.scenario;
  apply_settings(root, settings, diagnostics);
  const auto keys = keys_here(gpus.chosen());
  const MapReader map(root, "", keys, diagnostics);
  read_schema(map);
  map.read_text("name", out.name);
  map.read_text("description", out.description);
  const bool same_gpu = inherited.base != nullptr && !touches(inherited.own, "gpu");
  const auto gpu = same_gpu ? std::optional(inherited.base->scenario.gpu)
                            : gpus.read(map.find("gpu"), settings, diagnostics);
  reading.kernels = kernels_of(map, gpu ? &*gpu : nullptr, inherited);
  const KernelSet& kernels = reading.kernels;
  out.timeline.costs = read_host(map.find("host"), gpu ? &*gpu : nullptr, diagnostics);
  if (map.has("timeline")) {
    out.timeline.items = read_items(map, kernels, diagnostics);
    check_addresses(map, out, kernels);
    check_length(map, out, gpu ? gpu->launch : gpu::LaunchSpec{}, kernels);
  }
  out.simulation = read_simulation(map.find("simulation"), diagnostics);
  read_assumptions(map, out, diagnostics);
  out.gpu = gpu.value_or(gpu::GpuSpec{});
  out.kernels = kernels.kernels;
  read_initial(map, out, diagnostics);
  check_set_aside(map, out);
  return reading;
}

}  // namespace wavetail::scenario
