// SPDX-License-Identifier: Apache-2.0
// The reports of a calibration with all that can be said about a value, and of one that was
// stopped; the JSON is what its schema says.
#include "report/calibration.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "support/golden.h"

namespace wavetail::report {
namespace {

using study::Amount;
using study::Told;

study::RowResult result(const std::string& id, double predicted, double measured) {
  study::RowResult r;
  r.row.id = id;
  r.row.set = id.substr(0, 3);
  r.row.gpu = "H200-SXM";
  r.row.kind = "launch_overhead";
  r.row.params = {{"case", "3 plain launches"}};
  r.row.unit = "us";
  r.row.value = measured;
  r.gpu = "h200-sxm";
  r.predicted = predicted;
  r.error_pct = 100 * (predicted - measured) / measured;
  return r;
}

study::Statistics statistics(std::int64_t n, double mape, double bias) {
  return {.n = n,
          .skipped = 0,
          .compared = n,
          .mape_pct = mape,
          .median_ape_pct = mape,
          .bias_pct = bias,
          .outside_pct = {}};
}

study::FittedValue value(const std::string& path, Told told, const std::string& unit, double start,
                         double fitted) {
  const auto amount = [&](double n) {
    return Amount{n, fmt::format("{:g}{}{}", n, unit.empty() ? "" : " ", unit)};
  };
  study::FittedValue v{.path = path,
                       .unit = unit,
                       .start = amount(start),
                       .low = amount(start / 2),
                       .high = amount(2 * start),
                       .value = amount(fitted)};
  v.told = told;
  return v;
}

study::Calibration example() {
  study::Calibration c;
  c.gpu = "h200-sxm";
  c.file = "rows.csv";
  c.values = {value("gpu.launch.host_launch", Told::Yes, "us", 2.5, 3.1),
              value("gpu.l1.latency", Told::Yes, "cycles", 33, 35),
              value("gpu.launch.host_sync", Told::WithOthers, "us", 4, 5),
              value("gpu.launch.submit", Told::WithOthers, "us", 2, 2.5),
              value("gpu.hbm.latency", Told::Unfelt, "ns", 333, 333),
              value("gpu.hbm.efficiency", Told::AtBound, "%", 82, 100),
              value("gpu.l1.ways", Told::Walled, "", 4, 4),
              value("gpu.hbm.row_access", Told::Unfelt, "ns", 4.65, 2.325)};
  c.values[0].standard_error = Amount{0.04, "0.04 us"};
  c.values[0].felt_by = {{"LAU", 2}};
  c.values[1].standard_error = Amount{8, "8 cycles"};
  c.values[1].felt_by = {{"LAU", 1}, {"STR", 1}};
  c.values[2].others = {"gpu.launch.submit"};
  c.values[3].others = {"gpu.launch.host_sync"};
  c.correlation.assign(8, std::vector<std::optional<double>>(8));
  c.correlation[0] = {1, -0.97, {}, {}, {}, {}, {}, {}};
  c.correlation[1] = {-0.97, 1, {}, {}, {}, {}, {}, {}};
  c.residual_pct = 1.5;
  c.rows = {{result("LAU-1", 9, 12), result("LAU-1", 11.9, 12), 11, -100.0 / 12},
            {result("LAU-2", 20, 25), result("LAU-2", 25.2, 25), 24, -4},
            {result("STR-1", 50, 40), result("STR-1", 41, 40), 50, 25}};
  study::Measurement skipped = result("LAU-3", 1, 1).row;
  c.others = {{skipped, "no measured value"}};
  c.rows_of_other_gpus = 5;
  c.rows_of_variants = 1;
  c.start = statistics(3, 23.3, -6.7);
  c.fitted = statistics(3, 1.4, 0.8);
  c.start_rms_pct = 23.5;
  c.fitted_rms_pct = 1.6;
  c.sets = {
      {"LAU",
       statistics(2, 22.5, -22.5),
       statistics(2, 0.8, 0),
       statistics(2, 6.2, -6.2),
       {{2.9, "2.9 us"}},
       ""},
      {"STR", statistics(1, 25, 25), statistics(1, 2.5, 2.5), {}, {}, "there is no other row"}};
  c.gpus = {{"h200-sxm", c.start, c.fitted, {}, {}, "there are no other rows"}};
  c.left_out = statistics(3, 12.4, 4.2);
  c.converged = c.determined = true;
  c.rounds = 4;
  c.simulations = 99;
  // a fit without a set has all the values
  while (c.sets[0].values.size() < c.values.size()) {
    c.sets[0].values.push_back(c.values[c.sets[0].values.size()].value);
  }
  return c;
}

study::Calibration stopped() {
  study::Calibration c = example();
  for (auto& v : c.values) {
    v.told = Told::Yes;
    v.standard_error.reset();
    v.felt_by.clear();
    v.others.clear();
  }
  c.correlation.clear();
  c.residual_pct.reset();
  c.left_out.reset();
  c.converged = c.determined = false;
  c.outcome = result::Outcome::Interrupted;
  c.outcome_message = "a signal ended the run";
  return c;
}

// Whether a document is as a schema says, for what our schemas use of JSON Schema; else where not.
std::string against(const Json& schema, const Json& json, const std::string& at = "$") {
  if (schema.contains("const") && schema["const"] != json) { return at + ": another constant"; }
  if (schema.contains("enum") && !std::count(schema["enum"].begin(), schema["enum"].end(), json)) {
    return at + ": not in the enumeration";
  }
  if (schema.contains("anyOf")) {
    for (const Json& one : schema["anyOf"]) {
      if (against(one, json, at).empty()) { return ""; }
    }
    return at + ": none of anyOf";
  }
  if (schema.contains("type")) {
    const Json types = schema["type"].is_array() ? schema["type"] : Json::array({schema["type"]});
    const auto is = [&](const std::string& type) {
      return type == "string"    ? json.is_string()
             : type == "number"  ? json.is_number()
             : type == "integer" ? json.is_number_integer()
             : type == "boolean" ? json.is_boolean()
             : type == "null"    ? json.is_null()
             : type == "array"   ? json.is_array()
                                 : json.is_object();
    };
    if (std::none_of(types.begin(), types.end(), is)) { return at + ": another type"; }
  }
  std::string wrong;
  if (json.is_object()) {
    const Json known = schema.value("properties", Json::object());
    for (const Json& key : schema.value("required", Json::array())) {
      if (!json.contains(key.get<std::string>())) { return at + " lacks " + key.dump(); }
    }
    for (const auto& [key, value] : json.items()) {
      const bool named = known.contains(key);
      if (!named && !schema.contains("additionalProperties")) { return at + " has also " + key; }
      wrong += against(named ? known[key] : schema["additionalProperties"], value, at + "." + key);
    }
  }
  if (json.is_array() && schema.contains("items")) {
    for (const Json& item : json) { wrong += against(schema["items"], item, at + "[]"); }
  }
  return wrong;
}

TEST(CalibrationGolden, Reports) {
  golden::expect_equal("report/calibration.txt", calibration_text(example()));
  golden::expect_equal("report/calibration.json", text_of(calibration_json(example())));
  golden::expect_equal("report/calibration.csv", calibration_csv(example()));
  golden::expect_equal("report/calibration-partial.txt", calibration_text(stopped()));
  golden::expect_equal("report/calibration-schema.json", calibration_schema());
}

TEST(Calibration, JsonIsWhatTheSchemaSays) {
  const Json schema = Json::parse(calibration_schema());
  EXPECT_EQ(against(schema, calibration_json(example())), "");
  EXPECT_EQ(against(schema, calibration_json(stopped())), "");
  EXPECT_EQ(against(schema, calibration_json(study::Calibration{})), "");
  Json wrong = calibration_json(example());
  wrong["values"][0]["told"] = "perhaps";
  EXPECT_EQ(against(schema, wrong), "$.values[].told: not in the enumeration");
  wrong = calibration_json(example());
  wrong["rows"][0].erase("left_out");
  EXPECT_EQ(against(schema, wrong), "$.rows[] lacks \"left_out\"");
}

TEST(Calibration, NothingFittedSaysSo) {
  study::Calibration c = stopped();
  c.rows.clear();
  c.sets.clear();
  c.gpus.clear();
  const std::string text = calibration_text(c);
  EXPECT_NE(text.find("nothing was fitted"), std::string::npos) << text;
  EXPECT_EQ(text.find("As settings"), std::string::npos) << text;
}

}  // namespace
}  // namespace wavetail::report
