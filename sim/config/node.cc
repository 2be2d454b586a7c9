// SPDX-License-Identifier: Apache-2.0
#include "config/node.h"

#include <algorithm>

namespace wavetail::config {

const Entry* Node::entry(std::string_view key) const {
  const auto it = std::find_if(entries.begin(), entries.end(),
                               [&](const Entry& e) { return e.key == key; });
  return it == entries.end() ? nullptr : &*it;
}

const Node* Node::find(std::string_view key) const {
  const Entry* e = entry(key);
  return e == nullptr ? nullptr : &e->value;
}

Node* Node::find(std::string_view key) {
  const auto it = std::find_if(entries.begin(), entries.end(),
                               [&](const Entry& e) { return e.key == key; });
  return it == entries.end() ? nullptr : &it->value;
}

const Node* find_path(const Node& root, std::string_view path) {
  const Node* node = &root;
  while (node != nullptr && !path.empty()) {
    const auto dot = std::min(path.find('.'), path.size());
    node = node->find(path.substr(0, dot));
    path.remove_prefix(std::min(dot + 1, path.size()));
  }
  return node;
}

std::string text_at(const Node& map, std::string_view key) {
  const Node* node = map.find(key);
  return node != nullptr && node->is_scalar() ? node->text : "";
}

Node scalar(std::string text, Place place) {
  Node node;
  node.kind = Node::Kind::Scalar;
  node.text = std::move(text);
  node.place = std::move(place);
  return node;
}

std::string found(const Node& node) {
  switch (node.kind) {
    case Node::Kind::Null: return "nothing";
    case Node::Kind::List: return node.items.empty() ? "an empty list" : "a list";
    case Node::Kind::Map: return node.entries.empty() ? "an empty map" : "a map of keys";
    case Node::Kind::Scalar: break;
  }
  constexpr std::size_t kMostShown = 60;
  const bool cut = node.text.size() > kMostShown;
  return "'" + node.text.substr(0, kMostShown) + (cut ? "..." : "") + "'";
}

std::string join(std::string_view path, std::string_view key) {
  return path.empty() ? std::string(key) : std::string(path) + "." + std::string(key);
}

}  // namespace wavetail::config
