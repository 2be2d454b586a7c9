// SPDX-License-Identifier: Apache-2.0
// The fit alone, on functions whose least squares are known in closed form or by trying everything.
#include "study/fit.h"

#include <gtest/gtest.h>

#include <cmath>

namespace wavetail::study {
namespace {

using Function = std::function<std::optional<Residuals>(const Point&)>;

constexpr Tolerance kFine{.step = 1e-9, .gain = 1e-12, .rounds = 200};

// Residuals of every point, one by one.
Evaluate each(Function f) {
  return [f](const Points& points, int) {
    std::vector<std::optional<Residuals>> all;
    for (const Point& p : points) { all.push_back(f(p)); }
    return std::optional(all);
  };
}

TEST(Fit, StraightLineIsThatOfTheNormalEquations) {
  const std::vector<double> y = {1.1, 2.7, 5.2, 6.9, 9.3};
  const Fit fit = least_squares({{1, -100, 100}, {1, -100, 100}}, each([&](const Point& p) {
                                  Residuals r;
                                  for (std::size_t i = 0; i < y.size(); ++i) {
                                    r.push_back(p[0] + p[1] * static_cast<double>(i) - y[i]);
                                  }
                                  return r;
                                }),
                                kFine);
  EXPECT_EQ(fit.end, FitEnd::Converged);
  // sums by hand: mean of y 5.04, slope sum((i - 2) (y - mean)) / 10 = 20.6 / 10
  EXPECT_NEAR(fit.values[1], 2.06, 1e-6);
  EXPECT_NEAR(fit.values[0], 5.04 - 2 * 2.06, 1e-6);
}

TEST(Fit, ExponentialIsFoundFromFarAway) {
  const Fit fit = least_squares(
      {{1, 0.1, 50}, {10, 0.5, 100}}, each([](const Point& p) {
        Residuals r;
        for (int t = 0; t < 12; ++t) {
          r.push_back(p[0] * std::exp(-t / p[1]) - 7 * std::exp(-t / 3.0));
        }
        return r;
      }),
      kFine);
  EXPECT_NEAR(fit.values[0], 7, 1e-5);
  EXPECT_NEAR(fit.values[1], 3, 1e-5);
}

TEST(Fit, FollowsABentValley) {  // Rosenbrock's
  const Fit fit = least_squares(
      {{-1.2, -5, 5}, {1, -5, 5}},
      each([](const Point& p) { return Residuals{10 * (p[1] - p[0] * p[0]), 1 - p[0]}; }), kFine);
  EXPECT_NEAR(fit.values[0], 1, 1e-6);
  EXPECT_NEAR(fit.values[1], 1, 1e-6);
}

TEST(Fit, StopsAtABoundAndFitsTheOthersThere) {
  // least at (4, 1) without bounds; on the edge x = 3 the least of 4 (y - 1)^2 + (x + y - 5)^2 is
  // at 4 (y - 1) + (y - 2) = 0
  const Fit fit = least_squares(
      {{1, 0, 3}, {5, 0, 9}},
      each([](const Point& p) { return Residuals{2 * (p[1] - 1), p[0] + p[1] - 5}; }), kFine);
  EXPECT_EQ(fit.values[0], 3);
  EXPECT_NEAR(fit.values[1], 1.2, 1e-6);
  EXPECT_TRUE(fit.at_bound[0]);
  EXPECT_FALSE(fit.at_bound[1]);
}

TEST(Fit, WholeNumbersAreTheBestOfAll) {
  const auto residuals = [](const Point& p) {
    return Residuals{p[0] * p[1] - 71, p[0] - 2 * p[1] + 1.3, 0.1 * (p[0] - 8)};
  };
  double best = HUGE_VAL;
  for (double a = 1; a <= 40; ++a) {
    for (double b = 1; b <= 40; ++b) {
      const Residuals r = residuals({a, b});
      best = std::min(best, r[0] * r[0] + r[1] * r[1] + r[2] * r[2]);
    }
  }
  for (const double start : {2.0, 7.0, 20.0, 35.0}) {
    const Fit fit = least_squares({{start, 1, 40, 1}, {start, 1, 40, 1}}, each(residuals));
    EXPECT_EQ(fit.values[0], std::round(fit.values[0]));
    EXPECT_EQ(fit.values[1], std::round(fit.values[1]));
    EXPECT_NEAR(fit.sum_of_squares(), best, 1e-9) << start;
  }
}

TEST(Fit, ValuesStayOnTheirGridButForStartAndBounds) {
  const Variable v{.start = 4.655, .low = 2.321, .high = 9, .grid = 0.01};
  EXPECT_EQ(v.nearest(4.656), 4.655);
  EXPECT_DOUBLE_EQ(v.nearest(5.1234), 5.12);
  EXPECT_EQ(v.nearest(1), 2.321);
  EXPECT_EQ(v.nearest(2.3211), 2.321);
  EXPECT_EQ(v.nearest(99), 9);
}

TEST(Fit, SlopesReachOverSmallJumps) {
  // Steps of 0.5 % of the value, as a simulation has them: a slope at a point would be nothing.
  const auto stepped = [](double x) { return std::floor(x * 200) / 200; };
  const Fit fit = least_squares({{1, 0.2, 5}}, each([&](const Point& p) {
                                  return Residuals{stepped(p[0]) / 2.5 - 1,
                                                   stepped(2 * p[0]) / 5 - 1.01};
                                }));
  EXPECT_NEAR(fit.values[0], 2.512, 0.02);
}

TEST(Fit, GoesAroundPointsWithoutResiduals) {
  // the minimum (2, 2) is reachable only where x <= y
  const Fit fit = least_squares({{1, 0, 9}, {8, 0, 9}},
                                each([](const Point& p) -> std::optional<Residuals> {
                                  if (p[0] > p[1]) { return std::nullopt; }
                                  return Residuals{p[0] - 2, p[1] - 2.1};
                                }),
                                kFine);
  EXPECT_NEAR(fit.values[0], 2, 1e-6);
  EXPECT_NEAR(fit.values[1], 2.1, 1e-6);
}

TEST(Fit, AWalledVariableStaysAndTheOthersGoOn) {
  const Fit fit = least_squares({{4, 1, 9}, {1, 0, 9}},
                                each([](const Point& p) -> std::optional<Residuals> {
                                  if (p[0] != 4) { return std::nullopt; }
                                  return Residuals{p[1] - 3};
                                }),
                                kFine);
  EXPECT_TRUE(fit.walled[0]);
  EXPECT_EQ(fit.values[0], 4);
  EXPECT_NEAR(fit.values[1], 3, 1e-6);
}

TEST(Fit, AStartWithoutResidualsIsNoFit) {
  const Fit fit = least_squares({{4, 1, 9}},
                                each([](const Point&) { return std::optional<Residuals>(); }));
  EXPECT_EQ(fit.end, FitEnd::NoStart);
  EXPECT_EQ(fit.values, Point{4});
  EXPECT_TRUE(fit.residuals.empty());
}

// Whenever it is stopped, what comes back is the best point that was known.
TEST(Fit, StoppedItHasTheBestSoFar) {
  const auto f = [](const Point& p) { return Residuals{p[0] * p[0] - 9, p[1] - p[0]}; };
  const std::vector<Variable> variables = {{1, 0, 9}, {8, 0, 9}};
  double before = HUGE_VAL;
  for (int most = 0; most < 8; ++most) {
    int calls = 0;
    const Evaluate all = each(f);
    const Fit fit = least_squares(
        variables,
        [&](const Points& points,
            int round) -> std::optional<std::vector<std::optional<Residuals>>> {
          if (calls++ == most) { return std::nullopt; }
          return all(points, round);
        },
        kFine);
    ASSERT_EQ(fit.end, FitEnd::Stopped) << most;
    EXPECT_EQ(fit.residuals.empty(), most == 0);
    if (most > 0) {
      EXPECT_EQ(fit.residuals, f(fit.values));
      EXPECT_LE(fit.sum_of_squares(), before);
      before = fit.sum_of_squares();
    }
  }
  EXPECT_LT(before, 10);  // of 113
}

TEST(Fit, GivesUpAfterItsRounds) {
  const Fit fit = least_squares({{-1.2, -5, 5}, {1, -5, 5}}, each([](const Point& p) {
                                  return Residuals{10 * (p[1] - p[0] * p[0]), 1 - p[0]};
                                }),
                                {.step = 1e-9, .gain = 1e-12, .rounds = 3});
  EXPECT_EQ(fit.end, FitEnd::Rounds);
  EXPECT_EQ(fit.rounds, 3);
  EXPECT_LT(fit.sum_of_squares(), 24.2);  // of the start
}

}  // namespace
}  // namespace wavetail::study
