// SPDX-License-Identifier: Apache-2.0
#include "report/calibration.h"
#include "report/schema.h"

namespace wavetail::report {

namespace {

Json said(Json type, const char* sentence) {
  type["description"] = sentence;
  return type;
}

Json value() {
  return object_schema(
      {{"path", said(of_type("string"), "as --set takes it")},
       {"unit", said(of_type("string"), "of the numbers here; empty: none")},
       {"start", of_type("number")},
       {"lowest", of_type("number")},
       {"highest", of_type("number")},
       {"value", said(of_type("number"), "the fitted one")},
       {"standard_error", said(or_null("number"), "of a value that the rows tell")},
       {"told", {{"enum", {"yes", "unfelt", "walled", "at_bound", "with_others"}}}},
       {"felt_by", said({{"type", "object"}, {"additionalProperties", of_type("integer")}},
                        "rows that move with it, by set")},
       {"not_told_from", said(list_schema(of_type("string")), "paths")},
       {"setting", said(of_type("string"), "PATH=VALUE with its unit, for --set")}});
}

Json statistics() {
  return object_schema({{"n", said(of_type("integer"), "rows with a prediction")},
                        {"skipped", of_type("integer")},
                        {"compared", of_type("integer")},
                        {"mape_pct", said(or_null("number"), "mean magnitude of the errors")},
                        {"median_ape_pct", or_null("number")},
                        {"bias_pct", said(or_null("number"), "mean error")},
                        {"outside_pct", said(or_null("number"), "mean distance to lo...hi")}});
}

Json statistics_with_rms() {
  Json json = statistics();
  json["properties"]["rms_pct"] = said(or_null("number"), "root mean square error");
  json["required"].push_back("rms_pct");
  return json;
}

Json statistics_or_null() { return {{"anyOf", {statistics(), of_type("null")}}}; }

Json groups(const char* sentence) {
  const Json group = object_schema(
      {{"start", statistics()},
       {"fitted", statistics()},
       {"left_out", statistics_or_null()},
       {"values", {{"type", "object"}, {"additionalProperties", of_type("number")}}},
       {"skipped", said(or_null("string"), "why nothing was fitted without these rows")}});
  return said({{"type", "object"}, {"additionalProperties", group}}, sentence);
}

Json row() {
  return object_schema(
      {{"id", of_type("string")},
       {"set", of_type("string")},
       {"gpu", said(of_type("string"), "as the row has it")},
       {"gpu_file", of_type("string")},
       {"unit", of_type("string")},
       {"measured", of_type("number")},
       {"start", said(of_type("number"), "predicted with the values at the start")},
       {"start_error_pct", of_type("number")},
       {"predicted", said(of_type("number"), "with the fitted values")},
       {"error_pct", of_type("number")},
       {"left_out", said(or_null("number"), "predicted with values fitted without its set")},
       {"left_out_error_pct", or_null("number")}});
}

}  // namespace

std::string calibration_schema() {
  const Json correlations = list_schema(list_schema(or_null("number")));
  Json schema = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                 {"title", "wavetail/calibration/1"}};
  schema.update(object_schema(
      {{"schema", {{"const", "wavetail/calibration/1"}}},
       {"gpu", of_type("string")},
       {"file", of_type("string")},
       {"values", list_schema(value())},
       {"correlation", said(correlations, "of the errors of the values, in their order")},
       {"residual_pct", said(or_null("number"), "standard deviation of a row around the fit")},
       {"start", statistics_with_rms()},
       {"fitted", statistics_with_rms()},
       {"left_out", said(statistics_or_null(), "every row by the fit without its set")},
       {"sets", groups("by set: errors with and without it in the fit")},
       {"gpus", groups("the same by GPU file")},
       {"rows", list_schema(row())},
       {"skipped",
        list_schema(object_schema({{"id", of_type("string")}, {"skipped", of_type("string")}}))},
       {"rows_of_other_gpus", of_type("integer")},
       {"rows_of_variants", said(of_type("integer"), "of these, those that --variants takes in")},
       {"converged", of_type("boolean")},
       {"rounds", of_type("integer")},
       {"simulations", of_type("integer")},
       {"outcome", {{"enum", {"complete", "hang", "over_budget", "interrupted"}}}},
       {"message", or_null("string")}}));
  return text_of(schema);
}

}  // namespace wavetail::report
