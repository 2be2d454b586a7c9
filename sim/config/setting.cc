// SPDX-License-Identifier: Apache-2.0
#include "config/setting.h"

#include <cctype>

#include "config/load.h"
#include "config/value.h"
#include "unit/print.h"

namespace wavetail::config {

namespace {

__extension__ using Wide = __int128;

// Moves a parsed value to where it stands in the option's text. Depth is bounded by the loader.
void relocate(Node& node, const std::shared_ptr<const Source>& source, int shift) {
  node.place = {source, 1, node.place.column + (node.place.line == 1 ? shift : 0)};
  for (Node& item : node.items) { relocate(item, source, shift); }
  for (Entry& entry : node.entries) {
    entry.place = {source, 1, entry.place.column + shift};
    relocate(entry.value, source, shift);
  }
}

// The child that a step names; made where a map lacks the key. Null with a message where it cannot
// be.
Node* child(Node& node, const Step& step, const std::string& here, const Setting& setting,
            Diagnostics& diagnostics) {
  if (step.index) {
    if (!node.is_list() || *step.index >= node.items.size()) {
      const std::string has = node.is_list() ? "has " + std::to_string(node.items.size()) +
                                                   " entries, counted from 0"
                                             : "is " + found(node) + ", no list";
      diagnostics.error(setting.place,
                        "'" + setting.path + "' does not exist: '" + here + "' " + has);
      return nullptr;
    }
    return &node.items[*step.index];
  }
  if (node.kind == Node::Kind::Null) { node.kind = Node::Kind::Map; }
  if (!node.is_map()) {
    diagnostics.error(setting.place,
                      "'" + setting.path + "' does not exist: '" + here + "' is " + found(node));
    return nullptr;
  }
  if (Node* known = node.find(step.key)) { return known; }
  if (is_factor(setting.value)) {
    diagnostics.error(setting.value.place, "'" + setting.path +
                                               "' is not given and cannot be scaled by " +
                                               setting.value.text + "; give a value");
    return nullptr;
  }
  Node made;
  made.place = setting.place;
  node.entries.push_back({step.key, setting.place, std::move(made)});
  return &node.entries.back().value;
}

bool replace(Node& target, const Setting& setting, Diagnostics& diagnostics) {
  if (!is_factor(setting.value)) {
    target = setting.value;
    return true;
  }
  const Node& present = plain(target);
  if (!present.is_scalar()) {
    diagnostics.error(setting.value.place, "'" + setting.path + "' is " + found(present) +
                                               " and cannot be scaled by " + setting.value.text +
                                               "; give a value");
    return false;
  }
  const auto product = scale(present.text, setting.value.text);
  if (!product) {
    diagnostics.error(setting.value.place,
                      "'" + setting.path + "' cannot be scaled: " + product.reason);
    return false;
  }
  target = setting.value;
  target.text = *product.value;
  return true;
}

}  // namespace

Place place_of_setting(const std::string& option, const std::string& text) {
  return {std::make_shared<const Source>(Source{option, text, true}), 1, 1};
}

std::optional<Setting> parse_setting(const std::string& option, const std::string& text,
                                     Diagnostics& diagnostics) {
  const auto source = place_of_setting(option, text).source;
  const auto equals = text.find('=');
  if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
    diagnostics.error({source, 1, 1}, "PATH=VALUE is needed; found '" + text.substr(0, 60) + "'");
    return std::nullopt;
  }
  const std::string written = text.substr(equals + 1);
  if (written == "~" || written == "null") {
    diagnostics.error({source, 1, static_cast<int>(equals) + 2},
                      "a value is needed behind '='; found nothing ('" + written + "')");
    return std::nullopt;
  }
  Diagnostics inner;
  auto value = load_text(option, written, inner);
  for (const Diagnostic& d : inner.sorted()) {
    diagnostics.error({source, 1, d.place.column + static_cast<int>(equals) + 1}, d.message);
  }
  if (!value || !inner.ok()) { return std::nullopt; }
  relocate(*value, source, static_cast<int>(equals) + 1);
  return Setting{text.substr(0, equals), {source, 1, 1}, std::move(*value)};
}

std::optional<std::vector<Step>> split_path(std::string_view path) {
  constexpr std::size_t kMostSteps = 32;
  std::vector<Step> steps;
  bool key_needed = true;
  while (!path.empty()) {
    if (path[0] == '[' && !key_needed) {
      const auto close = path.find(']');
      const std::string digits(path.substr(1, close == std::string_view::npos ? 0 : close - 1));
      const bool good = !digits.empty() && digits.size() < 7 &&
                        digits.find_first_not_of("0123456789") == std::string::npos;
      if (!good) { return std::nullopt; }
      steps.push_back({"", static_cast<std::size_t>(std::stoul(digits))});
      path.remove_prefix(close + 1);
    } else if (key_needed && path[0] != '.') {
      const auto end = std::min(path.find_first_of(".["), path.size());
      steps.push_back({std::string(path.substr(0, end)), std::nullopt});
      path.remove_prefix(end);
    } else if (!key_needed && path[0] == '.') {
      path.remove_prefix(1);
      key_needed = true;
      continue;
    } else {
      return std::nullopt;
    }
    key_needed = false;
    if (steps.size() > kMostSteps || steps.front().key.empty()) { return std::nullopt; }
  }
  return key_needed ? std::nullopt : std::optional(steps);
}

bool is_factor(const Node& value) {
  return value.is_scalar() && !value.quoted && value.text.size() > 1 && value.text[0] == 'x' &&
         std::isdigit(static_cast<unsigned char>(value.text[1])) != 0;
}

unit::Parsed<std::string> scale(std::string_view number, std::string_view factor) {
  const auto a = unit::split(number);
  const auto b = unit::split(factor.substr(1));
  if (!a || !b) { return {std::nullopt, a ? b.reason : a.reason}; }
  if (!b.value->unit.empty()) {
    return {std::nullopt,
            "a factor is a bare number behind the x; found '" + std::string(factor) + "'"};
  }
  Wide digits = static_cast<Wide>(a.value->number.digits) * b.value->number.digits;
  int scale = a.value->number.scale + b.value->number.scale;
  const auto drop_digit = [&] {
    const Wide rest = digits % 10;
    digits = digits / 10 + (rest >= 5 ? 1 : rest <= -5 ? -1 : 0);
    --scale;
  };
  const bool whole_cycles = a.value->number.scale == 0 && a.value->unit.starts_with("cycle");
  constexpr Wide kMost = 1'000'000'000'000'000;  // 15 digits leave room for the unit's own factor
  while (scale > 0 && (digits % 10 == 0 || digits > kMost || digits < -kMost)) { drop_digit(); }
  while (whole_cycles && scale > 1) {
    digits /= 10;  // the last digit alone decides the rounding
    --scale;
  }
  if (whole_cycles && scale == 1) { drop_digit(); }
  if (digits > kMost * 100 || digits < -kMost * 100) {
    return {std::nullopt, "the product is too large"};
  }
  const std::string text = unit::print(unit::Decimal{static_cast<std::int64_t>(digits), scale});
  return {text + (a.value->unit.empty() ? "" : " " + a.value->unit), {}};
}

bool apply(Node& root, const Setting& setting, std::string_view prefix, Diagnostics& diagnostics) {
  const auto steps = split_path(std::string_view(setting.path).substr(prefix.size()));
  if (!steps) {
    diagnostics.error(
        setting.place,
        "'" + setting.path + "' is not a path like gpu.hbm.bandwidth or timeline[2].repeat");
    return false;
  }
  Node* node = &root;
  std::string here(prefix.substr(0, prefix.empty() ? 0 : prefix.size() - 1));
  for (const Step& step : *steps) {
    node = child(*node, step, here, setting, diagnostics);
    if (node == nullptr) { return false; }
    here = step.index ? here + "[" + std::to_string(*step.index) + "]" : join(here, step.key);
  }
  return replace(*node, setting, diagnostics);
}

}  // namespace wavetail::config
