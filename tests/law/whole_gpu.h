// SPDX-License-Identifier: Apache-2.0
// The laws on random kernels of a whole H100, launched again and again, as the product's own
// entrance reports them.
#pragma once

#include <string>

#include "law/reported_laws.h"
#include "run/run.h"
#include "support/random_scenario.h"

namespace wavetail::tests {

inline void expect_laws_on_whole_gpu(std::uint64_t first, std::uint64_t last) {
  for (std::uint64_t seed = first; seed <= last && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    scenario::Study study;
    study.base = random_scenario(seed, {.most_events = 100'000, .gpu = GpuKind::Whole});
    expect_laws(run::run_study(study, {}), study.base);
  }
}

}  // namespace wavetail::tests
