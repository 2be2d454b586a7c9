// SPDX-License-Identifier: Apache-2.0
#include "study/validate.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <thread>

#include "run/budget.h"
#include "run/simulate.h"
#include "study/gpus.h"
#include "study/protocol.h"

namespace wavetail::study {

namespace {

using result::Outcome;

// A row with its plan, and the simulation that answers it: an index, -1 for none.
struct Planned {
  std::optional<Plan> plan;
  std::ptrdiff_t simulation = -1;
};

bool same_simulation(const scenario::Scenario& a, const scenario::Scenario& b) {
  return a.kernels == b.kernels && a.timeline == b.timeline && a.initial_l2 == b.initial_l2 &&
         a.gpu == b.gpu;
}

struct Simulations {
  std::vector<const scenario::Scenario*> scenarios;
  std::vector<run::Happened> happened;  // as scenarios; incomplete ones have their outcome
  std::vector<std::string> refused;     // why one was not run

  // The index of an equal one, which is added where there is none.
  std::ptrdiff_t find_or_add(const scenario::Scenario& s) {
    const auto at = std::find_if(scenarios.begin(), scenarios.end(),
                                 [&](const auto* other) { return same_simulation(*other, s); });
    const auto index = at - scenarios.begin();
    if (at == scenarios.end()) { scenarios.push_back(&s); }
    return index;
  }
};

void plan_row(RowResult& result, Planned& planned, GpuShelf& shelf) {
  try {
    const gpu::GpuSpec gpu = shelf.for_row(result.row);
    result.gpu = gpu.name;
    result.confidence = gpu::name(gpu.weakest());
    result.clock_mhz = static_cast<double>(gpu.sm_clock().count()) * 1e-6;
    planned.plan = plan_of(result.row, gpu);
    // in_unit needs the clock of a plan without a scenario, too
    planned.plan->scenario.gpu = gpu;
  } catch (const Unmapped& why) { result.skipped = why.what(); }
}

class Runner {
 public:
  Runner(Simulations& simulations, const ValidateOptions& options)
      : simulations_(simulations),
        options_(options),
        control_(unlimited(options.control)),
        watch_(control_),
        judge_(options.control) {}

  void run() {
    const std::size_t total = simulations_.scenarios.size();
    simulations_.happened.resize(total);
    simulations_.refused.resize(total);
    std::vector<std::jthread> others;
    const auto jobs = static_cast<std::size_t>(std::max(1, options_.control.jobs));
    for (std::size_t j = 1; j < std::min(jobs, total); ++j) {
      others.emplace_back([this] { work(); });
    }
    work();
  }

 private:
  // The default limit of events is one of a single simulation, not of all together.
  static run::Control unlimited(run::Control control) {
    if (!control.budget.max_events) { control.budget.max_events = INT64_MAX; }
    return control;
  }

  void work() {
    const std::size_t total = simulations_.scenarios.size();
    for (std::size_t n = next_++; n < total; n = next_++) {
      one(n);
      const std::lock_guard lock(progress_);
      ++done_;
      if (options_.progress) { options_.progress(done_, total); }
    }
  }

  void one(std::size_t n) {
    run::Happened& happened = simulations_.happened[n];
    std::int64_t counted = 0;
    if (auto why = watch_.look(0, counted, happened.outcome)) {
      happened.message = *why;
      return;
    }
    const scenario::Scenario& scenario = *simulations_.scenarios[n];
    if (auto why = judge_.refuse(run::needs_of(scenario))) {
      simulations_.refused[n] = *why;
      return;
    }
    happened = run::simulate(scenario, [&](std::int64_t events, Outcome& outcome) {
      return watch_.look(events, counted, outcome);
    });
    happened.replay = {};  // nobody goes on from here
  }

  Simulations& simulations_;
  const ValidateOptions& options_;
  run::Control control_;
  run::Watch watch_, judge_;
  std::atomic<std::size_t> next_{0};
  std::mutex progress_;
  std::size_t done_ = 0;
};

void take_figure(RowResult& result, const Planned& planned, const Simulations& simulations) {
  static const run::Happened nothing;
  const auto n = static_cast<std::size_t>(planned.simulation);
  const bool simulated = planned.simulation >= 0;
  if (simulated && !simulations.refused[n].empty()) {
    result.skipped = simulations.refused[n];
    return;
  }
  const run::Happened& happened = simulated ? simulations.happened[n] : nothing;
  if (happened.outcome != Outcome::Complete) {
    result.skipped = fmt::format("not simulated to its end: {}", happened.message);
    return;
  }
  const Plan& plan = *planned.plan;
  const double value = in_unit(plan.figure(happened), plan.quantity, result.row.unit,
                               plan.scenario.gpu.sm_clock(), plan.sms);
  if (std::isfinite(value)) {
    result.predicted = value;
  } else {
    result.skipped = "the run gives no figure: what is measured took no time";
  }
}

void take_outcome(Validation& v, const Simulations& simulations) {
  for (const run::Happened& h : simulations.happened) {
    v.events += h.events;
    if (h.outcome == Outcome::Complete || v.outcome == Outcome::Interrupted) { continue; }
    if (v.outcome == Outcome::Complete || h.outcome != Outcome::Hang) {
      v.outcome = h.outcome;
      v.outcome_message = h.message;
    }
  }
}

}  // namespace

Validation validate(const std::vector<Measurement>& rows, const ValidateOptions& options,
                    config::Diagnostics& diagnostics) {
  Validation v;
  GpuShelf shelf(options.load, diagnostics);
  std::vector<Planned> planned(rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    v.rows.push_back({.row = rows[i]});
    plan_row(v.rows[i], planned[i], shelf);
  }
  if (!diagnostics.ok()) { return v; }
  Simulations simulations;
  for (Planned& p : planned) {
    if (p.plan && !p.plan->scenario.kernels.empty()) {
      p.simulation = simulations.find_or_add(p.plan->scenario);
    }
  }
  v.simulations = static_cast<std::int64_t>(simulations.scenarios.size());
  Runner(simulations, options).run();
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (planned[i].plan) { take_figure(v.rows[i], planned[i], simulations); }
  }
  take_outcome(v, simulations);
  compare(v);
  return v;
}

}  // namespace wavetail::study
