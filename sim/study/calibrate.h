// SPDX-License-Identifier: Apache-2.0
// Fits values of a GPU file to the measured rows of that GPU: least squares over the relative
// errors of predictions, each of which is a simulation. Data flow: rows of the GPU and --fit
// (parameters)
// -> points (values of the parameters) -> predictions -> least_squares -> uncertainty, and the same
// again with every set left out.
//
//   config::Diagnostics diagnostics;
//   const auto c = study::calibrate(rows, {.load = {.gpu = "h200-sxm", .folders = ...},
//                                          .file = "rows.csv", .fit = {"gpu.hbm.efficiency"}},
//                                   diagnostics);
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/variant.h"
#include "run/run.h"
#include "scenario/load.h"
#include "study/calibration.h"
#include "study/measurement.h"

namespace wavetail::study {

struct CalibrateOptions {
  scenario::LoadOptions load;    // `gpu` is needed
  std::string file;              // where the rows come from
  std::vector<std::string> fit;  // as study/parameter.h has it
  std::string rows_of = {};      // the GPU that was measured; empty: `load.gpu`
  // Rows of GPUs take part whose files have this one as their base and leave it the fitted values.
  bool variants = false;
  bool cross_validate = true;
  run::Control control;  // `jobs` threads; the budget serves all simulations together
  // Told after every simulation of a step of the fit, from any thread but one at a time.
  std::function<void(std::string_view step, std::size_t done, std::size_t total)> progress = {};
};

// Mistakes in the options, and rows that cannot be fitted to, are reported; nothing is simulated
// then. A budget that ends or an interrupt leaves the best values so far, and says so in `outcome`.
[[nodiscard]] Calibration calibrate(const std::vector<Measurement>& rows,
                                    const CalibrateOptions& options,
                                    config::Diagnostics& diagnostics);

// The calibrated GPU as a file's text: fitted and set values on top of the GPU that was given.
// Values that the rows do not tell apart or hardly determine, or that stopped at a bound, are
// `assumed`; those that no row has felt stay as they are. Nothing if the GPU's file cannot be read,
// which is reported then.
[[nodiscard]] std::optional<std::string> calibrated_gpu(const Calibration& calibration,
                                                        const CalibrateOptions& options,
                                                        const std::string& name,
                                                        config::Diagnostics& diagnostics);

}  // namespace wavetail::study
