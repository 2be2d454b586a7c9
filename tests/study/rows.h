// SPDX-License-Identifier: Apache-2.0
// Rows of measurements for tests: made from their parts, simulated and predicted with the shipped
// GPU files.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "run/simulate.h"
#include "study/protocol.h"
#include "study/validate.h"

namespace wavetail::study {

inline Measurement row(const std::string& gpu, const std::string& kind, const std::string& params,
                       const std::string& metric, const std::string& unit,
                       const std::string& notes = "") {
  const std::string text =
      "id,gpu,kind,params,metric,value,unit,lo,hi,source,confidence,notes\n"
      "T-1," +
      gpu + "," + kind + ",\"" + params + "\"," + metric + ",," + unit + ",,,,," + notes + "\n";
  config::Diagnostics diagnostics;
  const auto source = std::make_shared<const config::Source>(config::Source{"rows.csv", text});
  return read_measurements(source, diagnostics).at(0);
}

inline scenario::LoadOptions shipped() {
  return {.sets = {}, .gpu = {}, .folders = {std::string(WAVETAIL_SOURCE_DIR) + "/configs/gpu"}};
}

// With settings as on the command line ("gpu.hbm.bandwidth=x2").
inline gpu::GpuSpec shipped_gpu(const std::string& name, std::vector<std::string> sets = {}) {
  config::Diagnostics diagnostics;
  scenario::LoadOptions options = shipped();
  options.sets = std::move(sets);
  auto spec = scenario::load_gpu(
      std::string(WAVETAIL_SOURCE_DIR) + "/configs/gpu/" + name + ".yaml", options, diagnostics);
  EXPECT_TRUE(spec) << diagnostics.render();
  return *spec;
}

// A row's plan and what happened in its run.
struct Ran {
  Plan plan;
  run::Happened happened;

  [[nodiscard]] const result::Counters& counters(std::size_t kernel) const {
    return happened.kernels[kernel].counters;
  }

  [[nodiscard]] const result::Counters& counters() const {
    return happened.kernels.back().counters;
  }

  [[nodiscard]] std::int64_t grid() const {
    return kernel::volume(plan.scenario.kernels.all().back().grid);
  }

  [[nodiscard]] std::int64_t launches() const { return happened.kernels.back().launches; }

  [[nodiscard]] double figure(const std::string& unit) const {
    return in_unit(plan.figure(happened), plan.quantity, unit, plan.scenario.gpu.sm_clock(),
                   plan.sms);
  }
};

inline Ran ran(const Measurement& row, const gpu::GpuSpec& gpu) {
  Ran r{plan_of(row, gpu), {}};
  r.happened = run::simulate(
      r.plan.scenario, [](std::int64_t, result::Outcome&) { return std::optional<std::string>(); });
  EXPECT_EQ(r.happened.outcome, result::Outcome::Complete) << r.happened.message;
  return r;
}

inline Ran ran(const std::string& gpu, const std::string& kind, const std::string& params,
               const std::string& metric, const std::string& unit, const std::string& notes = "") {
  return ran(row(gpu, kind, params, metric, unit, notes), shipped_gpu(gpu));
}

inline Validation predict(const std::vector<Measurement>& rows, int jobs = 1) {
  config::Diagnostics diagnostics;
  return validate(rows, {.load = shipped(), .control = {.budget = {}, .jobs = jobs}}, diagnostics);
}

}  // namespace wavetail::study
