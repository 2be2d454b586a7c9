// SPDX-License-Identifier: Apache-2.0
// Standard errors against textbook formulas and against many fits to noise; what residuals do not
// tell.
#include "study/uncertainty.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <random>

namespace wavetail::study {
namespace {

using testing::ElementsAre;

using Function = std::function<Residuals(const Point&)>;

constexpr Tolerance kFine{.step = 1e-9, .gain = 1e-12, .rounds = 200};

Fit fitted(const std::vector<Variable>& variables, const Function& f) {
  return least_squares(
      variables,
      [&](const Points& points, int) {
        std::vector<std::optional<Residuals>> all;
        for (const Point& p : points) { all.emplace_back(f(p)); }
        return std::optional(all);
      },
      kFine);
}

Function line_through(const std::vector<double>& y) {
  return [y](const Point& p) {
    Residuals r;
    for (std::size_t i = 0; i < y.size(); ++i) {
      r.push_back(p[0] + p[1] * static_cast<double>(i) - y[i]);
    }
    return r;
  };
}

TEST(Uncertainty, OfAStraightLineIsTheTextbooks) {
  const std::vector<Variable> variables = {{1, -100, 100}, {1, -100, 100}};
  const Fit fit = fitted(variables, line_through({1.1, 2.7, 5.2, 6.9, 9.3}));
  const Uncertainty u = uncertainty_of(variables, fit);
  const double s = std::sqrt(fit.sum_of_squares() / 3);  // 5 points, 2 values
  EXPECT_NEAR(*u.residual, s, 1e-9);
  EXPECT_NEAR(*u.variables[1].standard_error, s / std::sqrt(10.0), 1e-6);
  EXPECT_NEAR(*u.variables[0].standard_error, s * std::sqrt(1.0 / 5 + 4.0 / 10), 1e-6);
  EXPECT_NEAR(*u.correlation[0][1], -2 / std::sqrt(6.0), 1e-6);  // -mean / sqrt(sum of i^2 / n)
  EXPECT_EQ(*u.correlation[0][0], 1);
}

// Among many fits to the same line with other noise, about 95 % are within two standard errors.
TEST(Uncertainty, CoversTheTruthAsOftenAsItSays) {
  std::mt19937 bits(7);
  const auto noise = [&] {  // sum of twelve uniform numbers: near a normal distribution
    double sum = -6;
    for (int i = 0; i < 12; ++i) { sum += static_cast<double>(bits()) / 4294967296.0; }
    return 0.3 * sum;
  };
  const std::vector<Variable> variables = {{1, -100, 100}, {1, -100, 100}};
  int covered = 0;
  constexpr int kFits = 500;
  for (int n = 0; n < kFits; ++n) {
    std::vector<double> y;
    for (int i = 0; i < 30; ++i) { y.push_back(2 + 0.5 * i + noise()); }
    const Fit fit = fitted(variables, line_through(y));
    const Uncertainty u = uncertainty_of(variables, fit);
    covered += std::abs(fit.values[1] - 0.5) < 2 * *u.variables[1].standard_error ? 1 : 0;
  }
  EXPECT_GT(covered, kFits * 92 / 100);
  EXPECT_LT(covered, kFits * 98 / 100);
}

TEST(Uncertainty, NamesWhatNobodyFeelsAndWhatOnlyAProductSays) {
  const std::vector<Variable> variables = {{2, 1, 9}, {3, 1, 9}, {5, 1, 9}, {4, 1, 9}};
  const Fit fit = fitted(variables, [](const Point& p) {
    Residuals r;
    for (int i = 1; i < 7; ++i) {
      r.push_back(p[0] * p[1] / i + p[3] * i - 12.0 / i - 3.0 * i + 0.01 * (i % 3));
    }
    return r;
  });
  const Uncertainty u = uncertainty_of(variables, fit);
  EXPECT_EQ(u.variables[0].told, Told::WithOthers);
  EXPECT_THAT(u.variables[0].others, ElementsAre(1U));
  EXPECT_EQ(u.variables[1].told, Told::WithOthers);
  EXPECT_THAT(u.variables[1].others, ElementsAre(0U));
  EXPECT_EQ(u.variables[2].told, Told::Unfelt);
  EXPECT_EQ(fit.values[2], 5);
  EXPECT_EQ(u.variables[3].told, Told::Yes);
  EXPECT_FALSE(u.variables[0].standard_error);
  EXPECT_TRUE(u.variables[3].standard_error);
  EXPECT_FALSE(u.correlation[0][3]);
  EXPECT_NEAR(fit.values[0] * fit.values[1], 12, 0.1);
  EXPECT_NEAR(fit.values[3], 3, 0.1);
}

TEST(Uncertainty, AValueAtABoundHasNone) {
  const std::vector<Variable> variables = {{1, 0, 3}, {5, 0, 9}};
  const Fit fit = fitted(variables, [](const Point& p) {
    return Residuals{2 * (p[1] - 1), p[0] + p[1] - 5, p[0] - 4.2};
  });
  const Uncertainty u = uncertainty_of(variables, fit);
  EXPECT_EQ(u.variables[0].told, Told::AtBound);
  EXPECT_FALSE(u.variables[0].standard_error);
  EXPECT_EQ(u.variables[1].told, Told::Yes);
  EXPECT_NEAR(*u.variables[1].standard_error, *u.residual / std::sqrt(5.0), 1e-6);
}

TEST(Uncertainty, AsManyResidualsAsValuesSayNothingOfErrors) {
  const std::vector<Variable> variables = {{1, -9, 9}, {1, -9, 9}};
  const Fit fit = fitted(variables, line_through({2, 3}));
  const Uncertainty u = uncertainty_of(variables, fit);
  EXPECT_FALSE(u.residual);
  EXPECT_EQ(u.variables[0].told, Told::Yes);
  EXPECT_FALSE(u.variables[0].standard_error);
}

}  // namespace
}  // namespace wavetail::study
