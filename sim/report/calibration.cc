// SPDX-License-Identifier: Apache-2.0
#include "report/calibration.h"

#include <fmt/format.h>

#include "report/csv.h"
#include "report/validation.h"

namespace wavetail::report {

namespace {

Json json_of(const study::FittedValue& v) {
  Json json = {{"path", v.path},
               {"unit", v.unit},
               {"start", number(v.start.number)},
               {"lowest", number(v.low.number)},
               {"highest", number(v.high.number)},
               {"value", number(v.value.number)},
               {"standard_error", nullptr},
               {"told", name(v.told)},
               {"felt_by", v.felt_by},
               {"not_told_from", v.others},
               {"setting", v.path + "=" + v.value.text}};
  if (v.standard_error) { json["standard_error"] = number(v.standard_error->number); }
  return json;
}

Json json_of(const study::FittedRow& r) {
  return {{"id", r.start.row.id},
          {"set", r.start.row.set},
          {"gpu", r.start.row.gpu},
          {"gpu_file", r.start.gpu},
          {"unit", r.start.row.unit},
          {"measured", number_or_null(r.start.row.value)},
          {"start", number_or_null(r.start.predicted)},
          {"start_error_pct", number_or_null(r.start.error_pct)},
          {"predicted", number_or_null(r.fitted.predicted)},
          {"error_pct", number_or_null(r.fitted.error_pct)},
          {"left_out", number_or_null(r.left_out)},
          {"left_out_error_pct", number_or_null(r.left_out_error_pct)}};
}

Json json_of(const std::vector<study::FittedGroup>& groups, const study::Calibration& c) {
  Json all = Json::object();
  for (const study::FittedGroup& g : groups) {
    Json values = Json::object();
    for (std::size_t k = 0; k < g.values.size(); ++k) {
      values[c.values[k].path] = number(g.values[k].number);
    }
    all[g.name] = {{"start", statistics_json(g.start)},
                   {"fitted", statistics_json(g.fitted)},
                   {"left_out", g.left_out ? statistics_json(*g.left_out) : Json(nullptr)},
                   {"values", std::move(values)},
                   {"skipped", g.skipped.empty() ? Json(nullptr) : Json(g.skipped)}};
  }
  return all;
}

}  // namespace

std::string_view name(study::Told told) {
  switch (told) {
    case study::Told::Yes: return "yes";
    case study::Told::Unfelt: return "unfelt";
    case study::Told::Walled: return "walled";
    case study::Told::AtBound: return "at_bound";
    case study::Told::WithOthers: return "with_others";
  }
  return "yes";
}

Json calibration_json(const study::Calibration& c) {
  Json json = {{"schema", "wavetail/calibration/1"}, {"gpu", c.gpu}, {"file", c.file}};
  json["values"] = Json::array();
  for (const study::FittedValue& v : c.values) { json["values"].push_back(json_of(v)); }
  json["correlation"] = Json::array();
  for (const auto& row : c.correlation) {
    Json line = Json::array();
    for (const auto& r : row) { line.push_back(number_or_null(r)); }
    json["correlation"].push_back(std::move(line));
  }
  json["residual_pct"] = number_or_null(c.residual_pct);
  json["start"] = statistics_json(c.start);
  json["start"]["rms_pct"] = number_or_null(c.start_rms_pct);
  json["fitted"] = statistics_json(c.fitted);
  json["fitted"]["rms_pct"] = number_or_null(c.fitted_rms_pct);
  json["left_out"] = c.left_out ? statistics_json(*c.left_out) : Json(nullptr);
  json["sets"] = json_of(c.sets, c);
  json["gpus"] = json_of(c.gpus, c);
  json["rows"] = Json::array();
  for (const study::FittedRow& r : c.rows) { json["rows"].push_back(json_of(r)); }
  json["skipped"] = Json::array();
  for (const study::OtherRow& o : c.others) {
    json["skipped"].push_back({{"id", o.row.id}, {"skipped", o.reason}});
  }
  json["rows_of_other_gpus"] = c.rows_of_other_gpus;
  json["rows_of_variants"] = c.rows_of_variants;
  json["converged"] = c.converged;
  json["rounds"] = c.rounds;
  json["simulations"] = c.simulations;
  json["outcome"] = result::name(c.outcome);
  json["message"] = c.outcome_message.empty() ? Json(nullptr) : Json(c.outcome_message);
  return json;
}

std::string calibration_csv(const study::Calibration& c) {
  std::string
      out = "path,unit,start,lowest,highest,value,standard_error,told,felt_by,not_told_from\n";
  const auto text = [](double value) { return number(value).dump(); };
  for (const study::FittedValue& v : c.values) {
    out += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", v.path, csv_cell(v.unit),
                       text(v.start.number), text(v.low.number), text(v.high.number),
                       text(v.value.number), v.standard_error ? text(v.standard_error->number) : "",
                       name(v.told), v.rows(),
                       csv_cell(fmt::format("{}", fmt::join(v.others, " "))));
  }
  return out;
}

}  // namespace wavetail::report
