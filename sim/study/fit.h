// SPDX-License-Identifier: Apache-2.0
// Least squares within bounds: the values of some variables at which the sum of squared residuals
// is least, by Levenberg-Marquardt. Nothing here knows what a residual is a residual of.
//
// The function may be a simulation: it jumps a little where one event overtakes another, and some
// variables take whole numbers only. Slopes are therefore taken over wide steps, to both sides of a
// value (kSlopeStep of it, one step of its grid at least), and a point of those that is better than
// any step along the slopes is gone to.
//
//   const auto fit = least_squares({{.start = 1, .low = 0, .high = 9}}, [&](const Points& points,
//   int) { ... residuals of every point ... });
#pragma once

#include <functional>
#include <optional>
#include <vector>

namespace wavetail::study {

// Share of a value by which it is moved to either side for its slope.
inline constexpr double kSlopeStep = 0.04;

struct Variable {
  double start = 0, low = 0, high = 0;
  double grid = 0;  // values are multiples of it, but for the three above; 0: any value

  // What changes are relative to: the start, or the distance of the bounds where that is 0.
  [[nodiscard]] double scale() const;
  // The nearest value that can be taken.
  [[nodiscard]] double nearest(double value) const;
};

using Point = std::vector<double>;  // a value for every variable
using Points = std::vector<Point>;
using Residuals = std::vector<double>;

// The residuals of every point, nothing for a point that has none. No answer at all: give up.
// `round` counts the slopes taken so far; 0 is the start.
using Evaluate = std::function<std::optional<std::vector<std::optional<Residuals>>>(
    const Points& points, int round)>;

// When a fit has arrived.
struct Tolerance {
  double step = 1e-3;  // of the scale: no variable moves further any more
  double gain = 1e-4;  // of the sum of squares: a step gains less
  int rounds = 50;
};

enum class FitEnd { Converged, Rounds, Stopped, NoStart };

struct Fit {
  FitEnd end = FitEnd::NoStart;
  Point values;         // the best so far; the start where nothing is known
  Residuals residuals;  // there; empty without them
  // By variable: the change of every residual per change of the variable by its scale. Taken at
  // `values`; empty where the fit was stopped before they were known.
  std::vector<Residuals> slopes;
  // By variable: neither neighbour has residuals, so the slope is taken as 0.
  std::vector<bool> walled;
  // By variable: at a bound, and less error lies beyond it.
  std::vector<bool> at_bound;
  int rounds = 0;  // slopes taken

  [[nodiscard]] double sum_of_squares() const;
};

// The two points beside `value` between which the slope is taken; one of them is `value` itself at
// a bound.
[[nodiscard]] std::pair<double, double> neighbours(const Variable& variable, double value);

[[nodiscard]] Fit least_squares(const std::vector<Variable>& variables, const Evaluate& evaluate,
                                const Tolerance& tolerance = {});

}  // namespace wavetail::study
