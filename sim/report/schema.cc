// SPDX-License-Identifier: Apache-2.0
#include "report/schema.h"

#include "report/json.h"
#include "result/describe.h"

namespace wavetail::report {

namespace {

Json type_of(double) { return of_type("number"); }

Json type_of(std::int64_t) { return of_type("integer"); }

Json type_of(const std::string&) { return or_null("string"); }

Json type_of(const std::vector<std::string>&) {
  return {{"type", "array"}, {"items", of_type("string")}};
}

Json type_of(const std::optional<double>&) { return or_null("number"); }

Json type_of(const std::optional<std::int64_t>&) { return or_null("integer"); }

template <class T>
Json properties(const T& object) {
  Json all = Json::object();
  result::describe(
      [&](std::string_view key, const auto& value, std::string_view unit,
          std::string_view sentence) {
        Json p = type_of(value);
        p["description"] = std::string(sentence) +
                           (unit.empty() ? "" : " [" + std::string(unit) + "]");
        all[std::string(key)] = p;
      },
      object);
  return all;
}

Json shares() { return {{"type", "object"}, {"additionalProperties", of_type("number")}}; }

Json chain() {
  const auto link = object_schema({{"name", of_type("string")},
                                   {"key", of_type("string")},
                                   {"formula", of_type("string")},
                                   {"inputs", of_type("string")},
                                   {"value", or_null("number")},
                                   {"unit", or_null("string")}});
  return {{"type", "array"}, {"items", link}};
}

Json figures() {
  Json props = {{"schema", {{"const", "wavetail/result/1"}}}};
  props.update(properties(result::RunResult{}));
  Json kernel = properties(result::KernelResult{});
  kernel["stall_pct"] = shares();
  kernel["slot_pct"] = shares();
  kernel["energy_pct"] = shares();
  kernel["bound"] = object_schema(
      {{"name", or_null("string")}, {"time_us", or_null("number")}, {"chain", chain()}});
  props["kernels"] = list_schema(object_schema(kernel));
  props["gaps"] = object_schema(properties(result::Gaps{}));
  props["closed_form"] = chain();
  props["outcome"] = {{"enum", {"complete", "hang", "over_budget", "interrupted"}}};
  props["partial"] = of_type("boolean");
  props["message"] = or_null("string");
  props["weakest_values"] = type_of(std::vector<std::string>{});
  props["warnings"] = type_of(std::vector<std::string>{});
  props["unfinished"] = list_schema(object_schema(properties(result::Unfinished{})));
  return props;
}

}  // namespace

Json of_type(const char* type) { return {{"type", type}}; }

Json or_null(const char* type) { return {{"type", {type, "null"}}}; }

Json object_schema(Json properties) {
  Json required = Json::array();
  for (const auto& [key, value] : properties.items()) { required.push_back(key); }
  return {{"type", "object"}, {"properties", std::move(properties)}, {"required", required}};
}

Json list_schema(Json items) { return {{"type", "array"}, {"items", std::move(items)}}; }

std::string result_schema() {
  Json props = figures();
  props["expect"] = list_schema(
      object_schema({{"path", of_type("string")},
                     {"wanted", of_type("string")},
                     {"got", of_type("string")},
                     {"verdict", {{"enum", {"passed", "failed", "known_miss", "unexpected_pass"}}}},
                     {"known_miss", or_null("string")},
                     {"place", or_null("string")}}));
  props["variants"] = {{"type", "object"}, {"additionalProperties", object_schema(figures())}};
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", "wavetail/result/1"}};
  schema.update(object_schema(props));
  // Only with --timing.
  schema["properties"]["simulator"] = object_schema({{"wall_s", of_type("number")},
                                                     {"events", of_type("integer")},
                                                     {"events_per_s", of_type("number")},
                                                     {"peak_rss_bytes", of_type("integer")}});
  return text_of(schema);
}

}  // namespace wavetail::report
