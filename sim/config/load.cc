// SPDX-License-Identifier: Apache-2.0
#include "config/load.h"

#include <yaml-cpp/depthguard.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <map>
#include <sstream>

#include "config/builder.h"
#include "config/file.h"

namespace wavetail::config {

namespace {

// Reports and drops duplicate and merge keys of the whole tree, so that the rest can be checked in
// the same go. Depth is bounded by the builder's limit.
void check_keys(Node& node, const std::string& path, Diagnostics& diagnostics) {
  for (std::size_t i = 0; i < node.items.size(); ++i) {
    check_keys(node.items[i], path + "[" + std::to_string(i) + "]", diagnostics);
  }
  std::map<std::string, int> first_line;
  std::vector<Entry> kept;
  for (Entry& entry : node.entries) {
    const std::string here = join(path, entry.key);
    if (entry.key == "<<") {
      diagnostics.error(entry.place,
                        "merge keys (<<) are not read; write the values out or use an alias");
      continue;
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
                                               : "this is not YAML: " + e.msg);
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
    diagnostics.error({source, 1, 1}, "the file is empty");
    return std::nullopt;
  }
  if (root) { check_keys(*root, "", diagnostics); }
  return root;
}

}  // namespace wavetail::config
