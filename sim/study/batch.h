// SPDX-License-Identifier: Apache-2.0
// Rows to predict in one go: each row's plan is made on its GPU, identical simulations are run
// once, the others on several threads, and each row's figure is taken from its run.
//
//   Pool pool(control);
//   Batch batch;
//   for (const Measurement& row : rows) { batch.add(row, shelf); }
//   batch.run(pool);
//   batch.rows()[0].predicted
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "run/budget.h"
#include "run/run.h"
#include "run/simulate.h"
#include "study/gpus.h"
#include "study/protocol.h"
#include "study/validation.h"

namespace wavetail::study {

// Told after every simulation, from any thread but one at a time.
using Progress = std::function<void(std::size_t done, std::size_t total)>;

// What came out of one simulation; one that was not run says why in `refused`.
struct Simulated {
  run::Happened happened;
  std::string refused;
};

// Runs simulations on several threads. One budget and one interrupt serve all that a pool runs.
class Pool {
 public:
  explicit Pool(const run::Control& control);

  // As `scenarios`. A budget that ends or an interrupt leaves the rest without a complete outcome.
  [[nodiscard]] std::vector<Simulated> run(const std::vector<const scenario::Scenario*>& scenarios,
                                           const Progress& progress = {});

 private:
  [[nodiscard]] Simulated one(const scenario::Scenario& scenario);

  run::Control control_, unlimited_;
  run::Watch watch_, judge_;
};

class Batch {
 public:
  // A row that cannot be planned is skipped, with the reason.
  void add(const Measurement& row, GpuShelf& shelf);

  // Predicts what has been added, once.
  void run(Pool& pool, const Progress& progress = {});

  // As added.
  [[nodiscard]] const std::vector<RowResult>& rows() const { return rows_; }

  // Different simulations, their events, and how they ended: the worst of them.
  [[nodiscard]] std::int64_t simulations() const { return simulations_; }

  [[nodiscard]] std::int64_t events() const { return events_; }

  [[nodiscard]] result::Outcome outcome() const { return outcome_; }

  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  void take_outcome(const run::Happened& happened);

  std::vector<RowResult> rows_;
  std::vector<std::optional<Plan>> plans_;  // as rows_
  std::int64_t simulations_ = 0, events_ = 0;
  result::Outcome outcome_ = result::Outcome::Complete;
  std::string message_;
};

}  // namespace wavetail::study
