// SPDX-License-Identifier: Apache-2.0
// Boxes of the TMA: a contiguous range, or rows a pitch apart; where they go; which blocks of the
// cluster they are for. The hardware wants multiples of 16 bytes everywhere.
#include <algorithm>

#include "base/nearest.h"
#include "isa/mbarriers.h"
#include "scenario/keys.h"
#include "scenario/program.h"
#include "unit/print.h"

namespace wavetail::scenario {

namespace {

using config::At;
using config::MapReader;
using kernel::Box;
using kernel::WalkKind;
using unit::Bytes;

constexpr config::Range kBytes{"16 B", "227 KiB"};
constexpr config::Range kDistance{"-1000 TB", "1000 TB"};
constexpr std::int64_t kGranule = 16;

bool in_granules(const At& at, std::int64_t bytes) {
  if (bytes % kGranule == 0) { return true; }
  at.refuse(
      "the TMA moves multiples of 16 B between addresses that are multiples of 16 B; a row that is "
      "padded to avoid bank conflicts is not one: use 'swizzle' instead of padding");
  return false;
}

void read_size(const At& at, std::int64_t& out, config::Range range) {
  if (const auto bytes = config::quantity<Bytes>(at, range)) {
    if (in_granules(at, bytes->count())) { out = bytes->count(); }
  }
}

void read_rows(const MapReader& map, Box& box) {
  const At at = map.at("box");
  if (!at.node.is_list() || at.node.items.size() != 2) {
    at.complain("a list [rows, bytes per row] is needed");
    return;
  }
  const At rows{at.node.items[0], at.path + "[0]", at.diagnostics};
  const At row{at.node.items[1], at.path + "[1]", at.diagnostics};
  box.rows = config::quantity<std::int64_t>(rows, {"1", "256"}).value_or(1);
  read_size(row, box.row_bytes, kBytes);
  box.tensor_map = true;
}

void read_extent(const MapReader& map, Box& box) {
  const bool range = map.has("bytes");
  if (range == map.has("box")) {
    map.at("array").complain("'bytes' or 'box' is needed, not both");
    return;
  }
  if (range) {
    read_size(map.at("bytes"), box.row_bytes, kBytes);
  } else {
    read_rows(map, box);
  }
  box.pitch = box.row_bytes;
  if (!map.has("pitch")) { return; }
  if (range) {
    map.at("pitch").complain("'pitch' belongs to 'box'");
    return;
  }
  read_size(map.at("pitch"), box.pitch, {"16 B", "1 TB"});
  if (box.pitch < box.row_bytes) {
    map.at("pitch").refuse("a row of the box has " + unit::print(Bytes{box.row_bytes}));
  }
}

void read_swizzle(const MapReader& map, const Box& box) {
  if (!map.has("swizzle")) { return; }
  const std::vector<std::string> names{"none", "32B", "64B", "128B"};
  const auto which = config::choice(map.at("swizzle"), names);
  if (!which || *which == 0) { return; }
  const std::int64_t span = std::int64_t{16} << *which;
  if (box.row_bytes > span) {
    map.at("swizzle").refuse("a row of the box has " + unit::print(Bytes{box.row_bytes}) +
                             " and must not be wider than the swizzle");
  }
}

void read_box_strides(const At& at, const ProgramReader& reader, Box& box) {
  const MapReader map(at.node, at.path, box_strides_keys(), at.diagnostics);
  kernel::Strides& s = box.strides;
  if (map.has("block")) {
    const At block = map.at("block");
    if (!block.node.is_list()) {
      read_size(block, s.block_x, kDistance);
    } else {
      std::int64_t* const parts[] = {&s.block_x, &s.block_y, &s.block_z};
      if (block.node.items.empty() || block.node.items.size() > 3) {
        block.complain("a list of 1 to 3 sizes is needed");
        return;
      }
      for (std::size_t i = 0; i < block.node.items.size(); ++i) {
        read_size({block.node.items[i], block.path + "[" + std::to_string(i) + "]", at.diagnostics},
                  *parts[i], kDistance);
      }
    }
  }
  if (!map.has("loop")) { return; }
  const At loop = map.at("loop");
  if (!loop.node.is_list() || loop.node.items.size() > static_cast<std::size_t>(reader.loops)) {
    loop.complain("a list of at most " + std::to_string(reader.loops) +
                  " sizes is needed, one per enclosing loop");
    return;
  }
  for (std::size_t i = 0; i < loop.node.items.size(); ++i) {
    s.loop.push_back(0);
    read_size({loop.node.items[i], loop.path + "[" + std::to_string(i) + "]", at.diagnostics},
              s.loop.back(), kDistance);
  }
}

void read_box_walk(const MapReader& map, const ProgramReader& reader, Box& box) {
  if (map.has("walk") && map.has("strides")) {
    map.at("walk").complain("'walk' beside 'strides'; one of them says how the box moves");
    return;
  }
  if (map.has("strides")) {
    box.walk = WalkKind::Strides;
    read_box_strides(map.at("strides"), reader, box);
    return;
  }
  if (map.has("walk")) {
    const std::vector<std::string> names{"grid", "block", "same"};
    constexpr WalkKind kKinds[] = {WalkKind::Grid, WalkKind::Block, WalkKind::Same};
    if (const auto which = config::choice(map.at("walk"), names)) { box.walk = kKinds[*which]; }
  }
  if (box.pitch != box.row_bytes) {
    map.at("pitch").complain(
        "boxes whose rows are apart do not lie side by side; 'strides' must say how they move");
  }
}

// A number counts blocks along x first; letters name axes.
void read_multicast(const MapReader& map, const ProgramReader& reader, Box& box) {
  if (!map.has("multicast")) { return; }
  const At at = map.at("multicast");
  const kernel::Dim3& extent = reader.kernel.cluster;
  const std::string& text = config::plain(at.node).text;
  const bool axes = !text.empty() && text.find_first_not_of("xyz") == std::string::npos;
  if (axes) {
    for (const char axis : text) { box.multicast[static_cast<std::size_t>(axis - 'x')] = true; }
  } else {
    const auto n = config::quantity<std::int64_t>(at, {"1", "64"});
    if (!n) { return; }
    std::int64_t left = *n;
    for (std::size_t axis = 0; axis < 3 && left > 1; ++axis) {
      box.multicast[axis] = extent[axis] > 1 && left % extent[axis] == 0;
      left /= box.multicast[axis] ? extent[axis] : 1;
    }
    if (left != 1) {
      at.refuse("the cluster has " + std::to_string(extent[0]) + " x " + std::to_string(extent[1]) +
                " x " + std::to_string(extent[2]) +
                " blocks, and the box goes to all along some of its axes");
      return;
    }
  }
  const std::int64_t n = isa::receivers(box, reader.kernel);
  const bool divides = box.rows > 1 ? box.rows % n == 0 : box.row_bytes % (kGranule * n) == 0;
  if (!divides) {
    at.refuse("each of " + std::to_string(n) +
              " blocks fetches its share, but the box cannot be divided: " +
              (box.rows > 1 ? std::to_string(box.rows) + " rows"
                            : unit::print(Bytes{box.row_bytes}) + " in pieces of 16 B"));
  }
}

void check_size(const MapReader& map, const ProgramReader& reader, const Box& box) {
  if (box.array < 0 || box.row_bytes == 0) { return; }
  const kernel::Array& array = reader.kernel.arrays[static_cast<std::size_t>(box.array)];
  if (box.extent() > array.bytes.count()) {
    map.at("array").complain("the box reaches over " + unit::print(Bytes{box.extent()}) +
                             ", the array has " + unit::print(array.bytes));
  } else if (array.bytes.count() % kGranule != 0) {
    map.at("array").complain("misaligned: the array has " + unit::print(array.bytes) +
                             ", no multiple of 16 B");
  }
}

}  // namespace

Box read_box(const At& at, const config::KeyTable& keys, const ProgramReader& reader) {
  Box box;
  box.walk = WalkKind::Grid;
  const MapReader map(at.node, at.path, keys, at.diagnostics);
  if (!at.node.is_map()) { return box; }
  if (!map.has("array")) {
    at.complain("'array' is missing: where the box is in global memory");
    return box;
  }
  read_array(map, reader.kernel, box.array);
  read_extent(map, box);
  read_swizzle(map, box);
  read_box_walk(map, reader, box);
  if (map.has("offset")) { read_size(map.at("offset"), box.offset, kDistance); }
  read_multicast(map, reader, box);
  check_size(map, reader, box);
  return box;
}

}  // namespace wavetail::scenario
