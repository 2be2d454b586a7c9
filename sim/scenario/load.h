// SPDX-License-Identifier: Apache-2.0
// From a scenario file to a Study: the one entrance of everything that runs scenarios.
//
//   config::Diagnostics diagnostics;
//   const auto study = scenario::load_study("workloads/stream.yaml", {.sets =
//   {"gpu.hbm.latency=x1.5"}}, diagnostics); if (!study) { std::cerr << diagnostics.render();
//   return 2; }
#pragma once

#include <atomic>
#include <optional>
#include <string>
#include <vector>

#include "config/diagnostics.h"
#include "gpu/reader.h"
#include "scenario/scenario.h"

namespace wavetail::scenario {

struct LoadOptions {
  std::vector<std::string>
      sets;  // PATH=VALUE, as on the command line; they hold for the variants too
  std::optional<std::string> gpu;    // a name or file in place of the scenario's own
  std::vector<std::string> folders;  // where GPU files are found besides the scenario's folder; see
                                     // gpu::default_folders()
  // Looked at between variants; true: load_study() gives up, with nothing and no diagnostics.
  const std::atomic<bool>* cancelled = nullptr;
};

// The study, or nothing where the file has mistakes: all of them are in `diagnostics` then. A file
// that expects to be refused (`expect: {error: ...}`) comes back with Study::expected_error and no
// diagnostics.
[[nodiscard]] std::optional<Study> load_study(const std::string& path, const LoadOptions& options,
                                              config::Diagnostics& diagnostics);

// The same from text; `name` stands for the file and says what "beside the scenario" means.
[[nodiscard]] std::optional<Study> load_study_text(const std::string& name, std::string text,
                                                   const LoadOptions& options,
                                                   config::Diagnostics& diagnostics);

// The nodes of a GPU as `--gpu NAME|FILE --set ...` describes it. Only what the settings say about
// themselves is checked.
[[nodiscard]] std::optional<gpu::Document> load_gpu_document(const std::string& which,
                                                             const LoadOptions& options,
                                                             config::Diagnostics& diagnostics);

// The GPU that they describe, without a scenario.
[[nodiscard]] std::optional<gpu::GpuSpec> load_gpu(const std::string& which,
                                                   const LoadOptions& options,
                                                   config::Diagnostics& diagnostics);

}  // namespace wavetail::scenario
