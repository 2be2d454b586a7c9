// SPDX-License-Identifier: Apache-2.0
#include "study/batch.h"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <mutex>
#include <thread>

#include "study/apart.h"

namespace wavetail::study {

namespace {

using result::Outcome;

bool same_simulation(const scenario::Scenario& a, const scenario::Scenario& b) {
  return a.kernels == b.kernels && a.timeline == b.timeline && a.initial_l2 == b.initial_l2 &&
         a.busy_board == b.busy_board && a.gpu == b.gpu;
}

// The default limit of events is one of a single simulation, not of all together.
run::Control unlimited(run::Control control) {
  if (!control.budget.max_events) { control.budget.max_events = INT64_MAX; }
  return control;
}

// The index of an equal scenario, which is added where there is none.
std::size_t find_or_add(std::vector<const scenario::Scenario*>& scenarios,
                        const scenario::Scenario& s) {
  const auto at = std::find_if(scenarios.begin(), scenarios.end(),
                               [&](const auto* other) { return same_simulation(*other, s); });
  const auto index = static_cast<std::size_t>(at - scenarios.begin());
  if (at == scenarios.end()) { scenarios.push_back(&s); }
  return index;
}

// Energy over time of all launches.
std::optional<double> mean_power(const run::Happened& happened) {
  double joules = 0, seconds = 0;
  for (const run::KernelAccount& account : happened.kernels) {
    joules += account.energy.total();
    seconds += unit::seconds(account.time);
  }
  return joules > 0 && seconds > 0 ? std::optional(joules / seconds) : std::nullopt;
}

void take_figure(RowResult& result, const Plan& plan, const Simulated& simulated) {
  if (!simulated.refused.empty()) {
    result.skipped = simulated.refused;
    return;
  }
  if (simulated.happened.outcome != Outcome::Complete) {
    result.skipped = fmt::format("not simulated to its end: {}", simulated.happened.message);
    return;
  }
  const double value = in_unit(plan.figure(simulated.happened), plan.quantity, result.row.unit,
                               run::mean_clock(plan.scenario.gpu, simulated.happened), plan.sms);
  result.clock_mhz = static_cast<double>(
                         run::mean_clock(plan.scenario.gpu, simulated.happened).count()) *
                     1e-6;
  result.power_w = mean_power(simulated.happened);
  if (std::isfinite(value)) {
    result.predicted = value;
  } else {
    result.skipped = "the run gives no figure: what is measured took no time";
  }
}

}  // namespace

Pool::Pool(const run::Control& control)
    : control_(control), unlimited_(unlimited(control)), watch_(unlimited_), judge_(control_) {}

Simulated Pool::one(const scenario::Scenario& scenario) {
  Simulated simulated;
  std::int64_t counted = 0;
  if (auto why = watch_.look(0, counted, simulated.happened.outcome)) {
    simulated.happened.message = *why;
    return simulated;
  }
  if (auto why = judge_.refuse(run::needs_of(scenario))) {
    simulated.refused = *why;
    return simulated;
  }
  const auto look = [&](std::int64_t events, Outcome& outcome) {
    return watch_.look(events, counted, outcome);
  };
  const std::int64_t most = unlimited_.budget.max_events.value_or(INT64_MAX);
  simulated.happened = run::simulate(scenario, look, nullptr,
                                     std::min(most, run::kEventsBetweenLooks));
  Outcome whole = Outcome::Complete;  // it is done, but its last events count for those to come
  (void)look(simulated.happened.events, whole);
  simulated.happened.replay = {};  // nobody goes on from here
  return simulated;
}

std::vector<Simulated> Pool::run(const std::vector<const scenario::Scenario*>& scenarios,
                                 const Progress& progress) {
  std::vector<Simulated> results(scenarios.size());
  std::atomic<std::size_t> next{0};
  std::mutex told;
  std::size_t done = 0;
  const auto work = [&] {
    for (std::size_t n = next++; n < scenarios.size(); n = next++) {
      results[n] = one(*scenarios[n]);
      const std::lock_guard lock(told);
      ++done;
      if (progress) { progress(done, scenarios.size()); }
    }
  };
  std::vector<std::jthread> others;
  const auto jobs = static_cast<std::size_t>(std::max(1, control_.jobs));
  for (std::size_t j = 1; j < std::min(jobs, scenarios.size()); ++j) { others.emplace_back(work); }
  work();
  others.clear();
  return results;
}

void Batch::add(const Measurement& row, GpuShelf& shelf) {
  RowResult& result = rows_.emplace_back(RowResult{.row = row});
  std::optional<Plan>& plan = plans_.emplace_back();
  try {
    const gpu::GpuSpec gpu = shelf.for_row(row);
    result.gpu = gpu.name;
    result.confidence = gpu::name(gpu.weakest());
    result.clock_mhz = static_cast<double>(gpu.sm_clock().count()) * 1e-6;
    result.apart = apart_of(row, gpu);
    plan = plan_of(row, gpu);
    // in_unit needs the clock of a plan without a scenario, too
    if (plan->scenario.kernels.empty()) { plan->scenario.gpu = gpu; }
  } catch (const Unmapped& why) { result.skipped = why.what(); }
}

void Batch::run(Pool& pool, const Progress& progress) {
  std::vector<const scenario::Scenario*> scenarios;
  std::vector<std::optional<std::size_t>> answered_by(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (plans_[i] && !plans_[i]->scenario.kernels.empty()) {
      answered_by[i] = find_or_add(scenarios, plans_[i]->scenario);
    }
  }
  const auto simulated = pool.run(scenarios, progress);
  static const Simulated nothing;  // the figure is a launch rule
  for (std::size_t i = 0; i < rows_.size(); ++i) {
    if (plans_[i]) {
      take_figure(rows_[i], *plans_[i], answered_by[i] ? simulated[*answered_by[i]] : nothing);
    }
  }
  simulations_ = static_cast<std::int64_t>(scenarios.size());
  for (const Simulated& s : simulated) { take_outcome(s.happened); }
}

void Batch::take_outcome(const run::Happened& h) {
  events_ += h.events;
  if (h.outcome == Outcome::Complete || outcome_ == Outcome::Interrupted) { return; }
  if (outcome_ == Outcome::Complete || h.outcome != Outcome::Hang) {
    outcome_ = h.outcome;
    message_ = h.message;
  }
}

}  // namespace wavetail::study
