// SPDX-License-Identifier: Apache-2.0
// Reading a map of keys against its declaration. The declaration (a table of keys, each with its
// type and a sentence) is also what schemas and documentation are made from, so a key that is read
// is a key that is described.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "config/value.h"

namespace wavetail::config {

struct Key {
  std::string name;
  std::string
      type;  // for people and schemas: "count", "size", "duration", "text", "list of ...", ...
  bool required = false;
  std::string sentence;
};

using KeyTable = std::vector<Key>;

// The keys of a long value: value, source, confidence, range.
[[nodiscard]] const KeyTable& long_keys();
// The words of a confidence, the best first.
[[nodiscard]] const std::vector<std::string>& confidence_names();

[[nodiscard]] std::vector<std::string> names(std::span<const Key> keys);

class MapReader {
 public:
  // Reports at once: no map, unknown keys (with the nearest absent one), missing required keys. An
  // unknown key whose nearest word is a missing key is one message, not two.
  MapReader(const Node& node, std::string path, std::span<const Key> keys,
            Diagnostics& diagnostics);

  // The value of a declared key; null where the file does not give it.
  [[nodiscard]] const Node* find(std::string_view key) const;

  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }

  // The value of a key that is there.
  [[nodiscard]] At at(std::string_view key) const;

  [[nodiscard]] std::string path(std::string_view key) const { return join(path_, key); }

  [[nodiscard]] const Node& node() const { return node_; }

  // Each assigns `out` if the key is there and its value is good; returns whether it did.
  template <class Q>
  bool read(std::string_view key, Q& out, Range range = {}) const {
    return has(key) && assign(out, quantity<Q>(at(key), range));
  }

  bool read_flag(std::string_view key, bool& out) const {
    return has(key) && assign(out, flag(at(key)));
  }

  bool read_text(std::string_view key, std::string& out) const {
    return has(key) && assign(out, text(at(key)));
  }

 private:
  template <class T>
  static bool assign(T& out, std::optional<T> value) {
    if (value) { out = std::move(*value); }
    return value.has_value();
  }

  void check() const;

  const Node& node_;
  std::string path_;
  std::span<const Key> keys_;
  Diagnostics& diagnostics_;
};

}  // namespace wavetail::config
