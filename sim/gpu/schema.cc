// SPDX-License-Identifier: Apache-2.0
// JSON Schema of a GPU file, made from the declared fields.
#include <nlohmann/json.hpp>

#include "gpu/keys.h"

namespace wavetail::gpu {

namespace {

using Json = nlohmann::ordered_json;

Json number(const Field& field) {
  if (field.dimension == unit::Dimension::Count) {
    return {{"type", "integer"},
            {"minimum", std::stoll(field.low)},
            {"maximum", std::stoll(field.high)}};
  }
  std::string units;
  for (const std::string& name : unit::unit_names(field.dimension)) {
    units += (units.empty() ? "" : "|") + name;
  }
  const Json bare{{"type", "number"}};
  if (units.empty()) { return bare; }
  Json text{{"type", "string"}, {"pattern", "^[0-9]+(\\.[0-9]+)? ?(" + units + "|cycle)$"}};
  if (field.dimension != unit::Dimension::CycleCount) {
    text["pattern"] = "^[0-9]+(\\.[0-9]+)? ?(" + units + ")$";
  }
  const bool unit_optional = field.dimension == unit::Dimension::Fraction ||
                             field.dimension == unit::Dimension::FlopPerCycle;
  return unit_optional ? Json{{"anyOf", {bare, text}}} : text;
}

Json value(const Field& field) {
  if (field.kind == ValueKind::Choice) { return {{"enum", field.choices}}; }
  return field.kind == ValueKind::NumberList
             ? Json{{"type", "array"}, {"items", number(field)}, {"minItems", 1}}
             : number(field);
}

Json confidence() { return {{"enum", config::confidence_names()}}; }

// A value alone, or long with its source.
Json either(const Field& field) {
  const Json plain = value(field);
  const Json text{{"type", "string"}};
  Json properties{{"value", plain}, {"source", text}, {"confidence", confidence()}};
  properties["range"] = {{"type", "array"}, {"minItems", 2}, {"maxItems", 2}};
  const Json full{{"type", "object"},
                  {"properties", properties},
                  {"required", Json::array({"value"})},
                  {"additionalProperties", false}};
  std::string sentence = field.sentence;
  if (!field.low.empty()) { sentence += " (" + field.low + " to " + field.high + ")"; }
  return {{"description", sentence}, {"anyOf", {plain, full}}};
}

Json from() {
  return {{"type", "object"},
          {"properties", {{"source", {{"type", "string"}}}, {"confidence", confidence()}}},
          {"required", Json::array({"source", "confidence"})},
          {"additionalProperties", false}};
}

Json section(const config::KeyTable& keys, const std::string& path);

Json property(const config::Key& key, const std::string& path) {
  const std::string here = config::join(path, key.name);
  for (const Field& field : fields()) {
    if (field.path == here) { return either(field); }
  }
  if (key.name == "from") { return from(); }
  if (key.type == "map") {
    Json inner = section(section_keys(here), here);
    inner["description"] = key.sentence;
    return inner;
  }
  if (key.type == "list of texts") {
    return {{"description", key.sentence}, {"type", "array"}, {"items", {{"type", "string"}}}};
  }
  return {{"description", key.sentence}, {"type", "string"}};
}

Json section(const config::KeyTable& keys, const std::string& path) {
  Json properties = Json::object();
  for (const config::Key& key : keys) { properties[key.name] = property(key, path); }
  // A file with a `base` needs only what it changes, so nothing but schema and name is always
  // required.
  return {{"type", "object"}, {"properties", properties}, {"additionalProperties", false}};
}

}  // namespace

std::string schema_json() {
  Json schema{{"$schema", "https://json-schema.org/draft/2020-12/schema"},
              {"$id", "wavetail/gpu/1"},
              {"title", "wavetail GPU file"}};
  schema.update(section(root_keys(), ""));
  schema["properties"]["schema"] = {{"const", "wavetail/gpu/1"}};
  schema["required"] = {"schema", "name"};
  return schema.dump(2) + "\n";
}

}  // namespace wavetail::gpu
