// SPDX-License-Identifier: Apache-2.0
// How well a fit determines its values: standard errors, correlations, and what the residuals do
// not tell, which is a variable that moves none of them, or several that move them alike. All from
// the slopes at the end, as if the function were linear there and the residuals independent.
#pragma once

#include <optional>
#include <vector>

#include "study/fit.h"

namespace wavetail::study {

// Residuals that move by less than this, per change of a variable by its scale, do not feel it: a
// step of kSlopeStep changes none by more than a ten-thousandth.
inline constexpr double kLeastSlope = 1e-4 / kSlopeStep;
// Combinations that move the residuals by less than this share of what the best-determined one does
// (variables weighted alike) are not told apart. Of two variables: a correlation beyond 0.998.
inline constexpr double kLeastShare = 0.03;

enum class Told {
  Yes,
  Unfelt,     // no residual moves with it
  Walled,     // neither neighbour has residuals
  AtBound,    // held by a bound; it would go on
  WithOthers  // only together with others, see Determined::others
};

struct Determined {
  Told told = Told::Yes;
  std::vector<std::size_t> others;       // WithOthers: those that it is not told apart from
  std::optional<double> standard_error;  // in the variable's own measure
};

struct Uncertainty {
  std::vector<Determined> variables;
  // Of two variables' errors, -1 to 1; nothing where one of them has no standard error.
  std::vector<std::vector<std::optional<double>>> correlation;
  // The standard deviation of a residual; nothing where there are no more residuals than variables.
  std::optional<double> residual;
};

// Of a fit that has its slopes. Variables at a bound are held, the others' errors count as if it
// were known.
[[nodiscard]] Uncertainty uncertainty_of(const std::vector<Variable>& variables, const Fit& fit);

}  // namespace wavetail::study
