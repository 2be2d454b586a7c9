// SPDX-License-Identifier: Apache-2.0
#include "study/fit.h"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <numeric>

namespace wavetail::study {

namespace {

constexpr double kFirstDamping = 1e-3, kLeastDamping = 1e-9, kMostDamping = 1e6;
constexpr double kDampingFactor = 10;

double sum_of_squares_of(const Residuals& residuals) {
  return std::inner_product(residuals.begin(), residuals.end(), residuals.begin(), 0.0);
}

// The step that the damped linear problem asks for, in scales of the variables; a variable that is
// held does not move. `held` ones leave the problem, so the others make up for them.
std::vector<double> damped_step(const Fit& fit, const std::vector<bool>& held, double damping) {
  const auto rows = static_cast<Eigen::Index>(fit.residuals.size());
  std::vector<std::size_t> free;
  for (std::size_t k = 0; k < held.size(); ++k) {
    if (!held[k]) { free.push_back(k); }
  }
  std::vector<double> step(held.size(), 0);
  if (free.empty()) { return step; }
  const auto columns = static_cast<Eigen::Index>(free.size());
  Eigen::MatrixXd slopes = Eigen::MatrixXd::Zero(rows + columns, columns);
  Eigen::VectorXd wanted = Eigen::VectorXd::Zero(rows + columns);
  wanted.head(rows) = -Eigen::Map<const Eigen::VectorXd>(fit.residuals.data(), rows);
  for (Eigen::Index c = 0; c < columns; ++c) {
    const Residuals& column = fit.slopes[free[static_cast<std::size_t>(c)]];
    slopes.col(c).head(rows) = Eigen::Map<const Eigen::VectorXd>(column.data(), rows);
    const double length = slopes.col(c).norm();
    slopes(rows + c, c) = std::sqrt(damping) * (length > 0 ? length : 1);
  }
  const Eigen::VectorXd solution = slopes.colPivHouseholderQr().solve(wanted);
  for (Eigen::Index c = 0; c < columns; ++c) {
    step[free[static_cast<std::size_t>(c)]] = solution(c);
  }
  return step;
}

class Search {
 public:
  Search(const std::vector<Variable>& variables, const Evaluate& evaluate,
         const Tolerance& tolerance)
      : variables_(variables), evaluate_(evaluate), tolerance_(tolerance) {}

  Fit run() {
    if (!begin()) { return std::move(fit_); }
    bool settled = false;
    while (take_slopes()) {
      fit_.end = FitEnd::Converged;
      if (settled) { return std::move(fit_); }
      if (fit_.rounds >= tolerance_.rounds) {
        fit_.end = FitEnd::Rounds;
        return std::move(fit_);
      }
      const Point before = fit_.values;
      const double error_before = fit_.sum_of_squares();
      if (!search()) { break; }
      const bool moved = fit_.values != before;
      if (!moved) { return std::move(fit_); }  // the slopes are those of this point
      settled = !is_far(before, fit_.values) ||
                error_before - fit_.sum_of_squares() < tolerance_.gain * error_before;
    }
    fit_.end = FitEnd::Stopped;
    return std::move(fit_);
  }

 private:
  struct Probe {
    Point point;
    std::optional<Residuals> residuals;
  };

  bool begin() {
    for (const Variable& v : variables_) { fit_.values.push_back(v.start); }
    fit_.walled.assign(variables_.size(), false);
    fit_.at_bound.assign(variables_.size(), false);
    const auto answer = evaluate_({fit_.values}, 0);
    fit_.end = answer ? FitEnd::NoStart : FitEnd::Stopped;
    if (!answer || !answer->front()) { return false; }
    fit_.residuals = *answer->front();
    return true;
  }

  // False: stopped.
  bool take_slopes() {
    fit_.slopes.clear();
    ++fit_.rounds;
    Points points;
    for (std::size_t k = 0; k < variables_.size(); ++k) {
      const auto [below, above] = neighbours(variables_[k], fit_.values[k]);
      for (const double value : {below, above}) {
        points.push_back(fit_.values);
        points.back()[k] = value;
      }
    }
    const auto answer = evaluate_(points, fit_.rounds);
    if (!answer) { return false; }
    probes_.clear();
    for (std::size_t i = 0; i < points.size(); ++i) {
      probes_.push_back({std::move(points[i]), (*answer)[i]});
    }
    for (std::size_t k = 0; k < variables_.size(); ++k) { fit_.slopes.push_back(slope(k)); }
    mark_bounds();
    return true;
  }

  // Between the two probes, or between one of them and the present point where the other has no
  // residuals.
  Residuals slope(std::size_t k) {
    const Probe present{fit_.values, fit_.residuals};
    const Probe& below = probes_[2 * k].residuals ? probes_[2 * k] : present;
    const Probe& above = probes_[2 * k + 1].residuals ? probes_[2 * k + 1] : present;
    const double distance = (above.point[k] - below.point[k]) / variables_[k].scale();
    fit_.walled[k] = !(distance > 0);
    Residuals column(fit_.residuals.size(), 0);
    for (std::size_t i = 0; i < column.size() && distance > 0; ++i) {
      column[i] = ((*above.residuals)[i] - (*below.residuals)[i]) / distance;
    }
    return column;
  }

  void mark_bounds() {
    for (std::size_t k = 0; k < variables_.size(); ++k) {
      const double uphill = std::inner_product(fit_.slopes[k].begin(), fit_.slopes[k].end(),
                                               fit_.residuals.begin(), 0.0);
      fit_.at_bound[k] = (fit_.values[k] <= variables_[k].low && uphill > 0) ||
                         (fit_.values[k] >= variables_[k].high && uphill < 0);
    }
  }

  // Goes to a better point where there is one. False: stopped.
  bool search() {
    for (; damping_ <= kMostDamping; damping_ *= kDampingFactor) {
      const Point trial = stepped(damped_step(fit_, fit_.at_bound, damping_));
      if (trial == fit_.values) { break; }
      const auto answer = evaluate_({trial}, fit_.rounds);
      if (!answer) { return false; }
      if (go_to({trial, answer->front()})) {
        damping_ = std::max(damping_ / kDampingFactor, kLeastDamping);
        return true;
      }
      if (!is_far(fit_.values, trial)) { break; }
    }
    damping_ = kFirstDamping;
    const auto error = [](const Probe& p) {
      return p.residuals ? sum_of_squares_of(*p.residuals) : HUGE_VAL;
    };
    go_to(*std::min_element(probes_.begin(), probes_.end(),
                            [&](const Probe& a, const Probe& b) { return error(a) < error(b); }));
    return true;
  }

  // If it has less error.
  bool go_to(const Probe& probe) {
    if (!probe.residuals || !(sum_of_squares_of(*probe.residuals) < fit_.sum_of_squares())) {
      return false;
    }
    fit_.values = probe.point;
    fit_.residuals = *probe.residuals;
    return true;
  }

  Point stepped(const std::vector<double>& step) const {
    Point point = fit_.values;
    for (std::size_t k = 0; k < point.size(); ++k) {
      point[k] = variables_[k].nearest(point[k] + step[k] * variables_[k].scale());
    }
    return point;
  }

  bool is_far(const Point& a, const Point& b) const {
    for (std::size_t k = 0; k < a.size(); ++k) {
      if (std::abs(a[k] - b[k]) > tolerance_.step * variables_[k].scale()) { return true; }
    }
    return false;
  }

  const std::vector<Variable>& variables_;
  const Evaluate& evaluate_;
  const Tolerance& tolerance_;
  Fit fit_;
  std::vector<Probe> probes_;  // two for every variable: below and above the present values
  double damping_ = kFirstDamping;
};

}  // namespace

double Variable::scale() const { return start != 0 ? std::abs(start) : high - low; }

double Variable::nearest(double value) const {
  if (value <= low) { return low; }
  if (value >= high) { return high; }
  if (grid <= 0) { return value; }
  if (std::abs(value - start) < grid / 2) { return start; }
  return std::clamp(std::round(value / grid) * grid, low, high);
}

double Fit::sum_of_squares() const { return sum_of_squares_of(residuals); }

std::pair<double, double> neighbours(const Variable& v, double value) {
  const double step = std::max(kSlopeStep * (value != 0 ? std::abs(value) : v.scale()), v.grid);
  return {v.nearest(value - step), v.nearest(value + step)};
}

Fit least_squares(const std::vector<Variable>& variables, const Evaluate& evaluate,
                  const Tolerance& tolerance) {
  return Search(variables, evaluate, tolerance).run();
}

}  // namespace wavetail::study
