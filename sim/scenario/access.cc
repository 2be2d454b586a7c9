// SPDX-License-Identifier: Apache-2.0
// Loads and stores of a program: array, width, pattern, walk, and the alignment that vector
// accesses need.
#include <algorithm>

#include "base/nearest.h"
#include "scenario/access_parts.h"
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

// Reads a choice whose order is the enumeration's; false where it is none of them.
template <class E>
bool read_choice(const MapReader& map, std::string_view key, const std::vector<std::string>& names,
                 E& out) {
  if (!map.has(key)) { return true; }
  const auto index = config::choice(map.at(key), names);
  out = index ? static_cast<E>(*index) : out;
  return index.has_value();
}

// Keys that belong to one pattern only.
void read_pattern(const MapReader& map, const ProgramReader& reader, MemoryAccess& access) {
  const std::vector<std::string> names{"contiguous", "strided", "row_per_lane",
                                       "broadcast",  "random",  "listed"};
  if (!read_choice(map, "pattern", names, access.pattern)) { return; }
  const std::string& name = names[static_cast<std::size_t>(access.pattern)];
  const bool strided = access.pattern == Pattern::Strided || access.pattern == Pattern::RowPerLane;
  const PatternKeys keys{map, reader.diagnostics, name};
  if (keys.belongs("stride", strided, true)) {
    read_distance(map.at("stride"), access.width, access.stride, kLaneStride);
  }
  if (keys.belongs("offsets", access.pattern == Pattern::Listed, true)) {
    access.offsets = read_distances(map.at("offsets"), access.width,
                                    static_cast<std::size_t>(reader.warp_size), kLaneOffset);
  }
  std::int64_t seed = 0;
  if (keys.belongs("seed", access.pattern == Pattern::Random, false)) {
    map.read("seed", seed, {"0", ""});
  }
  access.seed = static_cast<std::uint64_t>(seed);
}

void read_strides(const At& at, const ProgramReader& reader, MemoryAccess& access) {
  const MapReader map(at.node, at.path, strides_keys(), at.diagnostics);
  if (map.has("block") && map.find("block")->is_list()) {
    const auto xyz = read_distances(map.at("block"), access.width, 3, kOffset);
    access.strides.block_x = !xyz.empty() ? xyz[0] : 0;
    access.strides.block_y = xyz.size() > 1 ? xyz[1] : 0;
    access.strides.block_z = xyz.size() > 2 ? xyz[2] : 0;
  } else if (map.has("block")) {
    read_distance(map.at("block"), access.width, access.strides.block_x, kOffset);
  }
  if (map.has("warp")) {
    read_distance(map.at("warp"), access.width, access.strides.warp, kOffset);
  }
  if (map.has("count")) {
    read_distance(map.at("count"), access.width, access.strides.count, kOffset);
  }
  access.strides.loop = read_loop_strides(map, reader, access.width, kOffset);
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

namespace {

void read_place(const MapReader& map, const ProgramReader& reader, kernel::Op& op) {
  MemoryAccess& access = op.access;
  read_array(map, reader.kernel, access.array);
  read_width(map, access.width);
  read_pattern(map, reader, access);
  read_walk(map, reader, access);
  if (map.has("offset")) { read_distance(map.at("offset"), access.width, access.offset, kOffset); }
  std::int64_t lanes = 0;
  map.read("lanes", lanes, {"1", std::to_string(reader.warp_size)});
  access.lanes = static_cast<int>(lanes);
  map.read("count", op.count, {"1", "1000000"});
  check_array(map, reader.kernel, access);
}

}  // namespace

kernel::Op read_memory_access(const At& at, kernel::OpKind kind, const ProgramReader& reader) {
  kernel::Op op;
  op.kind = kind;
  const bool copy = kind == kernel::OpKind::CpAsync;
  const MapReader map(at.node, at.path, copy ? copy_keys() : access_keys(), at.diagnostics);
  if (!at.node.is_map()) { return op; }
  read_place(map, reader, op);
  if (!copy) { read_choice(map, "cache", {"default", "streaming"}, op.access.bypass_l1); }
  return op;
}

// An atomic is a store that reads first, or, if it returns what it read, a load that writes.
kernel::Op read_atomic(const At& at, const ProgramReader& reader) {
  kernel::Op op;
  op.kind = kernel::OpKind::Store;
  op.access.atomic = true;
  const MapReader map(at.node, at.path, atomic_keys(), at.diagnostics);
  if (!at.node.is_map()) { return op; }
  read_place(map, reader, op);
  if (map.has("width") && op.access.width != 4 && op.access.width != 8) {
    map.at("width").complain("atomics are 4 B or 8 B wide per lane");
  }
  bool returns = false;
  map.read_flag("returns", returns);
  map.read_flag("aggregate", op.access.aggregate);
  if (returns) { op.kind = kernel::OpKind::Load; }
  return op;
}

}  // namespace wavetail::scenario
