// SPDX-License-Identifier: Apache-2.0
// JSON Schema of a scenario file, made from the key tables and the templates' declarations.
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "gpu/keys.h"
#include "library/template.h"
#include "scenario/keys.h"

namespace wavetail::scenario {

namespace {

using Json = nlohmann::ordered_json;

Json refer(const std::string& name) { return {{"$ref", "#/$defs/" + name}}; }

Json quantity(unit::Dimension dimension) {
  std::string units;
  for (const std::string& name : unit::unit_names(dimension)) {
    units += (units.empty() ? "" : "|") + name;
  }
  return {{"type", "string"}, {"pattern", "^-?[0-9]+(\\.[0-9]+)? ?(" + units + ")$"}};
}

Json list_of(Json items) {
  return {{"type", "array"}, {"items", std::move(items)}, {"minItems", 1}};
}

Json map_of(Json values) {
  return {{"type", "object"}, {"additionalProperties", std::move(values)}};
}

Json one_of_words(std::string_view words) {
  Json names = Json::array();
  while (!words.empty()) {
    const auto comma = std::min(words.find(", "), words.size());
    names.push_back(words.substr(0, comma));
    words.remove_prefix(std::min(comma + 2, words.size()));
  }
  return {{"enum", names}};
}

// What a key table calls a type, as schema.
Json typed(const std::string& type) {
  const auto tail = [&](std::string_view head) { return type.substr(head.size()); };
  if (type.starts_with("list of lists of ")) { return list_of(list_of(refer("operation"))); }
  if (type.starts_with("map: ")) { return refer(tail("map: ")); }
  if (type.starts_with("one of ")) { return one_of_words(tail("one of ")); }
  const std::map<std::string, Json, std::less<>> known{
      {"count", {{"type", "integer"}}},
      {"size", quantity(unit::Dimension::Size)},
      {"duration", quantity(unit::Dimension::TimeSpan)},
      {"percent", quantity(unit::Dimension::Percent)},
      {"text", {{"type", "string"}}},
      {"flag", {{"enum", {true, false, "on", "off"}}}},
      {"off", {{"enum", {false, "off"}}}},
      {"block", {{"const", "block"}}},
      {"swizzle", {{"anyOf", {one_of_words("none, 32B, 64B, 128B"), refer("swizzle")}}}},
      {"device or stream N", {{"type", "string"}, {"pattern", "^(device|stream [0-9]+)$"}}},
      {"arithmetic", {{"anyOf", {Json{{"type", "integer"}}, refer("arithmetic")}}}},
      {"count or list of counts",
       {{"anyOf", {Json{{"type", "integer"}}, list_of({{"type", "integer"}})}}}},
      {"size or list of sizes",
       {{"anyOf", {quantity(unit::Dimension::Size), list_of(quantity(unit::Dimension::Size))}}}},
      {"list of sizes", list_of(quantity(unit::Dimension::Size))},
      {"list of operations", list_of(refer("operation"))},
      {"list of items", list_of(refer("item"))},
      {"map of kernels", map_of(refer("kernel"))},
      {"map of arrays", map_of({{"anyOf", {quantity(unit::Dimension::Size), refer("array")}}})},
      {"group", {{"const", "group"}}},
      {"count or map: trips", {{"anyOf", {Json{{"type", "integer"}}, refer("trips")}}}},
      {"text or map: arrive", {{"anyOf", {Json{{"type", "string"}}, refer("arrive")}}}},
      {"count or axes", {{"anyOf", {Json{{"type", "integer"}}, Json{{"type", "string"}}}}}},
      {"list of rows and size",
       {{"type", "array"},
        {"prefixItems", {Json{{"type", "integer"}}, quantity(unit::Dimension::Size)}},
        {"minItems", 2},
        {"maxItems", 2}}},
      {"list of boxes", list_of(refer("box"))},
      {"map of mbarriers", map_of({{"anyOf", {Json{{"type", "integer"}}, refer("mbarrier")}}})},
      {"map of roles", map_of(refer("kernel_role"))},
      {"map of variants", map_of(Json{{"type", "object"}})},
      {"map of lists", map_of(list_of(true))},
      {"map of expectations", {{"type", "object"}}},
      {"map of settings", {{"type", "object"}}}};
  const auto it = known.find(type);
  return it == known.end() ? Json::object() : it->second;
}

Json object(const config::KeyTable& keys) {
  Json properties = Json::object(), required = Json::array();
  for (const config::Key& key : keys) {
    Json value = typed(key.type);
    value["description"] = key.sentence;
    properties[key.name] = std::move(value);
    if (key.required) { required.push_back(key.name); }
  }
  Json schema{{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
  if (!required.empty()) { schema["required"] = required; }
  return schema;
}

// A map with one of the table's keys, and companions that may stand beside it.
Json one_key(const config::KeyTable& keys, const config::KeyTable& companions) {
  config::KeyTable all = keys;
  for (const config::Key& companion : companions) {
    const auto same = [&](const config::Key& k) { return k.name == companion.name; };
    if (std::none_of(keys.begin(), keys.end(), same)) { all.push_back(companion); }
  }
  Json schema = object(all);
  Json choices = Json::array();
  for (const config::Key& key : keys) { choices.push_back({{"required", {key.name}}}); }
  schema["anyOf"] = choices;
  return schema;
}

Json template_kernel(const library::Template& t) {
  config::KeyTable keys{{"role", "text", false, "what the kernel does in a model, for reports"}};
  for (const library::Parameter& p : t.parameters) {
    const bool size = p.kind == library::ParameterKind::Size;
    const bool count = p.kind == library::ParameterKind::Count;
    std::string type = size ? "size" : count ? "count" : "text";
    if (p.kind == library::ParameterKind::Flag) { type = "flag"; }
    if (p.kind == library::ParameterKind::Counts) { type = "count or list of counts"; }
    if (p.kind == library::ParameterKind::Choice) {
      type = "one of ";
      for (const auto choice : p.choices) {
        type += (type.size() > 7 ? ", " : "") + std::string(choice);
      }
    }
    keys.push_back({std::string(p.name), type, p.required, std::string(p.sentence)});
  }
  Json schema = object(keys);
  schema["description"] = t.sentence;
  schema["properties"]["template"] = {{"const", t.name}};
  schema["required"].push_back("template");
  return schema;
}

Json kernel() {
  Json kinds = Json::array({object(program_kernel_keys()), object(duration_kernel_keys())});
  for (const library::Template& t : library::templates()) { kinds.push_back(template_kernel(t)); }
  return {{"anyOf", kinds}};
}

}  // namespace

std::string schema_json() {
  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
              {"$id", "wavetail/scenario/1"},
              {"title", "wavetail scenario file"}};
  schema.update(object(root_keys()));
  schema["properties"]["schema"] = {{"const", "wavetail/scenario/1"}};
  Json& defs = schema["$defs"];
  defs["kernel"] = kernel();
  defs["array"] = object(array_keys());
  defs["kernel_role"] = object(role_keys());
  defs["operation"] = one_key(operation_keys(),
                              {{"body", "list of operations", false, "what `repeat` repeats"}});
  defs["trips"] = object(trips_keys());
  defs["arithmetic"] = object(arithmetic_keys());
  defs["access"] = object(access_keys());
  defs["atomic"] = object(atomic_keys());
  defs["strides"] = object(strides_keys());
  defs["shared_access"] = object(shared_access_keys());
  defs["swizzle"] = object(swizzle_keys());
  defs["shared_strides"] = object(shared_strides_keys());
  defs["diverge"] = object(diverge_keys());
  defs["mbarrier"] = object(mbarrier_keys());
  defs["arrive"] = object(arrive_keys());
  defs["copy"] = object(copy_keys());
  defs["box"] = object(box_keys());
  defs["box_strides"] = object(box_strides_keys());
  defs["tma_load"] = object(tma_load_keys());
  defs["tma_store"] = object(tma_store_keys());
  defs["wgmma"] = object(wgmma_keys());
  defs["mma"] = object(mma_keys());
  defs["mfma"] = object(mfma_keys());
  defs["tcgen05_mma"] = object(tcgen05_mma_keys());
  defs["tcgen05_cp"] = object(tcgen05_cp_keys());
  defs["tmem_access"] = object(tmem_access_keys());
  defs["commit"] = object(commit_keys());
  defs["dpx"] = object(dpx_keys());
  defs["named_barrier"] = object(named_barrier_keys());
  defs["peer"] = object(peer_keys());
  Json item = one_key(item_keys(), {{"stream", "count", false, "the stream; 0 if absent"}});
  item["properties"]["repeat"] = {{"anyOf", {Json{{"type", "integer"}}, refer("repeat")}}};
  defs["item"] = item;
  defs["graph"] = object(graph_keys());
  defs["repeat"] = object(repeat_keys());
  defs["host"] = object(host_keys());
  defs["simulation"] = object(simulation_keys());
  defs["initial"] = object(initial_keys());
  defs["assume"] = object(assume_keys());
  return schema.dump(2) + "\n";
}

}  // namespace wavetail::scenario
