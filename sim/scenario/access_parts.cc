// SPDX-License-Identifier: Apache-2.0
#include "scenario/access_parts.h"

#include <algorithm>

#include "unit/print.h"

namespace wavetail::scenario {

using config::At;
using config::MapReader;
using unit::Bytes;

void read_width(const MapReader& map, int& width) {
  Bytes bytes{width};
  if (!map.read("width", bytes)) { return; }
  const auto n = bytes.count();
  if (n != 1 && n != 2 && n != 4 && n != 8 && n != 16) {
    map.at("width").refuse("allowed: 1 B, 2 B, 4 B, 8 B, 16 B");
    return;
  }
  width = static_cast<int>(n);
}

void read_distance(const At& at, int width, std::int64_t& out, config::Range range) {
  const auto bytes = config::quantity<Bytes>(at, range);
  if (!bytes) { return; }
  out = bytes->count();
  if (out % width != 0) {
    const std::string unit = unit::print(Bytes{width});
    at.refuse("misaligned: an access of " + unit + " per lane needs multiples of " + unit);
  }
}

std::vector<std::int64_t> read_distances(const At& at, int width, std::size_t most,
                                         config::Range range) {
  std::vector<std::int64_t> all;
  if (!at.node.is_list() || at.node.items.empty() || at.node.items.size() > most) {
    at.complain("a list of 1 to " + std::to_string(most) + " sizes is needed");
    return all;
  }
  for (std::size_t i = 0; i < at.node.items.size(); ++i) {
    all.push_back(0);
    read_distance({at.node.items[i], at.path + "[" + std::to_string(i) + "]", at.diagnostics},
                  width, all.back(), range);
  }
  return all;
}

std::vector<std::int64_t> read_loop_strides(const MapReader& map, const ProgramReader& reader,
                                            int width, config::Range range) {
  if (!map.has("loop")) { return {}; }
  const At loop = map.at("loop");
  const auto depth = static_cast<std::size_t>(reader.loops);
  if (loop.node.is_list() && loop.node.items.size() > depth) {
    loop.complain("there are " + std::to_string(loop.node.items.size()) + " entries, but " +
                  std::to_string(depth) + " enclosing loops");
    return {};
  }
  return read_distances(loop, width, std::max<std::size_t>(depth, 1), range);
}

bool PatternKeys::belongs(std::string_view key, bool fits, bool needed) const {
  if (map.has(key) && !fits) {
    map.at(key).complain("'" + std::string(key) + "' does not belong to the pattern '" + pattern +
                         "'");
  } else if (!map.has(key) && fits && needed) {
    diagnostics.error(map.node().place,
                      "'" + map.path(key) + "' is missing: the pattern '" + pattern + "' needs it");
  }
  return map.has(key) && fits;
}

}  // namespace wavetail::scenario
