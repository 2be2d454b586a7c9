// SPDX-License-Identifier: Apache-2.0
#include "config/write.h"

#include <yaml-cpp/yaml.h>

#include "config/value.h"

namespace wavetail::config {

namespace {

// Depth is bounded by the loader.
void write(const Node& node, YAML::Emitter& out) {
  switch (node.kind) {
    case Node::Kind::Null: out << YAML::Null; return;
    case Node::Kind::Scalar:
      if (node.quoted) { out << YAML::DoubleQuoted; }
      out << node.text;
      return;
    case Node::Kind::List:
      out << YAML::Flow << YAML::BeginSeq;
      for (const Node& item : node.items) { write(item, out); }
      out << YAML::EndSeq;
      return;
    case Node::Kind::Map:
      out << YAML::Flow << YAML::BeginMap;
      for (const Entry& e : node.entries) {
        out << YAML::Key << e.key << YAML::Value;
        write(e.value, out);
      }
      out << YAML::EndMap;
  }
}

// Where something comes from stands on one line, like the value that it is about.
bool is_section(const Entry& e) {
  return e.value.is_map() && !is_long(e.value) && !e.value.entries.empty() && e.key != "from";
}

void write_section(const Node& map, YAML::Emitter& out) {
  out << YAML::Block << YAML::BeginMap;
  for (const Entry& e : map.entries) {
    out << YAML::Key << e.key << YAML::Value;
    is_section(e) ? write_section(e.value, out) : write(e.value, out);
  }
  out << YAML::EndMap;
}

}  // namespace

std::string to_yaml(const Node& root) {
  YAML::Emitter out;
  write_section(root, out);
  return std::string(out.c_str()) + "\n";
}

}  // namespace wavetail::config
