// SPDX-License-Identifier: Apache-2.0
#include "gpu/variant.h"

#include <algorithm>
#include <filesystem>

#include "config/load.h"
#include "config/setting.h"
#include "config/write.h"

namespace wavetail::gpu {

namespace {

namespace fs = std::filesystem;

config::Node quoted(const std::string& text) {
  config::Node node = config::scalar(text);
  node.quoted = true;
  return node;
}

config::Node map() {
  config::Node node;
  node.kind = config::Node::Kind::Map;
  return node;
}

// Whether everybody finds this file under this name.
bool is_found(const Catalog& catalog, const std::string& name, const std::string& file) {
  const auto known = catalog.find(name);
  std::error_code error;
  return known && fs::equivalent(*known, file, error);
}

// What the new file holds before its new values, without head: nothing but a base, or copies.
std::optional<config::Node> beginning(const Catalog& catalog, const std::string& file,
                                      config::Diagnostics& diagnostics) {
  auto own = config::load_file(file, diagnostics);
  if (!own) { return std::nullopt; }
  const std::string name = config::text_at(*own, "name"), base = config::text_at(*own, "base");
  if (base.empty() && is_found(catalog, name, file)) {
    own = map();
    own->entries.push_back({"base", {}, config::scalar(name)});
  } else if (!base.empty() && !catalog.find(base)) {
    auto whole = catalog.load_file(file, diagnostics);
    if (!whole) { return std::nullopt; }
    own = std::move(whole->root);
    std::erase_if(own->entries, [](const config::Entry& e) { return e.key == "base"; });
  }
  std::erase_if(own->entries, [](const config::Entry& e) {
    return e.key == "schema" || e.key == "name" || e.key == "description" || e.key == "aliases";
  });
  return own;
}

config::Node long_value(const NewValue& v) {
  config::Node node = map();
  node.entries.push_back({"value", {}, v.value});
  node.entries.push_back({"source", {}, quoted(v.source)});
  node.entries.push_back({"confidence", {}, config::scalar(std::string(name(v.confidence)))});
  return node;
}

}  // namespace

std::optional<std::string> variant_text(const Catalog& catalog, const std::string& file,
                                        const Variant& variant, config::Diagnostics& diagnostics) {
  auto values = beginning(catalog, file, diagnostics);
  if (!values) { return std::nullopt; }
  for (const NewValue& v : variant.values) {
    config::apply(*values, {v.path, {}, long_value(v)}, "", diagnostics);
  }
  config::Node root = map();
  root.entries = {{"schema", {}, config::scalar("wavetail/gpu/1")},
                  {"name", {}, config::scalar(variant.name)},
                  {"description", {}, quoted(variant.description)}};
  root.entries.insert(root.entries.end(), values->entries.begin(), values->entries.end());
  return config::to_yaml(root);
}

}  // namespace wavetail::gpu
