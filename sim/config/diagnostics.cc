// SPDX-License-Identifier: Apache-2.0
#include "config/diagnostics.h"

#include <algorithm>
#include <numeric>
#include <set>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/printable.h"

namespace wavetail::config {

namespace {

constexpr std::size_t kLongestLine = 160;  // bytes of a source line that are shown
constexpr std::size_t kMostShown = 100;    // messages; a file with more has one cause

std::string_view source_line(const Place& place) {
  if (!place.source) { return {}; }
  std::string_view text = place.source->text;
  for (int line = 1; line < place.line; ++line) {
    const auto end = text.find('\n');
    if (end == std::string_view::npos) { return {}; }
    text.remove_prefix(end + 1);
  }
  text = text.substr(0, text.find('\n'));
  while (!text.empty() && text.back() == '\r') { text.remove_suffix(1); }
  return text;
}

bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0U) == 0x80U; }

// The source line and a caret under the column; a long line is cut around the place.
std::string excerpt(const Place& place) {
  if (place.source && place.source->option) { return {}; }  // the place itself shows it
  std::string_view line = source_line(place);
  if (line.find_first_not_of(" \t") == std::string_view::npos) { return {}; }
  std::size_t column = std::min(static_cast<std::size_t>(std::max(place.column, 1)) - 1,
                                line.size());
  if (line.size() > kLongestLine) {
    std::size_t from = column > kLongestLine / 2 ? column - kLongestLine / 2 : 0;
    while (from > 0 && continues_character(line[from])) { --from; }
    std::size_t to = std::min(from + kLongestLine, line.size());
    while (to < line.size() && continues_character(line[to])) { ++to; }
    line = line.substr(from, to - from);
    column -= from;
  }
  std::string shown, pointer;
  for (std::size_t i = 0; i < line.size(); ++i) {
    const bool control = static_cast<unsigned char>(line[i]) < 0x20 && line[i] != '\t';
    shown += control ? '?' : line[i];
    if (i < column && !continues_character(line[i])) { pointer += line[i] == '\t' ? '\t' : ' '; }
  }
  const auto start = std::min(shown.find_first_not_of(" \t"), pointer.size());
  return "    " + shown.substr(start) + "\n    " + pointer.substr(start) + "^\n";
}

// Settings of one option differ by their text.
auto key(const Diagnostic& d) {
  const Source* source = d.place.source.get();
  return std::make_tuple(
      source != nullptr ? std::string_view(source->name) : std::string_view(),
      source != nullptr && source->option ? std::string_view(source->text) : std::string_view(),
      d.place.line, d.place.column);
}

// The value of an option on one line.
std::string on_one_line(std::string_view text) {
  std::size_t end = std::min(text.size(), kLongestLine);
  while (end < text.size() && continues_character(text[end])) { ++end; }
  std::string shown(text.substr(0, end));
  return base::printable(shown) + (end < text.size() ? "..." : "");
}

}  // namespace

std::string to_string(const Place& place) {
  if (place.source && place.source->option) {
    return place.source->name + " " + on_one_line(place.source->text);
  }
  return (place.source ? base::printable(place.source->name) : "?") + ":" +
         std::to_string(place.line) + ":" + std::to_string(place.column);
}

void Diagnostics::error(const Place& place, std::string message) {
  errors_.push_back({place, base::printable(message)});
}

std::vector<Diagnostic> Diagnostics::sorted() const {
  std::vector<std::size_t> order(errors_.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::make_pair(key(errors_[a]), a) < std::make_pair(key(errors_[b]), b);
  });
  std::vector<Diagnostic> once;
  std::set<std::string_view> said;  // of the place that is being looked at
  for (const std::size_t i : order) {
    if (!once.empty() && key(once.back()) != key(errors_[i])) { said.clear(); }
    if (said.insert(errors_[i].message).second) { once.push_back(errors_[i]); }
  }
  return once;
}

std::string Diagnostics::render() const {
  const auto all = sorted();
  std::string text;
  for (std::size_t i = 0; i < std::min(all.size(), kMostShown); ++i) {
    text += to_string(all[i].place) + ": error: " + all[i].message + "\n" + excerpt(all[i].place);
  }
  if (all.size() > kMostShown) {
    text += "(" + std::to_string(all.size() - kMostShown) + " more)\n";
  }
  if (!all.empty()) {
    text += std::to_string(all.size()) + (all.size() == 1 ? " error" : " errors") +
            "; nothing was simulated.\n";
  }
  return text;
}

void Diagnostics::append(const Diagnostics& other) {
  errors_.insert(errors_.end(), other.errors_.begin(), other.errors_.end());
}

}  // namespace wavetail::config
