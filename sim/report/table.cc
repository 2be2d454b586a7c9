// SPDX-License-Identifier: Apache-2.0
#include "report/table.h"

#include <algorithm>

namespace wavetail::report {

namespace {

// Characters, not bytes, of UTF-8 text.
std::size_t width_of(const std::string& text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  }));
}

}  // namespace

std::string Table::text(int indent) const {
  std::vector<std::string> titles;
  for (const auto& c : columns_) { titles.push_back(c.title); }
  std::vector<std::vector<std::string>> lines = rows_;
  if (std::any_of(titles.begin(), titles.end(), [](const auto& t) { return !t.empty(); })) {
    lines.insert(lines.begin(), titles);
  }
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const auto& line : lines) {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      widths[i] = std::max(widths[i], width_of(line[i]));
    }
  }
  std::string out;
  for (const auto& line : lines) {
    std::string row(static_cast<std::size_t>(indent), ' ');
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      const std::string pad(widths[i] - width_of(line[i]), ' ');
      row += (i == 0 ? "" : "  ");
      row += columns_[i].align == Align::Left ? line[i] + pad : pad + line[i];
    }
    row.erase(row.find_last_not_of(' ') + 1);
    out += row + "\n";
  }
  return out;
}

std::string wrapped(const std::string& text, std::size_t width, std::size_t indent) {
  std::string out;
  std::size_t column = 0;
  std::size_t at = 0;
  while (at < text.size()) {
    auto end = std::min(text.find(' ', at), text.size());
    if (text.compare(end, 2, " %") == 0) {  // a figure and its percent sign stay together
      end = std::min(text.find(' ', end + 1), text.size());
    }
    const auto word = text.substr(at, end - at);
    if (column > 0 && column + 1 + word.size() > width) {
      out += "\n" + std::string(indent, ' ');
      column = indent;
    } else if (column > 0) {
      out += ' ';
      ++column;
    }
    out += word;
    column += word.size();
    at = end + 1;
  }
  return out;
}

}  // namespace wavetail::report
