// SPDX-License-Identifier: Apache-2.0
#include "study/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>

#include "base/count.h"
#include "base/nearest.h"
#include "study/calibration_rows.h"
#include "study/cross_validation.h"
#include "study/row_fit.h"

namespace wavetail::study {

namespace {

using result::Outcome;

config::Place place_of(const CalibrateOptions& options) {
  return {std::make_shared<const config::Source>(config::Source{options.file, "", false}), 1, 1};
}

// What the rows' GPUs are called, a few of them.
std::string gpus_of(const std::vector<Measurement>& rows) {
  constexpr std::size_t kMost = 8;
  std::vector<std::string> names;
  for (const Measurement& row : rows) {
    if (std::find(names.begin(), names.end(), row.gpu) == names.end()) { names.push_back(row.gpu); }
  }
  const bool more = names.size() > kMost;
  names.resize(std::min(names.size(), kMost));
  return base::joined(names) + (more ? ", ..." : "");
}

// The reasons of rows that take no part, each with the first row that has it.
std::string reasons_of(const std::vector<OtherRow>& others) {
  constexpr std::size_t kMost = 3;
  std::vector<std::string> seen;
  std::string text;
  for (const OtherRow& o : others) {
    if (std::find(seen.begin(), seen.end(), o.reason) != seen.end()) { continue; }
    seen.push_back(o.reason);
    if (seen.size() > kMost) { return text + "; ..."; }
    text += fmt::format("; {}: {}", o.row.id, o.reason);
  }
  return text;
}

// Whether there is enough to fit to; says what is lacking.
bool enough_rows(const std::vector<Measurement>& rows, const ChosenRows& chosen,
                 const CalibrateOptions& options, std::size_t values,
                 config::Diagnostics& diagnostics) {
  const std::size_t n = chosen.subjects.size();
  if (n >= values && n > 0) { return true; }
  const std::string& gpu = options.rows_of.empty() ? *options.load.gpu : options.rows_of;
  std::string message;
  if (n == 0 && chosen.others.empty()) {
    message = rows.empty()
                  ? "there are no rows"
                  : fmt::format("no row is of {}; there are rows of {}", gpu, gpus_of(rows));
    if (chosen.of_variants > 0) {
      message += fmt::format(
          "; --variants takes in {}, whose GPUs take the fitted values from this one",
          base::count_of(chosen.of_variants, "row"));
    }
    if (options.rows_of.empty() && gpu::is_file_name(gpu)) {
      message += "; --rows-of NAME says which of them is meant";
    }
  } else if (n == 0) {
    message = fmt::format("no row of {} can be fitted to{}", gpu, reasons_of(chosen.others));
  } else {
    message = fmt::format("{} {} for {}; at least as many rows as values are needed{}",
                          base::count_of(n, "row"), n == 1 ? "is too little" : "are too few",
                          base::count_of(values, "value"), reasons_of(chosen.others));
  }
  diagnostics.error(place_of(options), message);
  return false;
}

// Values whose neighbours on both sides break a rule of GPU files have no slope.
void check_neighbours(RowFit& fit, config::Diagnostics& diagnostics) {
  for (std::size_t k = 0; k < fit.parameters().size(); ++k) {
    const Parameter& p = fit.parameters()[k];
    std::string reason;
    bool some = false;
    const auto [below, above] = neighbours(p.variable, p.variable.start);
    for (const double value : {below, above}) {
      Point point = fit.start();
      point[k] = value;
      const auto mistake = value == p.variable.start
                               ? std::string("a bound")
                               : fit.predictor().mistake(fit.settings(point)).value_or("");
      some = some || mistake.empty();
      if (!mistake.empty() && value != p.variable.start) { reason = mistake; }
    }
    if (!some) {
      diagnostics.error(p.place,
                        fmt::format("'{}' cannot be varied around {}, so it cannot be "
                                    "fitted; compare single values by `validate --set`: {}",
                                    p.path, p.start, reason));
    }
  }
}

class Calibrator {
 public:
  Calibrator(RowFit& fit, const CalibrateOptions& options, Calibration& c)
      : fit_(fit), options_(options), c_(c) {}

  void run() {
    if (!predict_start()) { return; }
    const Fit found = fit_.to(rows_);
    take_values(found);
    take_rows(found);
    c_.converged = found.end == FitEnd::Converged;
    c_.rounds = found.rounds;
    if (found.end == FitEnd::Stopped) {
      stop();
    } else if (found.end == FitEnd::Rounds) {
      c_.outcome = Outcome::OverBudget;
      c_.outcome_message = fmt::format("{} rounds have not reached a minimum", found.rounds);
    } else if (options_.cross_validate && !cross_validate(fit_, rows_, c_)) {
      stop();
    }
  }

 private:
  void stop() {
    c_.outcome = fit_.predictor().outcome();
    c_.outcome_message = fit_.predictor().message();
  }

  // The rows that have a prediction there are those that are fitted to.
  bool predict_start() {
    std::vector<std::size_t> all(fit_.predictor().subjects().size());
    std::iota(all.begin(), all.end(), std::size_t{0});
    Fit nothing;
    nothing.values = fit_.start();
    take_values(nothing);
    if (!fit_.predict(fit_.start(), all, "start")) {
      stop();
      return false;
    }
    for (const std::size_t i : all) {
      const RowResult r = fit_.predictor().result(fit_.settings(fit_.start()), i);
      if (r.predicted) {
        rows_.push_back(i);
      } else {
        c_.others.push_back({r.row, r.skipped});
      }
    }
    if (rows_.size() >= std::max<std::size_t>(fit_.parameters().size(), 1)) { return true; }
    const bool hang = fit_.predictor().outcome() == Outcome::Hang;
    c_.outcome = hang ? Outcome::Hang : Outcome::OverBudget;
    c_.outcome_message = fmt::format("at the start only {} could be predicted{}",
                                     base::count_of(rows_.size(), "row"), reasons_of(c_.others));
    return false;
  }

  void take_values(const Fit& found) {
    c_.values.clear();
    for (std::size_t k = 0; k < fit_.parameters().size(); ++k) {
      const Parameter& p = fit_.parameters()[k];
      const auto amount = [&](double number) { return Amount{number, p.text(number)}; };
      c_.values.push_back({.path = p.path,
                           .unit = p.unit,
                           .start = amount(p.variable.start),
                           .low = amount(p.variable.low),
                           .high = amount(p.variable.high),
                           .value = amount(found.values[k])});
    }
    if (!found.slopes.empty()) { take_uncertainty(found); }
  }

  void take_uncertainty(const Fit& found) {
    const Uncertainty u = uncertainty_of(fit_.variables(), found);
    c_.determined = true;
    c_.correlation = u.correlation;
    if (u.residual) { c_.residual_pct = 100 * *u.residual; }
    for (std::size_t k = 0; k < c_.values.size(); ++k) {
      FittedValue& v = c_.values[k];
      const Determined& d = u.variables[k];
      v.told = d.told;
      for (std::size_t n = 0; n < rows_.size(); ++n) {
        const bool felt = std::abs(found.slopes[k][n]) > kLeastSlope;
        if (felt) { ++v.felt_by[fit_.predictor().subjects()[rows_[n]].row.set]; }
      }
      for (const std::size_t other : d.others) { v.others.push_back(c_.values[other].path); }
      if (d.standard_error) {
        const std::string unit = v.unit.empty() ? "" : " " + v.unit;
        v.standard_error = Amount{*d.standard_error,
                                  fmt::format("{:.2g}", *d.standard_error) + unit};
      }
    }
  }

  void take_rows(const Fit& found) {
    Validation start, fitted;
    for (const std::size_t i : rows_) {
      start.rows.push_back(fit_.predictor().result(fit_.settings(fit_.start()), i));
      fitted.rows.push_back(fit_.predictor().result(fit_.settings(found.values), i));
    }
    compare(start);
    compare(fitted);
    c_.start = statistics_of(start.rows);
    c_.fitted = statistics_of(fitted.rows);
    c_.start_rms_pct = rms_of(start);
    c_.fitted_rms_pct = rms_of(fitted);
    for (std::size_t n = 0; n < rows_.size(); ++n) {
      c_.rows.push_back({start.rows[n], fitted.rows[n], {}, {}});
    }
    c_.sets = groups([](const RowResult& r) { return r.row.set; });
    c_.gpus = groups([](const RowResult& r) { return r.gpu; });
  }

  std::vector<FittedGroup> groups(const std::function<std::string(const RowResult&)>& key) const {
    std::map<std::string, std::pair<std::vector<RowResult>, std::vector<RowResult>>> by_name;
    for (const FittedRow& row : c_.rows) {
      auto& [start, fitted] = by_name[key(row.start)];
      start.push_back(row.start);
      fitted.push_back(row.fitted);
    }
    std::vector<FittedGroup> all;
    for (const auto& [name, rows] : by_name) {
      all.push_back(
          {.name = name, .start = statistics_of(rows.first), .fitted = statistics_of(rows.second)});
    }
    return all;
  }

  static double rms_of(const Validation& v) {
    double sum = 0;
    for (const RowResult& r : v.rows) { sum += *r.error_pct * *r.error_pct; }
    return std::sqrt(sum / static_cast<double>(v.rows.size()));
  }

  RowFit& fit_;
  const CalibrateOptions& options_;
  Calibration& c_;
  std::vector<std::size_t> rows_;  // subjects of the predictor that take part
};

}  // namespace

Calibration calibrate(const std::vector<Measurement>& rows, const CalibrateOptions& options,
                      config::Diagnostics& diagnostics) {
  Calibration c;
  scenario::LoadOptions bare = options.load;
  bare.sets.clear();
  const auto plain = scenario::load_gpu_document(*options.load.gpu, bare, diagnostics);
  const auto gpu = scenario::load_gpu(*options.load.gpu, options.load, diagnostics);
  if (!plain || !gpu || !diagnostics.ok()) { return c; }
  const auto set = scenario::load_gpu_document(*options.load.gpu, options.load, diagnostics);
  const auto parameters = read_parameters(options.fit, *plain, *set, diagnostics);
  if (!diagnostics.ok()) { return c; }
  const ChosenRows chosen = choose_rows(rows, options, *plain, parameters);
  c.gpu = gpu->name;
  c.file = options.file;
  c.others = chosen.others;
  c.rows_of_other_gpus = chosen.of_other_gpus;
  c.rows_of_variants = chosen.of_variants;
  if (!enough_rows(rows, chosen, options, parameters.size(), diagnostics)) { return c; }
  Predictor predictor(chosen.subjects, options.load, options.control);
  RowFit fit(parameters, predictor, options.progress);
  check_neighbours(fit, diagnostics);
  if (!diagnostics.ok()) { return c; }
  Calibrator(fit, options, c).run();
  c.simulations = predictor.simulations();
  c.events = predictor.events();
  return c;
}

}  // namespace wavetail::study
