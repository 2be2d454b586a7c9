// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/count.h"
#include "base/nearest.h"
#include "report/calibration.h"
#include "report/table.h"
#include "report/validation.h"
#include "study/fit.h"

namespace wavetail::report {

namespace {

using study::Calibration;
using study::FittedGroup;
using study::FittedValue;
using study::Told;
using Align = Table::Align;

constexpr std::size_t kWidth = 100;
constexpr double kStrong = 0.95;  // correlations from here on are pointed out

std::string pct(const std::optional<double>& value, bool sign = false) {
  if (!value) { return "-"; }
  return fmt::format(fmt::runtime(sign ? "{:+.1f} %" : "{:.1f} %"), *value);
}

std::string paragraph(const std::string& text) { return wrapped(text, kWidth, 2) + "\n"; }

std::string error_text(const FittedValue& v) {
  if (!v.standard_error) { return "-"; }
  const double share = 100 * v.standard_error->number / std::abs(v.value.number);
  return v.value.number == 0 ? v.standard_error->text
                             : fmt::format("{} ({:.2g} %)", v.standard_error->text, share);
}

std::string values_text(const Calibration& c) {
  const bool known = !c.rows.empty();
  Table table({{"Value", Align::Left},
               {"start"},
               {"lowest"},
               {"highest"},
               {"fitted"},
               {"standard error"},
               {"felt by"}});
  for (const FittedValue& v : c.values) {
    table.add({v.path, v.start.text, v.low.text, v.high.text, known ? v.value.text : "-",
               error_text(v), c.determined ? base::count_of(v.rows(), "row") : "-"});
  }
  return table.text(0);
}

std::string unfelt(const FittedValue& v) {
  const double step = 100 * study::kSlopeStep;
  return v.value.number == v.start.number
             ? fmt::format(
                   "{}: no row feels it. A step of {:g} % moves no prediction by more than "
                   "0.01 %, so it stays where it was; leave it out of --fit, or add rows "
                   "that depend on it.",
                   v.path, step)
             : fmt::format(
                   "{}: the fit has taken it from {} to {}, and there no row feels it any "
                   "more: a step of {:g} % moves no prediction by more than 0.01 %, so other "
                   "values near it do as well.",
                   v.path, v.start.text, v.value.text, step);
}

// What the rows do not say about a value.
std::string caveat(const FittedValue& v) {
  switch (v.told) {
    case Told::Yes:
      return v.is_vague() ? paragraph(fmt::format(
                                "{}: its standard error is {:.2g} % of it; the rows hardly "
                                "determine it.",
                                v.path, 100 * v.standard_error->number / std::abs(v.value.number)))
                          : "";
    case Told::Unfelt: return paragraph(unfelt(v));
    case Told::Walled:
      return paragraph(fmt::format(
          "{}: cannot be varied around {}: with the values on both sides there is a row without a "
          "prediction.",
          v.path, v.value.text));
    case Told::AtBound:
      return paragraph(fmt::format(
          "{}: stopped at its bound {}; there would be less error beyond. Other bounds: --fit "
          "{}=LOWEST:HIGHEST.",
          v.path, v.value.text, v.path));
    case Told::WithOthers:
      return paragraph(fmt::format(
          "{}: the rows do not tell it apart from {}: they move alike, so that only a combination "
          "is determined. Fit one of them, or add rows that depend on them differently.",
          v.path, base::joined(v.others)));
  }
  return "";
}

std::string caveats_text(const Calibration& c) {
  if (!c.determined) { return ""; }
  std::string text;
  for (const FittedValue& v : c.values) { text += caveat(v); }
  if (!c.residual_pct) {
    text += paragraph("There are no more rows than values: errors of the values are not known.");
  }
  for (std::size_t a = 0; a < c.values.size(); ++a) {
    for (std::size_t b = a + 1; b < c.values.size(); ++b) {
      const auto r = c.correlation[a][b];
      if (r && std::abs(*r) >= kStrong) {
        text += paragraph(
            fmt::format("{} and {}: correlation {:+.3f}; the rows hardly tell them "
                        "apart, an error of one is made up for by the other.",
                        c.values[a].path, c.values[b].path, *r));
      }
    }
  }
  return text.empty() ? "" : "\n" + text;
}

// Between the values that have a standard error.
std::string correlation_text(const Calibration& c) {
  std::vector<std::size_t> known;
  for (std::size_t k = 0; k < c.correlation.size(); ++k) {
    if (c.correlation[k][k]) { known.push_back(k); }
  }
  if (known.size() < 2) { return ""; }
  std::vector<Table::Column> columns{{"Correlation of errors", Align::Left}};
  for (std::size_t n = 1; n <= known.size(); ++n) { columns.push_back({std::to_string(n)}); }
  Table table(std::move(columns));
  for (const std::size_t a : known) {
    std::vector<std::string> line{fmt::format("{} {}", table.rows().size() + 1, c.values[a].path)};
    for (const std::size_t b : known) {
      line.push_back(fmt::format("{:+.2f}", *c.correlation[a][b]));
    }
    table.add(std::move(line));
  }
  return "\n" + table.text(0);
}

void add_group(Table& table, const FittedGroup& g) {
  table.add({g.name, std::to_string(g.fitted.n), pct(g.start.mape_pct), pct(g.fitted.mape_pct),
             g.left_out ? pct(g.left_out->mape_pct) : "-", pct(g.start.bias_pct, true),
             pct(g.fitted.bias_pct, true)});
}

std::string errors_text(const Calibration& c) {
  Table table({{"MAPE", Align::Left},
               {"rows"},
               {"at start"},
               {"fitted"},
               {"left out"},
               {"bias at start"},
               {"fitted"}});
  add_group(table, {"all", c.start, c.fitted, c.left_out, {}, {}});
  for (const FittedGroup& g : c.sets) { add_group(table, g); }
  if (c.gpus.size() > 1) {
    for (const FittedGroup& g : c.gpus) { add_group(table, g); }
  }
  const bool some = std::any_of(c.sets.begin(), c.sets.end(),
                                [](const auto& g) { return g.left_out.has_value(); });
  return "\n" + table.text(0) +
         (some ? "left out: by values that were fitted to all rows but these\n" : "");
}

// The values with each group left out, to see which rows they hang on.
std::string left_out_text(const Calibration& c) {
  std::vector<Table::Column> columns{{"Fitted without", Align::Left}};
  for (const FittedValue& v : c.values) { columns.push_back({v.path}); }
  Table table(std::move(columns));
  const auto add = [&](const FittedGroup& g) {
    if (g.values.empty()) { return; }
    std::vector<std::string> line{g.name};
    for (const study::Amount& value : g.values) { line.push_back(value.text); }
    table.add(std::move(line));
  };
  for (const FittedGroup& g : c.sets) { add(g); }
  for (const FittedGroup& g : c.gpus) { add(g); }
  return table.rows().empty() ? "" : "\n" + table.text(0);
}

std::string summary_text(const Calibration& c) {
  std::string text = fmt::format(
      "\nRoot mean square of the errors: {} at the start, {} fitted. {}, {}.\n",
      pct(c.start_rms_pct), pct(c.fitted_rms_pct), base::count_of(c.rounds, "round"),
      base::count_of(c.simulations, "simulation"));
  std::string settings;
  for (const FittedValue& v : c.values) {
    settings += fmt::format(" --set '{}={}'", v.path, v.value.text);
  }
  return text + fmt::format("As settings:{}\n", settings);
}

std::string rows_text(const Calibration& c) {
  std::vector<study::RowResult> rows;
  for (const study::FittedRow& r : c.rows) { rows.push_back(r.fitted); }
  std::vector<std::pair<std::string, std::string>> skipped;
  for (const study::OtherRow& o : c.others) { skipped.emplace_back(o.row.id, o.reason); }
  std::string text = worst_text(rows) + skipped_text(skipped);
  if (c.rows_of_variants > 0) {
    text += "\n" + paragraph(fmt::format(
                       "Left aside: {} of GPUs that take these values from {} (`base`); --variants "
                       "takes them in.",
                       base::count_of(c.rows_of_variants, "row"), c.gpu));
  }
  return text;
}

std::string partial_text(const Calibration& c) {
  if (c.outcome == result::Outcome::Complete) { return ""; }
  const std::string what = c.rows.empty() ? "nothing was fitted"
                           : c.converged  ? "the fit is complete, leaving out rows is not"
                           : c.determined ? "the values are the best so far"
                                          : "the values are the best so far, their errors unknown";
  return fmt::format("\nThis report is partial: {}; {}.\n", c.outcome_message, what);
}

}  // namespace

std::string calibration_text(const Calibration& c) {
  const std::string values = fmt::format("{} of {}", base::count_of(c.values.size(), "value"),
                                         c.gpu);
  std::string text = c.rows.empty() ? fmt::format("{}, not fitted\n\n", values)
                                    : fmt::format("{} fitted to {} of {}\n\n", values,
                                                  base::count_of(c.rows.size(), "row"), c.file);
  text += values_text(c) + caveats_text(c);
  if (!c.rows.empty()) {
    text += correlation_text(c) + errors_text(c) + left_out_text(c) + summary_text(c);
  }
  return text + rows_text(c) + partial_text(c);
}

}  // namespace wavetail::report
