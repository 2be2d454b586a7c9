// SPDX-License-Identifier: Apache-2.0
// Settings by path: `--set gpu.hbm.bandwidth=x2`, and the same in a file's `set`, `variants`,
// `sweep`. They change the tree of nodes before anything is read, so a set value is checked like a
// written one.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/diagnostics.h"
#include "config/node.h"
#include "unit/parse.h"

namespace wavetail::config {

struct Setting {
  std::string path;
  Place place;  // of the path
  Node value;   // a node of the file, or parsed from the text behind '='
};

// The place of what `option` ("--set") was given.
[[nodiscard]] Place place_of_setting(const std::string& option, const std::string& text);

// "PATH=VALUE" as given to `option` ("--set"); VALUE is YAML on one line.
[[nodiscard]] std::optional<Setting> parse_setting(const std::string& option,
                                                   const std::string& text,
                                                   Diagnostics& diagnostics);

// One step of a path: a key, or an index into a list.
struct Step {
  std::string key;
  std::optional<std::size_t> index;
};

// "timeline[2].repeat" -> timeline, 2, repeat; nothing if the text is no path.
[[nodiscard]] std::optional<std::vector<Step>> split_path(std::string_view path);

// Whether the value is a factor on the present one ("x2", "x1.5").
[[nodiscard]] bool is_factor(const Node& value);

// "3.35 TB/s" times "x2" is "6.7 TB/s", exactly; whole cycles stay whole (halves away from zero).
// The reason if one of the two is no number or the product has too many digits.
[[nodiscard]] unit::Parsed<std::string> scale(std::string_view number, std::string_view factor);

// Sets the node at `setting.path` below `root`, making maps on the way where keys are absent;
// `prefix` is what the setting's path has in front (messages show the whole path).
bool apply(Node& root, const Setting& setting, std::string_view prefix, Diagnostics& diagnostics);

}  // namespace wavetail::config
