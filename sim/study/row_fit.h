// SPDX-License-Identifier: Apache-2.0
// A fit to some of the rows: the residual of a row is the relative error of its prediction,
// (predicted - measured) / |measured|, and a point of the fit is a list of settings of the GPU.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "study/fit.h"
#include "study/parameter.h"
#include "study/predictor.h"

namespace wavetail::study {

class RowFit {
 public:
  using Tell = std::function<void(std::string_view step, std::size_t done, std::size_t total)>;

  RowFit(std::vector<Parameter> parameters, Predictor& predictor, Tell tell);

  // From the parameters' starts; `name` stands in front of every step that is told.
  [[nodiscard]] Fit to(const std::vector<std::size_t>& which, const std::string& name = "");

  // What is set at a point.
  [[nodiscard]] Settings settings(const Point& point) const;

  // Predicts rows at one point; false where the budget ended or the user interrupted.
  [[nodiscard]] bool predict(const Point& point, const std::vector<std::size_t>& which,
                             const std::string& step);

  [[nodiscard]] const std::vector<Parameter>& parameters() const { return parameters_; }

  [[nodiscard]] const std::vector<Variable>& variables() const { return variables_; }

  [[nodiscard]] Point start() const;

  [[nodiscard]] Predictor& predictor() { return predictor_; }

 private:
  [[nodiscard]] Progress progress(const std::string& step) const;

  std::vector<Parameter> parameters_;
  std::vector<Variable> variables_;  // of the parameters
  Predictor& predictor_;
  Tell tell_;
};

}  // namespace wavetail::study
