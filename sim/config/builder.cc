// SPDX-License-Identifier: Apache-2.0
#include "config/builder.h"

namespace wavetail::config {

Place to_place(const std::shared_ptr<const Source>& source, const YAML::Mark& mark) {
  if (mark.line < 0 || mark.column < 0) { return {source, 1, 1}; }
  return {source, mark.line + 1, mark.column + 1};
}

void Builder::OnDocumentStart(const YAML::Mark& mark) {
  if (has_root_) {
    throw Stop{to_place(source_, mark), "a second document begins here; a file holds one"};
  }
}

void Builder::OnNull(const YAML::Mark& mark, YAML::anchor_t anchor) {
  Node node;
  // The parser marks nothing at what comes next: a key without a value is shown at the key.
  const bool of_key = !open_.empty() && open_.back().has_key;
  node.place = of_key ? open_.back().key_place : to_place(source_, mark);
  count(1, 0, node.place);
  add(std::move(node), anchor);
}

void Builder::OnScalar(const YAML::Mark& mark, const std::string& tag, YAML::anchor_t anchor,
                       const std::string& value) {
  Node node;
  node.kind = Node::Kind::Scalar;
  node.text = value;
  node.quoted = tag == "!";  // the parser's tag for quoted and block scalars; plain ones carry "?"
  node.place = to_place(source_, mark);
  if (tag != "!" && tag != "?" && !tag.empty()) {
    throw Stop{node.place, "tags are not read here; found " + tag.substr(0, 60)};
  }
  count(1, value.size(), node.place);
  add(std::move(node), anchor);
}

void Builder::OnAlias(const YAML::Mark& mark, YAML::anchor_t anchor) {
  const Place place = to_place(source_, mark);
  const auto known = anchored_.find(anchor);
  if (known == anchored_.end()) {
    throw Stop{place, "this alias stands inside the value that it names"};
  }
  count_copy(known->second, static_cast<int>(open_.size()), place);
  add(known->second, 0);
}

void Builder::OnSequenceStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                              YAML::EmitterStyle::value) {
  open(Node::Kind::List, mark, anchor);
}

void Builder::OnMapStart(const YAML::Mark& mark, const std::string&, YAML::anchor_t anchor,
                         YAML::EmitterStyle::value) {
  open(Node::Kind::Map, mark, anchor);
}

void Builder::open(Node::Kind kind, const YAML::Mark& mark, YAML::anchor_t anchor) {
  Frame frame;
  frame.node.kind = kind;
  frame.node.place = to_place(source_, mark);
  frame.anchor = anchor;
  if (static_cast<int>(open_.size()) >= limits_.depth) { too_deep(frame.node.place); }
  count(1, 0, frame.node.place);
  open_.push_back(std::move(frame));
}

void Builder::close() {
  Frame frame = std::move(open_.back());
  open_.pop_back();
  add(std::move(frame.node), frame.anchor);
}

void Builder::add(Node node, YAML::anchor_t anchor) {
  if (anchor != 0) { anchored_[anchor] = node; }
  if (open_.empty()) {
    root_ = std::move(node);
    has_root_ = true;
    return;
  }
  Frame& frame = open_.back();
  if (frame.node.is_list()) {
    frame.node.items.push_back(std::move(node));
  } else {
    add_to_map(frame, std::move(node));
  }
}

void Builder::add_to_map(Frame& frame, Node node) {
  if (frame.has_key) {
    frame.node.entries.push_back({std::move(frame.key), frame.key_place, std::move(node)});
    frame.has_key = false;
    return;
  }
  if (!node.is_scalar()) { throw Stop{node.place, "a key must be one word; found " + found(node)}; }
  frame.key = std::move(node.text);
  frame.key_place = node.place;
  frame.has_key = true;
}

void Builder::count(std::size_t nodes, std::size_t bytes, const Place& place) {
  nodes_ += nodes;
  bytes_ += bytes;
  if (nodes_ > limits_.nodes || bytes_ > limits_.text_bytes) {
    throw Stop{place, "the file is too large, its aliases expanded; allowed are " +
                          std::to_string(limits_.nodes) + " values and " +
                          std::to_string(limits_.text_bytes) + " bytes of text"};
  }
}

// Counts what copying `node` will add, before it is copied. Depth is bounded by limits_.depth.
void Builder::count_copy(const Node& node, int depth, const Place& place) {
  if (depth > limits_.depth) { too_deep(place); }
  count(1, node.text.size(), place);
  for (const Node& item : node.items) { count_copy(item, depth + 1, place); }
  for (const Entry& entry : node.entries) {
    count(1, entry.key.size(), place);
    count_copy(entry.value, depth + 1, place);
  }
}

void Builder::too_deep(const Place& place) const {
  throw Stop{place, "values are nested more than " + std::to_string(limits_.depth) + " deep"};
}

}  // namespace wavetail::config
