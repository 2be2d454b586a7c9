// SPDX-License-Identifier: Apache-2.0
// Loads and stores of a program: array, width, pattern, walk, and the alignment that vector
// accesses need.
#include <algorithm>

#include "base/nearest.h"
#include "scenario/keys.h"
#include "scenario/program.h"
#include "unit/print.h"

namespace wavetail::scenario {

namespace {

using config::At;
using config::MapReader;
using kernel::MemoryAccess;
using kernel::Pattern;
using kernel::WalkKind;
using unit::Bytes;

constexpr config::Range kOffset{"-1000 TB", "1000 TB"};
constexpr config::Range kLaneStride{"-1 GiB", "1 GiB"};    // from lane to lane
constexpr config::Range kLaneOffset{"-64 GiB", "64 GiB"};  // of a lane from the first address

void read_width(const MapReader& map, MemoryAccess& access) {
  Bytes width{access.width};
  if (!map.read("width", width)) { return; }
  const auto n = width.count();
  if (n != 1 && n != 2 && n != 4 && n != 8 && n != 16) {
    map.at("width").refuse("allowed: 1 B, 2 B, 4 B, 8 B, 16 B");
    return;
  }
  access.width = static_cast<int>(n);
}

// Reads a choice whose order is the enumeration's; false where it is none of them.
template <class E>
bool read_choice(const MapReader& map, std::string_view key, const std::vector<std::string>& names,
                 E& out) {
  if (!map.has(key)) { return true; }
  const auto index = config::choice(map.at(key), names);
  out = index ? static_cast<E>(*index) : out;
  return index.has_value();
}

// A byte distance that must keep every lane on a multiple of the width.
void aligned(const At& at, std::int64_t bytes, const MemoryAccess& access) {
  if (bytes % access.width != 0) {
    at.refuse("misaligned: an access of " + std::to_string(access.width) +
              " B per lane needs multiples of " + std::to_string(access.width) + " B");
  }
}

void read_distance(const At& at, const MemoryAccess& access, std::int64_t& out,
                   config::Range range = kOffset) {
  if (const auto bytes = config::quantity<Bytes>(at, range)) {
    out = bytes->count();
    aligned(at, out, access);
  }
}

std::vector<std::int64_t> read_distances(const At& at, const MemoryAccess& access, std::size_t most,
                                         config::Range range = kOffset) {
  std::vector<std::int64_t> all;
  if (!at.node.is_list() || at.node.items.empty() || at.node.items.size() > most) {
    at.complain("a list of 1 to " + std::to_string(most) + " sizes is needed");
    return all;
  }
  for (std::size_t i = 0; i < at.node.items.size(); ++i) {
    all.push_back(0);
    read_distance({at.node.items[i], at.path + "[" + std::to_string(i) + "]", at.diagnostics},
                  access, all.back(), range);
  }
  return all;
}

// Keys that belong to one pattern only.
void read_pattern(const MapReader& map, const ProgramReader& reader, MemoryAccess& access) {
  const std::vector<std::string> names{"contiguous", "strided", "row_per_lane",
                                       "broadcast",  "random",  "listed"};
  if (!read_choice(map, "pattern", names, access.pattern)) { return; }
  const std::string& name = names[static_cast<std::size_t>(access.pattern)];
  const bool strided = access.pattern == Pattern::Strided || access.pattern == Pattern::RowPerLane;
  const auto belongs = [&](std::string_view key, bool fits, bool needed) {
    if (map.has(key) && !fits) {
      map.at(key).complain("'" + std::string(key) + "' does not belong to the pattern '" + name +
                           "'");
    } else if (!map.has(key) && fits && needed) {
      reader.diagnostics.error(
          map.node().place,
          "'" + map.path(key) + "' is missing: the pattern '" + name + "' needs it");
    }
    return map.has(key) && fits;
  };
  if (belongs("stride", strided, true)) {
    read_distance(map.at("stride"), access, access.stride, kLaneStride);
  }
  if (belongs("offsets", access.pattern == Pattern::Listed, true)) {
    access.offsets = read_distances(map.at("offsets"), access,
                                    static_cast<std::size_t>(reader.warp_size), kLaneOffset);
  }
  std::int64_t seed = 0;
  if (belongs("seed", access.pattern == Pattern::Random, false)) {
    map.read("seed", seed, {"0", ""});
  }
  access.seed = static_cast<std::uint64_t>(seed);
}

void read_strides(const At& at, const ProgramReader& reader, MemoryAccess& access) {
  const MapReader map(at.node, at.path, strides_keys(), at.diagnostics);
  if (map.has("block") && map.find("block")->is_list()) {
    const auto xyz = read_distances(map.at("block"), access, 3);
    access.strides.block_x = !xyz.empty() ? xyz[0] : 0;
    access.strides.block_y = xyz.size() > 1 ? xyz[1] : 0;
    access.strides.block_z = xyz.size() > 2 ? xyz[2] : 0;
  } else if (map.has("block")) {
    read_distance(map.at("block"), access, access.strides.block_x);
  }
  if (map.has("warp")) { read_distance(map.at("warp"), access, access.strides.warp); }
  if (map.has("count")) { read_distance(map.at("count"), access, access.strides.count); }
  if (map.has("loop")) {
    const At loop = map.at("loop");
    const auto depth = static_cast<std::size_t>(reader.loops);
    if (loop.node.is_list() && loop.node.items.size() > depth) {
      loop.complain("there are " + std::to_string(loop.node.items.size()) + " entries, but " +
                    std::to_string(depth) + " enclosing loops");
    } else {
      access.strides.loop = read_distances(loop, access, std::max<std::size_t>(depth, 1));
    }
  }
}

void read_walk(const MapReader& map, const ProgramReader& reader, MemoryAccess& access) {
  read_choice(map, "walk", {"grid", "block", "warp", "thread", "same", "everyone"}, access.walk);
  if (!map.has("strides")) { return; }
  if (map.has("walk")) {
    map.at("strides").complain("'walk' and 'strides' say the same thing; give one of them");
  }
  access.walk = WalkKind::Strides;
  read_strides(map.at("strides"), reader, access);
}

void check_array(const MapReader& map, const kernel::Kernel& kernel, const MemoryAccess& access) {
  if (access.array < 0) { return; }
  const kernel::Array& array = kernel.arrays[static_cast<std::size_t>(access.array)];
  if (array.bytes.count() % access.width != 0) {
    map.at("array").complain("misaligned: the array has " + unit::print(array.bytes) +
                             ", no multiple of the " + std::to_string(access.width) +
                             " B that each lane accesses");
  }
}

}  // namespace

void read_array(const MapReader& map, const kernel::Kernel& kernel, int& array) {
  std::string name;
  if (!map.read_text("array", name)) { return; }
  std::vector<std::string> names;
  for (const kernel::Array& a : kernel.arrays) { names.push_back(a.name); }
  const auto it = std::find(names.begin(), names.end(), name);
  if (it != names.end()) {
    array = static_cast<int>(it - names.begin());
    return;
  }
  const std::string hint = names.empty() ? "; the kernel has no arrays" : base::hint(name, names);
  map.at("array").complain("there is no array '" + name + "'" + hint);
}

kernel::Op read_memory_access(const At& at, kernel::OpKind kind, const ProgramReader& reader) {
  kernel::Op op;
  op.kind = kind;
  const bool copy = kind == kernel::OpKind::CpAsync;
  const MapReader map(at.node, at.path, copy ? copy_keys() : access_keys(), at.diagnostics);
  if (!at.node.is_map()) { return op; }
  MemoryAccess& access = op.access;
  read_array(map, reader.kernel, access.array);
  read_width(map, access);
  read_pattern(map, reader, access);
  read_walk(map, reader, access);
  if (map.has("offset")) { read_distance(map.at("offset"), access, access.offset); }
  std::int64_t lanes = 0;
  map.read("lanes", lanes, {"1", std::to_string(reader.warp_size)});
  access.lanes = static_cast<int>(lanes);
  map.read("count", op.count, {"1", "1000000"});
  if (!copy) { read_choice(map, "cache", {"default", "streaming"}, access.bypass_l1); }
  check_array(map, reader.kernel, access);
  return op;
}

}  // namespace wavetail::scenario
