// SPDX-License-Identifier: Apache-2.0
// Typed reading of one node. Every function returns the value, or reports the mistake with place,
// path, what was found and what is allowed, and returns nothing.
//
//   const auto latency = quantity<Duration>({node, "hbm.latency", diagnostics}, {"1 ns", "10 us"});
//
// A value may be long: {value: 414 cycles, source: "...", confidence: measured, range: [lo, hi]}.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "config/diagnostics.h"
#include "config/node.h"
#include "unit/parse.h"

namespace wavetail::config {

// One node under its path.
struct At {
  const Node& node;
  std::string path;
  Diagnostics& diagnostics;

  // "'path': message" at the node.
  void complain(const std::string& message) const;
  // "'path' is FOUND; message" at the node.
  void refuse(const std::string& message) const;
};

// Allowed values, as they would be written; an empty end is open.
struct Range {
  std::string_view low, high;
};

// Whether the node is a long value, and the value inside it (or the node itself).
[[nodiscard]] bool is_long(const Node& node);
[[nodiscard]] const Node& plain(const Node& node);

// Whole base units of a dimension.
[[nodiscard]] std::optional<std::int64_t> whole(const At& at, unit::Dimension dimension,
                                                Range range = {});
[[nodiscard]] std::optional<double> real(const At& at, unit::Dimension dimension, Range range = {});
[[nodiscard]] std::optional<bool> flag(const At& at);  // true | false | on | off
[[nodiscard]] std::optional<std::string> text(const At& at);
// Index into `choices`.
[[nodiscard]] std::optional<std::size_t> choice(const At& at, std::span<const std::string> choices);

template <class Q>
[[nodiscard]] std::optional<Q> quantity(const At& at, Range range = {}) {
  const auto count = whole(at, unit::DimensionOf<Q>::value, range);
  return count ? std::optional<Q>(Q{*count}) : std::nullopt;
}

}  // namespace wavetail::config
