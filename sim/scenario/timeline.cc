// SPDX-License-Identifier: Apache-2.0
#include "scenario/timeline.h"

#include <algorithm>

#include "base/nearest.h"
#include "scenario/keys.h"

namespace wavetail::scenario {

namespace {

using config::At;
using config::MapReader;
using host::Item;
using host::ItemKind;

constexpr config::Range kRepeat{"1", "10000000"};
constexpr std::string_view kMostStream = "1023";
constexpr double kMostItems = 1e7;  // after all repetitions

// Items by what stands first in them; `launch` and `graph` have companions.
config::KeyTable keys_for(std::string_view main) {
  if (main == "launch") {
    return {{"launch", "text", true, "the kernel"},
            {"stream", "count", false, "the stream; 0 if absent"},
            {"repeat", "count", false, "launches; 1 if absent"}};
  }
  if (main == "graph") {
    return {{"graph", "map", true, "the graph"},
            {"stream", "count", false, "the stream; 0 if absent"}};
  }
  return {{std::string(main), "", true, ""}};
}

class TimelineReader {
 public:
  TimelineReader(const KernelSet& kernels, config::Diagnostics& diagnostics)
      : kernels_(kernels), diagnostics_(diagnostics) {}

  std::vector<Item> list(const At& at, bool graph) {
    std::vector<Item> items;
    if (!at.node.is_list() || at.node.items.empty()) {
      at.refuse("a list with at least one item is needed");
      return items;
    }
    for (std::size_t i = 0; i < at.node.items.size(); ++i) {
      item({at.node.items[i], at.path + "[" + std::to_string(i) + "]", diagnostics_}, graph, items);
    }
    return items;
  }

 private:
  // The key that says what the item is. `repeat` with a number is a companion of `launch`.
  std::string main_key(const At& at) {
    const auto known = config::names(item_keys());
    for (const std::string& key : known) {
      const config::Node* value = at.node.find(key);
      if (value != nullptr && (key != "repeat" || value->is_map())) { return key; }
    }
    std::string word = at.node.is_scalar() ? at.node.text.substr(0, 60) : "";
    config::Place place = at.node.place;
    for (const config::Entry& entry : at.node.entries) {
      if (word.empty() || (entry.key != "stream" && entry.key != "repeat")) {
        word = entry.key;
        place = entry.place;
      }
    }
    const auto near = base::nearest_word(word, known);
    diagnostics_.error(place,
                       "'" + at.path + "': an item is a map of one of: " + base::joined(known) +
                           "; found " + (word.empty() ? config::found(at.node) : "'" + word + "'") +
                           (near && *near != word ? "; did you mean '" + *near + "'?" : ""));
    return {};
  }

  void item(const At& at, bool graph, std::vector<Item>& out) {
    const std::string main = main_key(at);
    if (main.empty()) { return; }
    const auto keys = keys_for(main);
    const MapReader map(at.node, at.path, keys, diagnostics_);
    if (graph && main != "launch") {
      at.complain("a graph holds launches only; found '" + main + "'");
    } else if (main == "launch") {
      launch(map, graph, out);
    } else if (main == "graph") {
      this->graph(map, out);
    } else if (main == "sync") {
      sync(map.at("sync"), out);
    } else if (main == "host") {
      Item work;
      work.kind = ItemKind::HostWork;
      map.read("host", work.work, {"0 ns", "1000 s"});
      out.push_back(work);
    } else {
      repeat(map.at("repeat"), out);
    }
  }

  void stream(const MapReader& map, bool graph, Item& out) {
    std::int64_t number = 0;
    map.read("stream", number, {"0", kMostStream});
    out.stream = static_cast<int>(number);
    if (graph && map.has("stream")) {
      map.at("stream").complain("a graph's nodes run in the graph's stream");
    }
  }

  void launch(const MapReader& map, bool graph, std::vector<Item>& out) {
    Item one;
    std::int64_t times = 1;
    map.read("repeat", times, kRepeat);
    stream(map, graph, one);
    const auto name = config::text(map.at("launch"));
    if (!name) { return; }
    const auto found = kernels_.by_name.find(*name);
    if (kernels_.by_name.empty()) { return; }  // the section itself is the mistake
    if (found == kernels_.by_name.end()) {
      map.at("launch").complain("there is no kernel '" + *name + "'" +
                                base::hint(*name, kernels_.names()));
      return;
    }
    if (found->second.size() == 1) {
      one.kernel = found->second.front();
      one.repeat = times;
      out.push_back(one);
      return;
    }
    Item group;
    group.kind = ItemKind::Repeat;
    group.repeat = times;
    for (const int index : found->second) {
      one.kernel = index;
      group.body.push_back(one);
    }
    if (times == 1) {
      out.insert(out.end(), group.body.begin(), group.body.end());
    } else if (!graph) {
      out.push_back(std::move(group));
    } else if (times <= 100'000) {
      for (std::int64_t i = 0; i < times; ++i) {
        out.insert(out.end(), group.body.begin(), group.body.end());
      }
    } else {
      map.at("repeat").complain(
          "a graph takes up to 100000 repetitions of a kernel in several parts");
    }
  }

  void graph(const MapReader& map, std::vector<Item>& out) {
    const At at = map.at("graph");
    const MapReader inner(at.node, at.path, graph_keys(), diagnostics_);
    Item graph;
    graph.kind = ItemKind::Graph;
    stream(map, false, graph);
    inner.read("repeat", graph.repeat, kRepeat);
    if (inner.has("body")) { graph.body = list(inner.at("body"), true); }
    out.push_back(std::move(graph));
  }

  void sync(const At& at, std::vector<Item>& out) {
    const auto what = config::text(at);
    if (!what) { return; }
    Item item;
    item.kind = ItemKind::SyncDevice;
    if (*what != "device") {
      constexpr std::string_view kStream = "stream ";
      const auto number = what->starts_with(kStream)
                              ? unit::parse_whole(std::string_view(*what).substr(kStream.size()),
                                                  unit::Dimension::Count)
                              : unit::Parsed<std::int64_t>{};
      if (!number || *number.value < 0 || *number.value > 1023) {
        at.refuse("allowed: device, stream N (0 to " + std::string(kMostStream) + ")");
        return;
      }
      item.kind = ItemKind::SyncStream;
      item.stream = static_cast<int>(*number.value);
    }
    out.push_back(item);
  }

  void repeat(const At& at, std::vector<Item>& out) {
    const MapReader map(at.node, at.path, repeat_keys(), diagnostics_);
    Item item;
    item.kind = ItemKind::Repeat;
    map.read("times", item.repeat, kRepeat);
    if (map.has("body")) { item.body = list(map.at("body"), false); }
    out.push_back(std::move(item));
  }

  const KernelSet& kernels_;
  config::Diagnostics& diagnostics_;
};

}  // namespace

double expanded(const std::vector<Item>& items) {
  double n = 0;
  for (const Item& item : items) {
    n += static_cast<double>(item.repeat) * (item.body.empty() ? 1 : expanded(item.body));
  }
  return n;
}

host::HostCosts read_host(const config::Node* node, const gpu::GpuSpec* gpu,
                          config::Diagnostics& diagnostics) {
  host::HostCosts costs;
  if (gpu != nullptr) {
    costs = {gpu->launch.host_launch, gpu->launch.host_graph_launch, gpu->launch.host_sync};
  }
  if (node != nullptr) {
    const MapReader map(*node, "host", host_keys(), diagnostics);
    map.read("launch", costs.launch, {"0 ns", "1 s"});
    map.read("graph_launch", costs.graph_launch, {"0 ns", "1 s"});
    map.read("sync", costs.sync, {"0 ns", "1 s"});
  }
  return costs;
}

std::vector<Item> read_timeline(const At& at, const KernelSet& kernels) {
  auto items = TimelineReader(kernels, at.diagnostics).list(at, false);
  if (expanded(items) > kMostItems) {
    at.complain("with its repetitions the timeline has more than 10000000 items");
    return {};
  }
  return items;
}

double stated_seconds(const std::vector<Item>& items, const std::vector<kernel::Kernel>& kernels,
                      const StatedCosts& costs) {
  double s = 0;
  for (const Item& item : items) {
    StatedCosts within = costs;
    if (item.kind == ItemKind::Graph) { within.host.launch = {}; }  // nodes are not called
    double once = unit::seconds(item.work) + stated_seconds(item.body, kernels, within);
    switch (item.kind) {
      case ItemKind::Launch:
        once += unit::seconds(
            costs.host.launch + costs.per_launch +
            kernels.at(static_cast<std::size_t>(item.kernel)).duration.value_or(unit::Duration{}));
        break;
      case ItemKind::Graph: once += unit::seconds(costs.host.graph_launch); break;
      case ItemKind::SyncDevice:
      case ItemKind::SyncStream: once += unit::seconds(costs.host.sync); break;
      case ItemKind::HostWork:
      case ItemKind::Repeat: break;
    }
    s += static_cast<double>(item.repeat) * once;
  }
  return s;
}

}  // namespace wavetail::scenario
