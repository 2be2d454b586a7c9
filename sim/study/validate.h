// SPDX-License-Identifier: Apache-2.0
// Predicts every row of a measurement file: each row's plan is made, identical simulations are run
// once, the others on several threads, and each row's figure is taken from its run.
//
//   config::Diagnostics diagnostics;
//   const auto rows = study::load_measurements("rows.csv", diagnostics);
//   const auto v = study::validate(rows, {.load = {.folders = gpu::default_folders()}},
//                                  diagnostics);
#pragma once

#include <vector>

#include "run/run.h"
#include "scenario/load.h"
#include "study/batch.h"
#include "study/validation.h"

namespace wavetail::study {

struct ValidateOptions {
  scenario::LoadOptions load;  // `gpu`: in place of every row's own
  run::Control control;        // `jobs` threads; the budget serves all rows together
  Progress progress = {};
};

// A row that cannot be predicted comes back with the reason. A budget that ends or an interrupt
// leaves the rows that are not simulated yet skipped, and says so in `outcome`. Mistakes in --gpu,
// --set or a GPU file are reported; nothing is simulated then.
[[nodiscard]] Validation validate(const std::vector<Measurement>& rows,
                                  const ValidateOptions& options, config::Diagnostics& diagnostics);

}  // namespace wavetail::study
