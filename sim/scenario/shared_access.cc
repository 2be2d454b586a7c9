// SPDX-License-Identifier: Apache-2.0
// Loads from and stores to shared memory: width, pattern, rows, swizzle, and the two rules that
// every one obeys: lanes stand at multiples of their width, and inside the block's shared memory.
#include <algorithm>
#include <bit>

#include "memory/bank_pattern.h"
#include "scenario/access_parts.h"
#include "scenario/keys.h"
#include "scenario/program.h"
#include "unit/print.h"

namespace wavetail::scenario {

namespace {

using config::At;
using config::MapReader;
using kernel::SharedAccess;
using kernel::SharedPattern;
using kernel::Swizzle;
using unit::Bytes;

constexpr config::Range kDistance{"-64 MiB", "64 MiB"};
constexpr config::Range kForward{"0 B", "64 MiB"};

std::string size(std::int64_t bytes) { return unit::print(Bytes{bytes}); }

// {bits, base, shift} of a swizzle.
void read_swizzle_bits(const At& at, Swizzle& swizzle) {
  const MapReader map(at.node, at.path, swizzle_keys(), at.diagnostics);
  std::int64_t bits = 0, base = 0, shift = 0;
  const bool whole = map.read("bits", bits, {"1", "5"}) && map.read("base", base, {"0", "10"}) &&
                     map.read("shift", shift, {"1", "10"});
  if (!whole) { return; }
  if (shift < bits) {
    map.at("shift").refuse("the bits that are XORed must not overlap: at least the " +
                           std::to_string(bits) + " of 'bits' is needed");
    return;
  }
  swizzle = {static_cast<int>(bits), static_cast<int>(base), static_cast<int>(shift)};
}

void read_swizzle(const At& at, SharedAccess& access) {
  static const std::vector<std::string> kModes{"none", "32B", "64B", "128B"};
  if (at.node.is_map()) {
    read_swizzle_bits(at, access.swizzle);
  } else if (const auto mode = config::choice(at, kModes)) {
    access.swizzle = *mode == 0 ? Swizzle{} : Swizzle{static_cast<int>(*mode), 4, 3};
  }
  const Swizzle& s = access.swizzle;
  if (s.bits > 0 && (1 << s.base) < access.width) {
    at.complain("it would tear the " + size(access.width) +
                " of a lane apart: 'base' must be at least " +
                std::to_string(std::countr_zero(static_cast<unsigned>(access.width))));
  }
}

// The keys of one pattern each.
class PatternReader {
 public:
  PatternReader(const MapReader& map, const ProgramReader& reader, SharedAccess& access)
      : map_(map), reader_(reader), access_(access) {}

  void read() {
    static const std::vector<std::string> kNames{"contiguous", "strided", "row",   "column",
                                                 "broadcast",  "random",  "listed"};
    if (map_.has("pattern")) {
      const auto index = config::choice(map_.at("pattern"), kNames);
      if (!index) { return; }
      access_.pattern = static_cast<SharedPattern>(*index);
    }
    keys({map_, reader_.diagnostics, kNames[static_cast<std::size_t>(access_.pattern)]});
  }

 private:
  [[nodiscard]] bool is(SharedPattern p) const { return access_.pattern == p; }

  void keys(const PatternKeys& keys) {
    const bool row = is(SharedPattern::Row), column = is(SharedPattern::Column);
    if (keys.belongs("stride", is(SharedPattern::Strided), true)) {
      read_distance(map_.at("stride"), access_.width, access_.stride, kDistance);
    }
    if (keys.belongs("pitch", row || column, true)) { pitch(map_.at("pitch")); }
    if (keys.belongs("lanes_per_row", row, true)) { per_line("lanes_per_row"); }
    if (keys.belongs("lanes_per_column", column, false)) { per_line("lanes_per_column"); }
    if (keys.belongs("offsets", is(SharedPattern::Listed), true)) {
      access_.offsets = read_distances(map_.at("offsets"), access_.width,
                                       static_cast<std::size_t>(reader_.warp_size), kDistance);
    }
    if (keys.belongs("seed", is(SharedPattern::Random), false)) {
      std::int64_t seed = 0;
      map_.read("seed", seed, {"0", ""});
      access_.seed = static_cast<std::uint64_t>(seed);
    }
    access_.bytes = is(SharedPattern::Random) ? access_.width : 0;
    if (keys.belongs("bytes", is(SharedPattern::Random), true)) {
      Bytes bytes{access_.bytes};
      map_.read("bytes", bytes, {size(access_.width), "64 MiB"});
      access_.bytes = bytes.count();
    }
  }

  void pitch(const At& at) {
    if (const auto bytes = config::quantity<Bytes>(at, kForward)) {
      access_.pitch = bytes->count();
      check_pitch(at, access_.pitch, access_.width);
    }
  }

  void per_line(std::string_view key) {
    std::int64_t lanes = 0;
    map_.read(key, lanes, {"1", std::to_string(reader_.warp_size)});
    access_.per_line = static_cast<int>(lanes);
  }

  const MapReader& map_;
  const ProgramReader& reader_;
  SharedAccess& access_;
};

void read_strides(const At& at, const ProgramReader& reader, SharedAccess& access) {
  const MapReader map(at.node, at.path, shared_strides_keys(), at.diagnostics);
  if (map.has("warp")) { read_distance(map.at("warp"), access.width, access.warp, kDistance); }
  if (map.has("count")) { read_distance(map.at("count"), access.width, access.count, kDistance); }
  access.loop = read_loop_strides(map, reader, access.width, kDistance);
}

// Every address of every warp and trip lies in the block's shared memory.
void check_extent(const At& at, const ProgramReader& reader, const kernel::Op& op) {
  if (reader.warps == 0) { return; }  // of a GPU or a role that could not be read
  const auto extent = memory::shared_extent(op.shared, reader.warp_size, reader.warps, op.count,
                                            reader.trips);
  const std::int64_t has = reader.kernel.shared_memory.count();
  if (extent.low >= 0 && extent.high <= has) { return; }
  const std::string reach = extent.low < 0 ? "it begins " + size(-extent.low) + " before"
                                           : "it reaches " + size(extent.high) + " into";
  at.complain(reach + " the block's shared memory; 'shared_memory' gives the block " + size(has));
}

}  // namespace

void check_pitch(const At& at, std::int64_t pitch, std::int64_t unit) {
  if (pitch % unit == 0) { return; }
  at.refuse("misaligned: rows this far apart put accesses of " + size(unit) +
            " beside multiples of " + size(unit) + "; pad by a multiple of " + size(unit) +
            ", or leave the rows unpadded and swizzle them: 'swizzle' keeps " + size(unit) +
            " together and needs no padding");
}

kernel::Op read_shared_access(const At& at, kernel::OpKind kind, const ProgramReader& reader) {
  kernel::Op op;
  op.kind = kind;
  const std::size_t before = at.diagnostics.count();
  const MapReader map(at.node, at.path, shared_access_keys(), at.diagnostics);
  if (!at.node.is_map()) { return op; }
  SharedAccess& access = op.shared;
  read_width(map, access.width);
  PatternReader(map, reader, access).read();
  if (map.has("swizzle")) { read_swizzle(map.at("swizzle"), access); }
  if (map.has("strides")) { read_strides(map.at("strides"), reader, access); }
  if (map.has("offset")) { read_distance(map.at("offset"), access.width, access.offset, kForward); }
  std::int64_t lanes = 0;
  map.read("lanes", lanes, {"1", std::to_string(reader.warp_size)});
  access.lanes = static_cast<int>(lanes);
  map.read("count", op.count, {"1", "1000000"});
  if (at.diagnostics.count() == before) { check_extent(at, reader, op); }
  return op;
}

}  // namespace wavetail::scenario
