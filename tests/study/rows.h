// SPDX-License-Identifier: Apache-2.0
// Rows of measurements for tests: made from their parts, predicted with the shipped GPU files.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "study/validate.h"

namespace wavetail::study {

inline Measurement row(const std::string& gpu, const std::string& kind, const std::string& params,
                       const std::string& metric, const std::string& unit) {
  const std::string text =
      "id,gpu,kind,params,metric,value,unit,lo,hi,source,confidence,notes\n"
      "T-1," +
      gpu + "," + kind + ",\"" + params + "\"," + metric + ",," + unit + ",,,,,\n";
  config::Diagnostics diagnostics;
  const auto source = std::make_shared<const config::Source>(config::Source{"rows.csv", text});
  return read_measurements(source, diagnostics).at(0);
}

inline scenario::LoadOptions shipped() {
  return {.sets = {}, .gpu = {}, .folders = {std::string(WAVETAIL_SOURCE_DIR) + "/configs/gpu"}};
}

inline gpu::GpuSpec shipped_gpu(const std::string& name) {
  config::Diagnostics diagnostics;
  auto spec = scenario::load_gpu(
      std::string(WAVETAIL_SOURCE_DIR) + "/configs/gpu/" + name + ".yaml", shipped(), diagnostics);
  return *spec;
}

inline Validation predict(const std::vector<Measurement>& rows, int jobs = 1) {
  config::Diagnostics diagnostics;
  return validate(rows, {.load = shipped(), .control = {.budget = {}, .jobs = jobs}}, diagnostics);
}

}  // namespace wavetail::study
