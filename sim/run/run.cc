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

// One run; `known` and `left`: see simulate().
RunResult run_one(const scenario::Scenario& scenario, const Control& control, Watch& watch,
                  const device::Replay* known, device::Replay* left) {
  Happened happened;
  happened.kernels.resize(scenario.kernels.size());
  if (auto why = watch.refuse(needs_of(scenario))) {
    happened.outcome = result::Outcome::OverBudget;
    happened.message = *why;
    return collect(scenario, happened, false);
  }
  std::int64_t counted = 0;
  happened = simulate(
      scenario,
      [&](std::int64_t events, result::Outcome& outcome) {
        return watch.look(events, counted, outcome);
      },
      known,
      // A budget below that is kept to the event.
      std::clamp<std::int64_t>(control.budget.max_events.value_or(kEventsBetweenLooks), 1,
                               kEventsBetweenLooks));
  if (left != nullptr) { *left = std::move(happened.replay); }
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

// Threads over the variants: as many as asked for, and no more machines at once than the memory
// that is left has room for.
int threads_for(const scenario::Study& study, const Control& control) {
  const int asked = std::min<int>(control.jobs, static_cast<int>(study.variants.size()));
  if (asked <= 1) { return asked; }
  double largest = 1;
  for (const scenario::Variant& v : study.variants) {
    largest = std::max(largest, needs_of(v.scenario).bytes);
  }
  const double left = static_cast<double>(memory_limit(control.budget) - resident_memory());
  const double room = left / largest;
  return static_cast<int>(std::clamp(room, 1.0, static_cast<double>(asked)));
}

}  // namespace

// The base runs first: variants that change only what the host does are answered from its launches.
RunResult run_study(const scenario::Study& study, const Control& control) {
  Watch watch(control);
  device::Replay of_base;
  RunResult base = run_one(study.base, control, watch, nullptr, &of_base);
  std::vector<RunResult> variants(study.variants.size());
  std::atomic<std::size_t> next{0};
  auto work = [&] {
    for (std::size_t n = next++; n < variants.size(); n = next++) {
      const scenario::Scenario& scenario = study.variants[n].scenario;
      const bool same = same_kernels_and_machine(study.base, scenario);
      variants[n] = run_one(scenario, control, watch, same ? &of_base : nullptr, nullptr);
    }
  };
  std::vector<std::jthread> helpers;
  const int threads = threads_for(study, control);
  for (int j = 1; j < threads; ++j) { helpers.emplace_back(work); }
  work();
  helpers.clear();
  for (std::size_t v = 0; v < study.variants.size(); ++v) {
    base.variants.push_back(std::move(variants[v]));
    base.variants.back().variant = study.variants[v].name;
    base.events += base.variants.back().events;
  }
  inherit_outcome(base);
  base.expect = judge(study.base.expect, base);
  return base;
}

}  // namespace wavetail::run
