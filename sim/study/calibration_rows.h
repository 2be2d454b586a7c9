// SPDX-License-Identifier: Apache-2.0
// Which rows of a measurement file a calibration of one GPU rests on: those of that GPU that have a
// measured value and can be predicted, and on request those of GPUs that take the fitted values
// from it.
#pragma once

#include <string>
#include <vector>

#include "gpu/reader.h"
#include "study/calibrate.h"
#include "study/parameter.h"
#include "study/predictor.h"

namespace wavetail::study {

struct ChosenRows {
  std::vector<Subject> subjects;
  std::vector<OtherRow> others;  // of the GPU, with the reason why they take no part
  std::int64_t of_other_gpus = 0;
  std::int64_t of_variants = 0;  // of these: rows that options.variants would take in
};

// `gpu`: the document of options.load.gpu, which can be read with the settings of options.
[[nodiscard]] ChosenRows choose_rows(const std::vector<Measurement>& rows,
                                     const CalibrateOptions& options, const gpu::Document& gpu,
                                     const std::vector<Parameter>& parameters);

}  // namespace wavetail::study
