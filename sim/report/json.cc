// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>

#include "result/describe.h"

namespace wavetail::report {

namespace {

Json value_of(double v) { return number(v); }

Json value_of(std::int64_t v) { return v; }

Json value_of(const std::string& v) { return v.empty() ? Json(nullptr) : Json(v); }

Json value_of(const std::vector<std::string>& words) {
  Json list = Json::array();
  for (const auto& w : words) { list.push_back(w); }
  return list;
}

template <class T>
Json value_of(const std::optional<T>& v) {
  return v ? value_of(*v) : Json(nullptr);
}

template <class T>
void add_fields(Json& json, const T& object) {
  result::describe([&](std::string_view key, const auto& value, std::string_view,
                       std::string_view) { json[std::string(key)] = value_of(value); },
                   object);
}

Json shares(const std::map<std::string, double>& of) {
  Json json = Json::object();
  for (const auto& [name, pct] : of) { json[name] = number(pct); }
  return json;
}

Json chain_of(const std::vector<result::ChainLink>& links) {
  Json list = Json::array();
  for (const auto& link : links) { list.push_back(to_json(link)); }
  return list;
}

Json to_json(const result::KernelResult& k) {
  Json json = Json::object();
  add_fields(json, k);
  json["stall_pct"] = shares(k.stall_pct);
  json["slot_pct"] = shares(k.slot_pct);
  json["energy_pct"] = shares(k.energy_pct);
  json["bound"] = {{"name", value_of(k.bound.name)},
                   {"time_us", number(k.bound.time_us)},
                   {"chain", chain_of(k.bound.chain)}};
  return json;
}

// What a base run and a variant have in common.
Json figures(const result::RunResult& r) {
  Json json = Json::object();
  json["schema"] = "wavetail/result/1";
  add_fields(json, r);
  json["kernels"] = Json::array();
  for (const auto& k : r.kernels) { json["kernels"].push_back(to_json(k)); }
  json["gaps"] = Json::object();
  add_fields(json["gaps"], r.gaps);
  json["closed_form"] = chain_of(r.closed_form);
  json["outcome"] = result::name(r.outcome);
  json["partial"] = r.outcome != result::Outcome::Complete;
  json["message"] = value_of(r.outcome_message);
  json["weakest_values"] = value_of(r.weakest_values);
  json["warnings"] = value_of(r.warnings);
  json["unfinished"] = Json::array();
  for (const auto& u : r.unfinished) {
    json["unfinished"].push_back(Json::object());
    add_fields(json["unfinished"].back(), u);
  }
  return json;
}

}  // namespace

Json number(double value) {
  if (!std::isfinite(value)) { return nullptr; }
  constexpr double kWhole = 9007199254740992.0;  // 2^53
  if (value == std::floor(value) && std::abs(value) < kWhole) {
    return static_cast<std::int64_t>(value);
  }
  char digits[32];
  std::snprintf(digits, sizeof digits, "%.6g", value);
  const double rounded = std::strtod(digits, nullptr);
  return rounded == std::floor(rounded) && std::abs(rounded) < kWhole
             ? Json(static_cast<std::int64_t>(rounded))
             : Json(rounded);
}

Json number_or_null(const std::optional<double>& value) {
  return value ? number(*value) : Json(nullptr);
}

Json to_json(const result::ChainLink& link) {
  return {
      {"name", link.name},           {"key", link.key},
      {"formula", link.formula},     {"inputs", link.inputs},
      {"value", number(link.value)}, {"unit", link.unit.empty() ? Json(nullptr) : Json(link.unit)}};
}

Json to_json(const result::ExpectationResult& e) {
  return {{"path", e.path},
          {"wanted", e.wanted},
          {"got", e.got},
          {"verdict", result::name(e.verdict)},
          {"known_miss", value_of(e.known_miss)},
          {"place", value_of(e.place)}};
}

Json to_json(const result::RunResult& run) {
  Json json = figures(run);
  json["expect"] = Json::array();
  for (const auto& e : run.expect) { json["expect"].push_back(to_json(e)); }
  json["variants"] = Json::object();
  for (const auto& v : run.variants) { json["variants"][v.variant] = figures(v); }
  return json;
}

std::string text_of(const Json& json) {
  return json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

}  // namespace wavetail::report
