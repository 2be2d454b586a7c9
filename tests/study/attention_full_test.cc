// SPDX-License-Identifier: Apache-2.0
// Attention operations that are simulated in parts against the same simulated whole.
#include "study/protocols/attention.h"

#include <gtest/gtest.h>

#include <optional>
#include <ostream>
#include <string>

#include "gpu/catalog.h"
#include "run/simulate.h"

namespace wavetail::study {

// In the names of tests; GoogleTest would print its bytes.
void PrintTo(const Attention& a, std::ostream* to) {
  *to << (a.decode ? "decode " : "prefill ") << a.batch << " x " << a.length;
}

namespace {

gpu::GpuSpec shipped(const std::string& name) {
  const std::string configs = std::string(WAVETAIL_SOURCE_DIR) + "/configs/gpu";
  config::Diagnostics diagnostics;
  const auto document = gpu::Catalog({configs}).load(name, configs, {}, diagnostics);
  return *gpu::read_gpu(*document, diagnostics);
}

double seconds(const Attention& a, const gpu::GpuSpec& gpu, double most_steps) {
  const Plan plan = attention_plan(a, gpu, most_steps);
  const run::Stop never = [](std::int64_t, result::Outcome&) -> std::optional<std::string> {
    return std::nullopt;
  };
  return plan.figure(run::simulate(plan.scenario, never));
}

class InParts : public testing::TestWithParam<Attention> {};

TEST_P(InParts, TakesAsLongAsTheWhole) {
  gpu::GpuSpec gpu = shipped("h100-sxm");
  gpu.clock
      .mode = gpu::ClockMode::Spec;  // a clock that follows power follows the run's length, too
  // docs/deviations.md, attention-parts: tiles of a few prompts are told too long.
  const bool known_miss = GetParam().batch == 4;
  EXPECT_NEAR(seconds(GetParam(), gpu, kMostSteps) / seconds(GetParam(), gpu, 1e9), 1,
              known_miss ? 0.12 : 0.04);
}

INSTANTIATE_TEST_SUITE_P(
    Attention, InParts,
    testing::Values(
        Attention{.batch = 4, .q_heads = 16, .kv_heads = 16, .length = 2048},
        Attention{.batch = 2, .q_heads = 32, .kv_heads = 4, .dim = 64, .dim_v = 64, .length = 3072},
        Attention{.batch = 256, .q_heads = 8, .kv_heads = 8, .length = 256},
        Attention{.decode = true, .batch = 16, .q_heads = 32, .kv_heads = 8, .length = 16384},
        Attention{.decode = true, .batch = 512, .q_heads = 8, .kv_heads = 4, .length = 1024}));

}  // namespace
}  // namespace wavetail::study
