// SPDX-License-Identifier: Apache-2.0
// The text of a YAML file as a tree of located nodes. Scalars stay text: whoever knows what a value
// means reads it (config/value.h), so `010`, `yes` and `1e3` are never guessed at. Aliases are
// expanded.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "config/place.h"

namespace wavetail::config {

struct Entry;

struct Node {
  enum class Kind { Null, Scalar, List, Map };
  Kind kind = Kind::Null;
  std::string text;     // Scalar
  bool quoted = false;  // Scalar: written in quotes, so it is text and never a number
  Place place;
  std::vector<Node> items;     // List
  std::vector<Entry> entries;  // Map, in the file's order, keys unique

  [[nodiscard]] bool is_scalar() const { return kind == Kind::Scalar; }

  [[nodiscard]] bool is_list() const { return kind == Kind::List; }

  [[nodiscard]] bool is_map() const { return kind == Kind::Map; }

  [[nodiscard]] const Node* find(std::string_view key) const;  // null if absent or no map
  [[nodiscard]] Node* find(std::string_view key);
  [[nodiscard]] const Entry* entry(std::string_view key) const;
};

struct Entry {
  std::string key;
  Place place;  // of the key
  Node value;
};

// The node below `root` at a path of keys, as "hbm.latency"; null where there is none.
[[nodiscard]] const Node* find_path(const Node& root, std::string_view path);

// The text at a key; empty where there is none.
[[nodiscard]] std::string text_at(const Node& map, std::string_view key);

[[nodiscard]] Node scalar(std::string text, Place place = {});

// What a node is, for messages: "a list", "a map of keys", "nothing", "'12 GB'".
[[nodiscard]] std::string found(const Node& node);

// "hbm" + "clock" -> "hbm.clock"; an empty path stays the key alone.
[[nodiscard]] std::string join(std::string_view path, std::string_view key);

}  // namespace wavetail::config
