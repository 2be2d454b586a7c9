// SPDX-License-Identifier: Apache-2.0
#include "config/write.h"

#include <algorithm>
#include <cctype>

#include "config/value.h"

namespace wavetail::config {

namespace {

// Numbers with units, names and words; anything else is quoted.
bool may_be_plain(const Node& node) {
  const std::string& text = node.text;
  constexpr std::string_view kPlain = "+-./% _";
  return !node.quoted && !text.empty() && text.back() != ' ' &&
         (std::isalnum(static_cast<unsigned char>(text[0])) != 0 ||
          (text[0] == '-' && text.size() > 1 && text[1] != ' ')) &&
         std::all_of(text.begin(), text.end(), [&](char c) {
           const auto byte = static_cast<unsigned char>(c);
           return std::isalnum(byte) != 0 || byte >= 0x80U ||
                  kPlain.find(c) != std::string_view::npos;
         });
}

// Lines and other controls are refused where files are read.
std::string quoted(const std::string& text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') { out += '\\'; }
    out += c;
  }
  return out + "\"";
}

std::string on_one_line(const Node& node) {
  std::string out;
  switch (node.kind) {
    case Node::Kind::Null: return "~";
    case Node::Kind::Scalar: return may_be_plain(node) ? node.text : quoted(node.text);
    case Node::Kind::List:
      for (const Node& item : node.items) { out += (out.empty() ? "" : ", ") + on_one_line(item); }
      return "[" + out + "]";
    case Node::Kind::Map:
      for (const Entry& e : node.entries) {
        out += (out.empty() ? "" : ", ") + e.key + ": " + on_one_line(e.value);
      }
      return "{" + out + "}";
  }
  return out;
}

// Depth is bounded by the loader.
void write_section(const Node& map, const std::string& indent, std::string& out) {
  for (const Entry& e : map.entries) {
    // where something comes from stands on one line, like the value that it is about
    const bool section = e.value.is_map() && !is_long(e.value) && !e.value.entries.empty() &&
                         e.key != "from";
    if (section && indent.empty()) { out += "\n"; }
    out += indent + e.key + ":" + (section ? "\n" : " " + on_one_line(e.value) + "\n");
    if (section) { write_section(e.value, indent + "  ", out); }
  }
}

}  // namespace

std::string to_yaml(const Node& root) {
  std::string out;
  write_section(root, "", out);
  return out;
}

}  // namespace wavetail::config
