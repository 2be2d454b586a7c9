// SPDX-License-Identifier: Apache-2.0
#include "report/validation.h"

#include <fmt/format.h>

#include "report/csv.h"

namespace wavetail::report {

namespace {

Json json_of(const study::RowResult& r) {
  Json json = {{"id", r.row.id},
               {"set", r.row.set},
               {"gpu", r.row.gpu},
               {"kind", r.row.kind},
               {"predicted", number_or_null(r.predicted)},
               {"unit", r.row.unit}};
  if (r.row.value) { json["measured"] = number(*r.row.value); }
  if (r.error_pct) { json["error_pct"] = number(*r.error_pct); }
  if (r.outside_pct) { json["outside_pct"] = number(*r.outside_pct); }
  if (!r.gpu.empty()) { json["gpu_file"] = r.gpu; }
  if (r.clock_mhz > 0) { json["clock_mhz"] = number(r.clock_mhz); }
  if (r.power_w) { json["power_w"] = number(*r.power_w); }
  if (r.power_error_pct) { json["power_error_pct"] = number(*r.power_error_pct); }
  if (!r.predicted) { json["skipped"] = r.skipped; }
  if (!r.apart.empty()) { json["apart"] = r.apart; }
  return json;
}

Json json_of(const study::Group& g) {
  Json json = {{"set", g.set}, {"gpu", g.gpu}, {"confidence", g.confidence}};
  json.update(statistics_json(g.all));
  json["tight"] = statistics_json(g.tight);
  json["single"] = statistics_json(g.single);
  json["apart"] = statistics_json(g.apart);
  json["decades"] = Json::array();
  for (const study::Decade& d : g.decades) {
    Json decade = {{"from_us", number(d.from_us)}, {"to_us", number(d.to_us)}};
    decade.update(statistics_json(d.statistics));
    json["decades"].push_back(std::move(decade));
  }
  return json;
}

std::string cell(const std::optional<double>& value) { return value ? number(*value).dump() : ""; }

}  // namespace

Json statistics_json(const study::Statistics& s) {
  return {{"n", s.n},
          {"skipped", s.skipped},
          {"compared", s.compared},
          {"mape_pct", number_or_null(s.mape_pct)},
          {"median_ape_pct", number_or_null(s.median_ape_pct)},
          {"bias_pct", number_or_null(s.bias_pct)},
          {"outside_pct", number_or_null(s.outside_pct)}};
}

Json validation_json(const study::Validation& v) {
  Json json = {{"schema", "wavetail/validation/1"}, {"rows", Json::array()}};
  for (const study::RowResult& r : v.rows) { json["rows"].push_back(json_of(r)); }
  json["sets"] = Json::object();
  for (const study::SetStatistics& s : v.sets) {
    json["sets"][s.set] = statistics_json(s.statistics);
  }
  json["groups"] = Json::array();
  for (const study::Group& g : v.groups) { json["groups"].push_back(json_of(g)); }
  json["outcome"] = result::name(v.outcome);
  if (!v.outcome_message.empty()) { json["message"] = v.outcome_message; }
  return json;
}

std::string validation_csv(const study::Validation& v) {
  std::string out =
      "id,set,gpu,gpu_file,kind,metric,predicted,measured,unit,error_pct,outside_pct,clock_mhz,"
      "confidence,skipped\n";
  for (const study::RowResult& r : v.rows) {
    out += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_cell(r.row.id),
                       csv_cell(r.row.set), csv_cell(r.row.gpu), csv_cell(r.gpu),
                       csv_cell(r.row.kind), csv_cell(r.row.metric), cell(r.predicted),
                       cell(r.row.value), csv_cell(r.row.unit), cell(r.error_pct),
                       cell(r.outside_pct), r.gpu.empty() ? "" : number(r.clock_mhz).dump(),
                       r.confidence, csv_cell(r.skipped));
  }
  return out;
}

}  // namespace wavetail::report
