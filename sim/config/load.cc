// SPDX-License-Identifier: Apache-2.0
#include "config/load.h"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <map>
#include <sstream>

#include "base/printable.h"
#include "config/builder.h"
#include "config/file.h"

namespace wavetail::config {

namespace {

// Whether the text holds control characters but the allowed ones; quoted YAML can spell them.
bool has_controls(std::string_view text, std::string_view allowed) {
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (base::control_at(text, at) > 0 && allowed.find(text[at]) == std::string_view::npos) {
      return true;
    }
  }
  return false;
}

// Whether the text at the path is for people and may have several lines.
bool is_prose(std::string_view path) {
  const std::string_view key = path.substr(path.rfind('.') + 1);
  return key == "description" || key == "source";
}

// Reports merge keys, and puts what they would bring in their place: nothing is missing then.
void write_out_merges(Node& node, Diagnostics& diagnostics) {
  std::vector<Entry> merged;
  for (Entry& entry : node.entries) {
    if (entry.key != "<<") { continue; }
    diagnostics.error(entry.place,
                      "merge keys (<<) are not read; write the values out or use an alias");
    for (Entry& one : entry.value.entries) { merged.push_back(std::move(one)); }
    for (Node& item : entry.value.items) {
      for (Entry& one : item.entries) { merged.push_back(std::move(one)); }
    }
  }
  std::erase_if(node.entries, [](const Entry& e) { return e.key == "<<"; });
  for (Entry& one : merged) {
    if (node.find(one.key) == nullptr) { node.entries.push_back(std::move(one)); }
  }
}

// Reports and drops duplicate and merge keys of the whole tree, so that the rest can be checked in
// the same go. Depth is bounded by the builder's limit.
void check_keys(Node& node, const std::string& path, Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    check_keys(node.items[i], path + "[" + std::to_string(i) + "]", diagnostics);
  }
  if (has_controls(node.text, "\n\t")) {
    diagnostics.error(node.place, "'" + path + "' holds a control character");
  } else if (!is_prose(path) && node.text.find('\n') != std::string::npos) {
    diagnostics.error(node.place, "'" + path + "' has more than one line");
  }
  std::map<std::string, int> first_line;
  std::vector<Entry> kept;
  write_out_merges(node, diagnostics);
  for (Entry& entry : node.entries) {
    const std::string here = join(path, entry.key);
    if (has_controls(entry.key, "")) {
      diagnostics.error(entry.place, "the key '" + here + "' holds a control character");
    }
    const auto [known, fresh] = first_line.emplace(entry.key, entry.place.line);
    if (!fresh) {
      diagnostics.error(entry.place, "'" + here + "' is given twice; first at line " +
                                         std::to_string(known->second));
      continue;
    }
    check_keys(entry.value, here, diagnostics);
    kept.push_back(std::move(entry));
  }
  node.entries = std::move(kept);
}

// The first tab that indents a line up to `last_line`: a mistake that the parser words badly.
std::optional<Place> tab_in_indentation(const std::shared_ptr<const Source>& source,
                                        int last_line) {
  std::istringstream lines(source->text);
  std::string line;
  for (int number = 1; number <= last_line && std::getline(lines, line); ++number) {
    const auto tab = line.find_first_not_of(' ');
    if (tab != std::string::npos && line[tab] == '\t') {
      return Place{source, number, static_cast<int>(tab) + 1};
    }
  }
  return std::nullopt;
}

// The parser's words for what mostly is a slip in the layout, with the slip.
std::string in_our_words(const std::string& message) {
  if (message == "end of map not found") {
    return "this line is no 'key: value' of the map above it; is a ':' missing, or is it indented "
           "unlike the lines beside it?";
  }
  if (message == "illegal map value") {
    return "a key cannot begin here; does the line above lack a ':', or is this one indented "
           "unlike "
           "those beside it?";
  }
  if (message == "end of sequence not found") {
    return "this line is no '- item' of the list above it; is a '-' missing, or is it indented "
           "unlike the lines beside it?";
  }
  return message;
}

std::optional<Node> parse(const std::shared_ptr<const Source>& source, Diagnostics& diagnostics,
                          const Limits& limits) {
  Builder builder(source, limits);
  try {
    std::istringstream in(source->text);
    YAML::Parser parser(in);
    while (parser.HandleNextDocument(builder)) {}
  } catch (const Stop& stop) {
    diagnostics.error(stop.place, stop.message);
    return std::nullopt;
  } catch (const YAML::DeepRecursion& e) {
    diagnostics.error(to_place(source, e.mark),
                      "values are nested more than " + std::to_string(limits.depth) + " deep");
    return std::nullopt;
  } catch (const YAML::Exception& e) {
    const Place place = to_place(source, e.mark);
    const auto tab = tab_in_indentation(source, place.line);
    diagnostics.error(tab.value_or(place), tab ? "a tab in the indentation; YAML takes spaces only"
                                               : "this is not YAML: " + in_our_words(e.msg));
    return std::nullopt;
  }
  return builder.take_root();
}

}  // namespace

std::optional<Node> load_text(std::string name, std::string text, Diagnostics& diagnostics,
                              const Limits& limits) {
  if (text.starts_with("\xEF\xBB\xBF")) { text.erase(0, 3); }
  const auto source = std::make_shared<const Source>(Source{std::move(name), std::move(text)});
  if (!is_text(source, diagnostics)) { return std::nullopt; }
  auto root = parse(source, diagnostics, limits);
  if (root && root->kind == Node::Kind::Null) {
    diagnostics.error({source, 1, 1},
                      source->name == "-" ? "standard input is empty" : "the file is empty");
    return std::nullopt;
  }
  if (root) { check_keys(*root, "", diagnostics); }
  return root;
}

}  // namespace wavetail::config
