// SPDX-License-Identifier: Apache-2.0
// Predictions of rows while values of their GPUs change. A point is a list of settings,
// "gpu.hbm.efficiency=83 %"; what has been predicted at a point is kept, so the same point with
// fewer rows, or asked for again, costs nothing.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "study/batch.h"

namespace wavetail::study {

using Settings = std::vector<std::string>;

// A row, and the GPU that it is predicted on: a name or a file, as --gpu takes it.
struct Subject {
  Measurement row;
  std::string gpu;
};

// Predictions of some rows at one point, in the rows' units; or why one of them has none there.
struct Answer {
  std::vector<double> predicted;
  std::string refused;
};

class Predictor {
 public:
  // `load`: folders, and settings below those of the points. The GPUs can be read with them.
  Predictor(std::vector<Subject> subjects, const scenario::LoadOptions& load,
            const run::Control& control);

  // Of the subjects in `which`, at every point; all that is new is simulated in one go. Nothing
  // where the budget ended or the user interrupted: outcome() says which.
  [[nodiscard]] std::optional<std::vector<Answer>> at(const std::vector<Settings>& points,
                                                      const std::vector<std::size_t>& which,
                                                      const Progress& progress);

  // Of one subject at a point that has been asked for: with the GPU's name and clock, and why there
  // is no prediction.
  [[nodiscard]] RowResult result(const Settings& point, std::size_t subject) const;

  // Why a GPU cannot have these values, or nothing.
  [[nodiscard]] std::optional<std::string> mistake(const Settings& point) const;

  [[nodiscard]] const std::vector<Subject>& subjects() const { return subjects_; }

  // The last that was not complete; after a hang, which costs one row its prediction, it goes on.
  [[nodiscard]] result::Outcome outcome() const { return outcome_; }

  [[nodiscard]] const std::string& message() const { return message_; }

  [[nodiscard]] std::int64_t simulations() const { return simulations_; }

  [[nodiscard]] std::int64_t events() const { return events_; }

 private:
  // Of one point.
  struct Known {
    std::string refused;  // the GPU cannot have these values
    std::map<std::size_t, RowResult> rows;
  };

  [[nodiscard]] std::optional<gpu::GpuSpec> gpu_at(const gpu::Document& document,
                                                   const Settings& point,
                                                   config::Diagnostics& diagnostics) const;
  void plan(const Settings& point, const std::vector<std::size_t>& which, Batch& batch,
            std::vector<std::pair<Known*, std::size_t>>& wanted);
  [[nodiscard]] Answer answer(const Settings& point, const std::vector<std::size_t>& which) const;

  std::vector<Subject> subjects_;
  std::map<std::string, gpu::Document> gpus_;  // of the subjects, with the settings of all points
  bool clock_is_set_;
  Pool pool_;
  std::map<Settings, Known> known_;
  std::int64_t simulations_ = 0, events_ = 0;
  result::Outcome outcome_ = result::Outcome::Complete;
  std::string message_;
};

}  // namespace wavetail::study
