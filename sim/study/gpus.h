// SPDX-License-Identifier: Apache-2.0
// The GPUs that rows name: each is looked for among the GPU files by name or alias and read once,
// and every row gets it at the clock that the row states, or at its boost clock.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "gpu/catalog.h"
#include "scenario/load.h"
#include "study/measurement.h"

namespace wavetail::study {

class GpuShelf {
 public:
  // `options.gpu` stands for the GPU of every row; `options.sets` hold for all. Mistakes in either,
  // or in a GPU file, are reported.
  GpuShelf(scenario::LoadOptions options, config::Diagnostics& diagnostics);

  // A GPU that has been read stands for that of every row; `clock_is_set`: at its own clock.
  GpuShelf(gpu::GpuSpec chosen, bool clock_is_set, config::Diagnostics& diagnostics);

  // The row's GPU at the row's clock; Unmapped, with the nearest names, where there is no file of
  // that name or the clock is no clock.
  [[nodiscard]] gpu::GpuSpec for_row(const Measurement& row);

 private:
  [[nodiscard]] const gpu::GpuSpec& named(const std::string& name);
  [[nodiscard]] std::optional<gpu::GpuSpec> read(const std::string& file);

  scenario::LoadOptions options_;
  config::Diagnostics& diagnostics_;
  gpu::Catalog catalog_;
  std::map<std::string, std::optional<gpu::GpuSpec>> known_;
  std::optional<gpu::GpuSpec> chosen_;
  bool clock_is_set_ = false;
};

// Whether settings say at which clock the SMs run, so that rows do not.
[[nodiscard]] bool set_the_clock(const std::vector<std::string>& sets);

// The SM clock that a row states: `clock_mhz` of its parameters, or "... 1755MHz" in its GPU.
[[nodiscard]] std::optional<unit::Hertz> stated_clock(const Measurement& row);

}  // namespace wavetail::study
