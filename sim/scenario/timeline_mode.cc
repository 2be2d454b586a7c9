// SPDX-License-Identifier: Apache-2.0
// What-if views of a timeline: as graphs, and without synchronisations.
#include <optional>
#include <utility>

#include "scenario/keys.h"
#include "scenario/timeline.h"

namespace wavetail::scenario {

namespace {

using host::Item;
using host::ItemKind;

bool is_sync(const Item& item) {
  return item.kind == ItemKind::SyncDevice || item.kind == ItemKind::SyncStream;
}

// Depth is bounded by the loader's limit on nesting.
std::vector<Item> without_syncs(std::vector<Item> items) {
  std::vector<Item> kept;
  bool behind_sync = false;
  for (Item& item : items) {
    const bool drop = is_sync(item) || (behind_sync && item.kind == ItemKind::HostWork);
    behind_sync = drop;
    if (drop) { continue; }
    if (item.kind == ItemKind::Repeat) {
      item.body = without_syncs(std::move(item.body));
      if (item.body.empty()) { continue; }
    }
    kept.push_back(std::move(item));
  }
  return kept;
}

// Whether the item is launches of one stream and nothing else; `stream` is set to it.
bool only_launches(const Item& item, std::optional<int>& stream) {
  if (item.kind == ItemKind::Repeat) {
    for (const Item& inner : item.body) {
      if (!only_launches(inner, stream)) { return false; }
    }
    return true;
  }
  if (item.kind != ItemKind::Launch || (stream && *stream != item.stream)) { return false; }
  stream = item.stream;
  return true;
}

void flatten(const Item& item, std::vector<Item>& out) {
  if (item.kind != ItemKind::Repeat) {
    out.push_back(item);
    out.back().stream = 0;
    return;
  }
  for (std::int64_t i = 0; i < item.repeat; ++i) {
    for (const Item& inner : item.body) { flatten(inner, out); }
  }
}

std::vector<Item> as_graphs(std::vector<Item> items) {
  std::vector<Item> out;
  bool open = false;  // out.back() is a graph that may grow
  for (Item& item : items) {
    std::optional<int> stream;
    if (only_launches(item, stream)) {
      if (!open || out.back().stream != stream.value_or(0)) {
        Item graph;
        graph.kind = ItemKind::Graph;
        graph.stream = stream.value_or(0);
        out.push_back(std::move(graph));
      }
      flatten(item, out.back().body);
      open = true;
      continue;
    }
    open = false;
    if (item.kind == ItemKind::Repeat) { item.body = as_graphs(std::move(item.body)); }
    out.push_back(std::move(item));
  }
  return out;
}

}  // namespace

TimelineMode read_mode(const config::Node* host, config::Diagnostics& diagnostics) {
  TimelineMode mode;
  const auto second = [&](std::string_view key, const std::vector<std::string>& names) {
    const config::Node* node = host == nullptr ? nullptr : host->find(key);
    return node != nullptr && config::choice({*node, "host." + std::string(key), diagnostics},
                                             names) == std::size_t{1};
  };
  mode.graph = second("mode", {"eager", "graph"});
  mode.drop_syncs = second("syncs", {"keep", "drop"});
  return mode;
}

std::vector<Item> apply_mode(std::vector<Item> items, TimelineMode mode) {
  if (mode.drop_syncs) { items = without_syncs(std::move(items)); }
  if (mode.graph) { items = as_graphs(std::move(items)); }
  return items;
}

}  // namespace wavetail::scenario
