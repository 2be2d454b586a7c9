// SPDX-License-Identifier: Apache-2.0
// The laws on a shipped file, as the product's own entrance reports it.
#pragma once

#include "law/reported_laws.h"
#include "law/shipped.h"
#include "run/run.h"

namespace wavetail::tests {

inline void expect_laws_of_file(const std::string& file) {
  for (const ShippedRun& run : runs_of(file)) {
    SCOPED_TRACE(run.name);
    scenario::Study study;
    study.base = run.scenario;
    study.base.expect.clear();
    expect_laws(run::run_study(study, {}), run.scenario);
  }
}

class ShippedLaws : public testing::TestWithParam<std::string> {};

}  // namespace wavetail::tests
