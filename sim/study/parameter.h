// SPDX-License-Identifier: Apache-2.0
// The values of a GPU file that a calibration moves, as `--fit` names them: a path as `--set` takes
// it, with where to begin and how far to go.
//
//   --fit gpu.hbm.efficiency                    from the file's value, within its range
//   --fit gpu.hbm.efficiency=70%:99%            within these bounds
//   --fit gpu.hbm.efficiency=70%:85%:99%        and from here
//   --fit gpu.hbm.efficiency=85%,hbm.latency    two of them; `gpu.` may be left out
#pragma once

#include <string>
#include <vector>

#include "config/diagnostics.h"
#include "gpu/reader.h"
#include "study/fit.h"
#include "unit/parse.h"

namespace wavetail::study {

// Without bounds and without a range in the file, a value may go from 1/kBoundFactor to
// kBoundFactor times where it starts.
inline constexpr double kBoundFactor = 2;

struct Parameter {
  std::string path;     // "gpu.hbm.efficiency"
  std::string unit;     // of the numbers below, as the file writes the value: "%"; empty: none
  int places = 0;       // behind the point
  std::string start;    // as written: "82 %"
  Variable variable;    // in `unit`
  config::Place place;  // in --fit

  // "83.1 %": a value as a GPU file writes it, in four significant digits of the start.
  [[nodiscard]] std::string text(double value) const;
  // "gpu.hbm.efficiency=83.1 %"
  [[nodiscard]] std::string setting(double value) const;
};

// `words`: what --fit was given. `plain` is the GPU's document as it is (for ranges), `set` with
// the user's settings (for starts); both can be read. Mistakes are reported.
[[nodiscard]] std::vector<Parameter> read_parameters(const std::vector<std::string>& words,
                                                     const gpu::Document& plain,
                                                     const gpu::Document& set,
                                                     config::Diagnostics& diagnostics);

}  // namespace wavetail::study
