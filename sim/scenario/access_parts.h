// SPDX-License-Identifier: Apache-2.0
// What accesses to global and to shared memory have in common in a program: bytes per lane,
// distances that keep every lane on a multiple of them, keys that belong to one pattern.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "config/reader.h"
#include "scenario/program.h"

namespace wavetail::scenario {

// Key `width`: 1, 2, 4, 8 or 16 bytes per lane.
void read_width(const config::MapReader& map, int& width);

// Bytes that must keep every lane on a multiple of the width.
void read_distance(const config::At& at, int width, std::int64_t& out, config::Range range);

// A list of 1 to `most` of them.
[[nodiscard]] std::vector<std::int64_t> read_distances(const config::At& at, int width,
                                                       std::size_t most, config::Range range);

// Key `loop` of strides: a distance per enclosing loop, outermost first; none if it is not there.
[[nodiscard]] std::vector<std::int64_t> read_loop_strides(const config::MapReader& map,
                                                          const ProgramReader& reader, int width,
                                                          config::Range range);

// Keys that belong to one pattern.
struct PatternKeys {
  const config::MapReader& map;
  config::Diagnostics& diagnostics;
  std::string pattern;

  // Whether the key is there and fits the pattern; reports one that does not fit, and one that is
  // needed and not there.
  [[nodiscard]] bool belongs(std::string_view key, bool fits, bool needed) const;
};

}  // namespace wavetail::scenario
