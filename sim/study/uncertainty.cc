// SPDX-License-Identifier: Apache-2.0
#include "study/uncertainty.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>

namespace wavetail::study {

namespace {

// A combination of variables counts those with more than this share in it.
constexpr double kTakesPart = 0.1;

Told told_alone(const Fit& fit, std::size_t k) {
  if (fit.walled[k]) { return Told::Walled; }
  const auto& slopes = fit.slopes[k];
  const bool felt = std::any_of(slopes.begin(), slopes.end(),
                                [](double s) { return std::abs(s) > kLeastSlope; });
  if (!felt) { return Told::Unfelt; }
  return fit.at_bound[k] ? Told::AtBound : Told::Yes;
}

// The variables that are told by themselves, as columns of length 1.
struct Columns {
  std::vector<std::size_t> variables;
  Eigen::MatrixXd unit;
  Eigen::VectorXd lengths;
};

Columns columns_of(const Fit& fit, const std::vector<Determined>& determined) {
  Columns c;
  for (std::size_t k = 0; k < determined.size(); ++k) {
    if (determined[k].told == Told::Yes) { c.variables.push_back(k); }
  }
  const auto count = static_cast<Eigen::Index>(c.variables.size());
  const auto rows = static_cast<Eigen::Index>(fit.residuals.size());
  c.unit.resize(rows, count);
  c.lengths.resize(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    const Residuals& slopes = fit.slopes[c.variables[static_cast<std::size_t>(i)]];
    c.unit.col(i) = Eigen::Map<const Eigen::VectorXd>(slopes.data(), rows);
    c.lengths(i) = c.unit.col(i).norm();
    c.unit.col(i) /= c.lengths(i);
  }
  return c;
}

// Marks the variables that take part in a combination which the residuals hardly feel.
void mark_mixture(const Eigen::VectorXd& direction, const Columns& columns,
                  std::vector<Determined>& determined) {
  std::vector<std::size_t> together;
  for (Eigen::Index i = 0; i < direction.size(); ++i) {
    if (std::abs(direction(i)) > kTakesPart) {
      together.push_back(columns.variables[static_cast<std::size_t>(i)]);
    }
  }
  for (const std::size_t k : together) {
    determined[k].told = Told::WithOthers;
    for (const std::size_t other : together) {
      auto& others = determined[k].others;
      if (other != k && std::find(others.begin(), others.end(), other) == others.end()) {
        others.push_back(other);
      }
    }
    std::sort(determined[k].others.begin(), determined[k].others.end());
  }
}

}  // namespace

Uncertainty uncertainty_of(const std::vector<Variable>& variables, const Fit& fit) {
  Uncertainty u;
  u.variables.resize(variables.size());
  u.correlation.assign(variables.size(), std::vector<std::optional<double>>(variables.size()));
  for (std::size_t k = 0; k < variables.size(); ++k) { u.variables[k].told = told_alone(fit, k); }
  const Columns columns = columns_of(fit, u.variables);
  const auto free = static_cast<Eigen::Index>(columns.variables.size());
  const auto spare = static_cast<Eigen::Index>(fit.residuals.size()) - free;
  if (spare > 0) { u.residual = std::sqrt(fit.sum_of_squares() / static_cast<double>(spare)); }
  if (free == 0) { return u; }
  const Eigen::JacobiSVD<Eigen::MatrixXd> svd(columns.unit,
                                              Eigen::ComputeThinU | Eigen::ComputeThinV);
  const Eigen::VectorXd& strength = svd.singularValues();
  // (J^T J)^-1 of the combinations that the residuals feel
  Eigen::MatrixXd inverse = Eigen::MatrixXd::Zero(free, free);
  for (Eigen::Index s = 0; s < strength.size(); ++s) {
    const Eigen::VectorXd direction = svd.matrixV().col(s);
    if (strength(s) < kLeastShare * strength(0)) {
      mark_mixture(direction, columns, u.variables);
    } else {
      inverse += direction * direction.transpose() / (strength(s) * strength(s));
    }
  }
  for (Eigen::Index i = 0; i < free; ++i) {
    const std::size_t a = columns.variables[static_cast<std::size_t>(i)];
    if (u.variables[a].told != Told::Yes) { continue; }
    if (u.residual) {
      u.variables[a].standard_error = *u.residual * std::sqrt(inverse(i, i)) / columns.lengths(i) *
                                      variables[a].scale();
    }
    for (Eigen::Index j = 0; j < free; ++j) {
      const std::size_t b = columns.variables[static_cast<std::size_t>(j)];
      if (u.variables[b].told != Told::Yes) { continue; }
      u.correlation[a][b] = i == j ? 1 : inverse(i, j) / std::sqrt(inverse(i, i) * inverse(j, j));
    }
  }
  return u;
}

}  // namespace wavetail::study
