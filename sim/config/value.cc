// SPDX-License-Identifier: Apache-2.0
#include "config/value.h"

#include <algorithm>

#include "base/nearest.h"
#include "config/reader.h"

namespace wavetail::config {

namespace {

std::string allowed(Range range) {
  const std::string low(range.low), high(range.high);
  if (low == high) { return "allowed is " + low; }
  if (low.empty()) { return "allowed up to " + high; }
  return high.empty() ? "allowed from " + low + " on" : "allowed " + low + " to " + high;
}

// What stands beside the value of a long one; its range is for those who know the dimension.
void check_long(const At& at) {
  if (!is_long(at.node)) { return; }
  const MapReader map(at.node, at.path, long_keys(), at.diagnostics);
  if (map.has("confidence")) { (void)choice(map.at("confidence"), confidence_names()); }
  if (map.has("source")) { (void)text(map.at("source")); }
}

// The scalar that is to be read; reports anything else.
const Node* scalar(const At& at, std::string_view wanted) {
  check_long(at);
  const Node& node = plain(at.node);
  if (node.is_scalar()) { return &node; }
  at.diagnostics.error(
      node.place, "'" + at.path + "': " + std::string(wanted) + " is needed; found " + found(node));
  return nullptr;
}

const Node* number(const At& at) {
  const Node* node = scalar(at, "a number");
  if (node != nullptr && node->quoted) {
    at.diagnostics.error(
        node->place,
        "'" + at.path + "': a number is needed; found the quoted text " + found(*node));
    return nullptr;
  }
  return node;
}

// The range of a long value: two values of its dimension, in order, the value between them.
template <class T, class Parse>
void check_range(const At& at, T value, const Parse& parse) {
  const Node* range = is_long(at.node) ? at.node.find("range") : nullptr;
  if (range == nullptr) { return; }
  const At here{*range, join(at.path, "range"), at.diagnostics};
  const auto is_scalar = [](const Node& n) { return n.is_scalar(); };
  if (range->items.size() != 2 ||
      !std::all_of(range->items.begin(), range->items.end(), is_scalar)) {
    here.complain("a list of two values is needed: [lowest, highest]");
    return;
  }
  std::vector<T> ends;
  for (const Node& item : range->items) {
    const auto end = parse(item.text);
    if (!end) {
      at.diagnostics.error(item.place, "'" + here.path + "': " + end.reason);
      return;
    }
    ends.push_back(*end.value);
  }
  const std::string shown = "[" + range->items[0].text + ", " + range->items[1].text + "]";
  if (ends[0] > ends[1]) {
    here.complain("the lowest value comes first; found " + shown);
  } else if (value < ends[0] || value > ends[1]) {
    here.complain("the value " + plain(at.node).text + " lies outside " + shown);
  }
}

template <class T, class Parse>
std::optional<T> in_range(const At& at, const Node& node, Range range, const Parse& parse) {
  const auto value = parse(node.text);
  if (!value) {
    at.diagnostics.error(node.place, "'" + at.path + "': " + value.reason);
    return std::nullopt;
  }
  const bool low = !range.low.empty() && *value.value < *parse(range.low).value;
  const bool high = !range.high.empty() && *value.value > *parse(range.high).value;
  if (low || high) {
    at.diagnostics.error(node.place, "'" + at.path + "' is " + node.text + "; " + allowed(range));
    return std::nullopt;
  }
  check_range(at, *value.value, parse);
  return *value.value;
}

}  // namespace

const KeyTable& long_keys() {
  static const KeyTable keys{
      {"value", "any", true, "the value"},
      {"source", "text", false, "where the value comes from"},
      {"confidence", "text", false, "measured, vendor, derived or assumed"},
      {"range", "list", false, "lowest and highest value that the sources leave open"},
  };
  return keys;
}

const std::vector<std::string>& confidence_names() {
  static const std::vector<std::string> names{"measured", "vendor", "derived", "assumed"};
  return names;
}

void At::complain(const std::string& message) const {
  diagnostics.error(node.place, "'" + path + "': " + message);
}

void At::refuse(const std::string& message) const {
  diagnostics.error(plain(node).place, "'" + path + "' is " + found(plain(node)) + "; " + message);
}

bool is_long(const Node& node) { return node.is_map() && node.find("value") != nullptr; }

const Node& plain(const Node& node) { return is_long(node) ? *node.find("value") : node; }

std::optional<std::int64_t> whole(const At& at, unit::Dimension dimension, Range range) {
  const Node* node = number(at);
  if (node == nullptr) { return std::nullopt; }
  return in_range<std::int64_t>(at, *node, range, [dimension](std::string_view t) {
    return unit::parse_whole(t, dimension);
  });
}

std::optional<double> real(const At& at, unit::Dimension dimension, Range range) {
  const Node* node = number(at);
  if (node == nullptr) { return std::nullopt; }
  return in_range<double>(
      at, *node, range, [dimension](std::string_view t) { return unit::parse_real(t, dimension); });
}

std::optional<bool> flag(const At& at) {
  const Node* node = scalar(at, "true or false");
  if (node == nullptr) { return std::nullopt; }
  if (node->text == "true" || node->text == "on") { return true; }
  if (node->text == "false" || node->text == "off") { return false; }
  at.refuse("allowed: true, false, on, off");
  return std::nullopt;
}

std::optional<std::string> text(const At& at) {
  const Node* node = scalar(at, "text");
  return node == nullptr ? std::nullopt : std::optional(node->text);
}

std::optional<std::size_t> choice(const At& at, std::span<const std::string> choices) {
  const Node* node = scalar(at, "one of " + base::joined(choices));
  if (node == nullptr) { return std::nullopt; }
  const auto it = std::find(choices.begin(), choices.end(), node->text);
  if (it == choices.end()) {
    const auto near = base::nearest_word(node->text, choices);
    at.refuse("allowed: " + base::joined(choices) +
              (near ? "; did you mean '" + *near + "'?" : ""));
    return std::nullopt;
  }
  return static_cast<std::size_t>(it - choices.begin());
}

}  // namespace wavetail::config
