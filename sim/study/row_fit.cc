// SPDX-License-Identifier: Apache-2.0
#include "study/row_fit.h"

#include <fmt/format.h>

#include <cmath>

namespace wavetail::study {

RowFit::RowFit(std::vector<Parameter> parameters, Predictor& predictor, Tell tell)
    : parameters_(std::move(parameters)), predictor_(predictor), tell_(std::move(tell)) {
  for (const Parameter& p : parameters_) { variables_.push_back(p.variable); }
}

Settings RowFit::settings(const Point& point) const {
  Settings settings;
  for (std::size_t k = 0; k < point.size(); ++k) {
    settings.push_back(parameters_[k].setting(point[k]));
  }
  return settings;
}

Point RowFit::start() const {
  Point point;
  for (const Variable& v : variables_) { point.push_back(v.start); }
  return point;
}

Progress RowFit::progress(const std::string& step) const {
  if (!tell_) { return {}; }
  return [this, step](std::size_t done, std::size_t total) { tell_(step, done, total); };
}

bool RowFit::predict(const Point& point, const std::vector<std::size_t>& which,
                     const std::string& step) {
  return predictor_.at({settings(point)}, which, progress(step)).has_value();
}

Fit RowFit::to(const std::vector<std::size_t>& which, const std::string& name) {
  const auto residuals = [&](const Answer& answer) -> std::optional<Residuals> {
    if (!answer.refused.empty()) { return std::nullopt; }
    Residuals all;
    for (std::size_t n = 0; n < which.size(); ++n) {
      const double measured = *predictor_.subjects()[which[n]].row.value;
      all.push_back((answer.predicted[n] - measured) / std::abs(measured));
    }
    return all;
  };
  const Evaluate evaluate = [&](const Points& points,
                                int round) -> std::optional<std::vector<std::optional<Residuals>>> {
    std::vector<Settings> all;
    for (const Point& point : points) { all.push_back(settings(point)); }
    const std::string step = round == 0 ? "start" : fmt::format("round {}", round);
    const auto answers = predictor_.at(all, which, progress(name + step));
    if (!answers) { return std::nullopt; }
    std::vector<std::optional<Residuals>> out;
    for (const Answer& answer : *answers) { out.push_back(residuals(answer)); }
    return out;
  };
  return least_squares(variables_, evaluate);
}

}  // namespace wavetail::study
