// SPDX-License-Identifier: Apache-2.0
#include "run/run.h"

#include <algorithm>
#include <thread>

#include "run/budget.h"
#include "run/collect.h"
#include "run/expect.h"
#include "run/simulate.h"

namespace wavetail::run {

using result::RunResult;

namespace {

RunResult run_one(const scenario::Scenario& scenario, const Control& control, Watch& watch) {
  if (auto why = watch.refuse(estimated_events(scenario))) {
    Happened nothing;
    nothing.kernels.resize(scenario.kernels.size());
    nothing.outcome = result::Outcome::OverBudget;
    nothing.message = *why;
    return collect(scenario, nothing, false);
  }
  std::int64_t counted = 0;
  const Happened happened = simulate(scenario, [&](std::int64_t events, result::Outcome& outcome) {
    return watch.look(events, counted, outcome);
  });
  return collect(scenario, happened, control.trace);
}

// The worst outcome of base and variants is the study's.
void inherit_outcome(RunResult& base) {
  for (const RunResult& v : base.variants) {
    if (base.outcome == result::Outcome::Complete && v.outcome != result::Outcome::Complete) {
      base.outcome = v.outcome;
      base.outcome_message = "variant '" + v.variant + "': " + v.outcome_message;
    }
  }
}

}  // namespace

RunResult run_study(const scenario::Study& study, const Control& control) {
  Watch watch(control);
  std::vector<RunResult> results(study.variants.size() + 1);
  std::atomic<std::size_t> next{0};
  auto work = [&] {
    for (std::size_t n = next++; n < results.size(); n = next++) {
      results[n] = run_one(n == 0 ? study.base : study.variants[n - 1].scenario, control, watch);
    }
  };
  std::vector<std::jthread> helpers;
  for (int j = 1; j < std::min<int>(control.jobs, static_cast<int>(results.size())); ++j) {
    helpers.emplace_back(work);
  }
  work();
  helpers.clear();
  RunResult base = std::move(results.front());
  for (std::size_t v = 0; v < study.variants.size(); ++v) {
    base.variants.push_back(std::move(results[v + 1]));
    base.variants.back().variant = study.variants[v].name;
    base.events += base.variants.back().events;
  }
  inherit_outcome(base);
  base.expect = judge(study.base.expect, base);
  return base;
}

}  // namespace wavetail::run
