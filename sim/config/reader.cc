// SPDX-License-Identifier: Apache-2.0
#include "config/reader.h"

#include <algorithm>
#include <set>

#include "base/check.h"
#include "base/nearest.h"

namespace wavetail::config {

std::vector<std::string> names(std::span<const Key> keys) {
  std::vector<std::string> all;
  for (const Key& key : keys) { all.push_back(key.name); }
  return all;
}

MapReader::MapReader(const Node& node, std::string path, std::span<const Key> keys,
                     Diagnostics& diagnostics)
    : node_(node), path_(std::move(path)), keys_(keys), diagnostics_(diagnostics) {
  if (node_.is_map()) {
    check();
    return;
  }
  const std::string what = path_.empty() ? "the file must be" : "'" + path_ + "' must be";
  diagnostics_.error(node_.place, what + " a map of keys (" + base::joined(names(keys_)) +
                                      "); found " + found(node_));
}

void MapReader::check() const {
  std::vector<std::string> absent;
  for (const Key& key : keys_) {
    if (node_.find(key.name) == nullptr) { absent.push_back(key.name); }
  }
  std::set<std::string> guessed;
  for (const Entry& entry : node_.entries) {
    const auto known = std::find_if(keys_.begin(), keys_.end(),
                                    [&](const Key& k) { return k.name == entry.key; });
    if (known != keys_.end()) { continue; }
    std::string message = "unknown key '" + join(path_, entry.key) + "'";
    auto near = base::nearest_word(entry.key, absent);
    near = near ? near : base::nearest_word(entry.key, names(keys_));
    if (near) {
      guessed.insert(*near);
      message += "; did you mean '" + *near + "'?";
    } else {
      message += "; allowed: " + base::joined(names(keys_));
    }
    diagnostics_.error(entry.place, std::move(message));
  }
  for (const Key& key : keys_) {
    if (key.required && node_.find(key.name) == nullptr && !guessed.contains(key.name)) {
      diagnostics_.error(node_.place,
                         "'" + join(path_, key.name) + "' is missing: " + key.sentence);
    }
  }
}

const Node* MapReader::find(std::string_view key) const {
  const bool declared = std::any_of(keys_.begin(), keys_.end(),
                                    [&](const Key& k) { return k.name == key; });
  base::check(declared, "a key is read that its table does not declare");
  return node_.find(key);
}

At MapReader::at(std::string_view key) const {
  const Node* value = find(key);
  base::check(value != nullptr, "a key is read that is not there");
  return {*value, path(key), diagnostics_};
}

}  // namespace wavetail::config
