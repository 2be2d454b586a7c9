// SPDX-License-Identifier: Apache-2.0
#include "run/budget.h"

#include <unistd.h>

#include <cstdio>
#include <fstream>

#include "bound/work.h"

namespace wavetail::run {

using result::Outcome;

namespace {

constexpr std::int64_t kDefaultMaxEvents = 2'000'000'000;
constexpr double kEventsPerSecond = 10e6;  // for the estimate in a refusal, on the slow side

std::string in_millions(double n) {
  return std::to_string(static_cast<std::int64_t>(n / 1e6 + 0.5)) + " million";
}

// Launches of each kernel in a timeline.
void count_launches(const std::vector<host::Item>& items, double times,
                    std::vector<double>& launches) {
  for (const host::Item& item : items) {
    const double n = times * static_cast<double>(item.repeat);
    if (item.kind == host::ItemKind::Launch) {
      launches[static_cast<std::size_t>(item.kernel)] += n;
    }
    count_launches(item.body, n, launches);
  }
}

}  // namespace

Watch::Watch(const Control& control)
    : control_(control), start_(std::chrono::steady_clock::now()) {}

std::optional<std::string> Watch::look(std::int64_t events, std::int64_t& counted,
                                       Outcome& outcome) {
  const std::int64_t all = events_ += events - counted;
  counted = events;
  if (control_.cancelled != nullptr && control_.cancelled->load(std::memory_order_relaxed)) {
    outcome = Outcome::Interrupted;
    return "interrupted";
  }
  const Budget& b = control_.budget;
  outcome = Outcome::OverBudget;
  if (all > b.max_events.value_or(kDefaultMaxEvents)) {
    return "the budget of " +
           in_millions(static_cast<double>(b.max_events.value_or(kDefaultMaxEvents))) +
           " events is spent (--max-events)";
  }
  const std::chrono::duration<double> elapsed = std::chrono::steady_clock::now() - start_;
  if (b.max_time_s && elapsed.count() > *b.max_time_s) {
    return "the time budget is spent (--max-time)";
  }
  if (b.max_memory_bytes && resident_memory() > *b.max_memory_bytes) {
    return "the memory budget is spent (--max-memory)";
  }
  outcome = Outcome::Complete;
  return std::nullopt;
}

std::optional<std::string> Watch::refuse(double events) const {
  const Budget& b = control_.budget;
  if (b.max_events || b.max_time_s || events <= static_cast<double>(kDefaultMaxEvents)) {
    return std::nullopt;
  }
  return "the scenario needs about " + in_millions(events) + " events, some " +
         std::to_string(static_cast<std::int64_t>(events / kEventsPerSecond)) +
         " s; the default limit is " + in_millions(static_cast<double>(kDefaultMaxEvents)) +
         ". Nothing was simulated; give --max-events or --max-time to run as far as that reaches";
}

double estimated_events(const scenario::Scenario& s) {
  std::vector<double> launches(s.kernels.size(), 0);
  count_launches(s.timeline.items, 1, launches);
  double events = 0;
  for (std::size_t k = 0; k < s.kernels.size(); ++k) {
    const kernel::Kernel& kernel = s.kernels[k];
    if (kernel.duration) {
      events += 4 * launches[k];
      continue;
    }
    const bound::Work work = bound::count_work(kernel, s.gpu);
    const double blocks = static_cast<double>(kernel::volume(kernel.grid));
    const double warps = blocks * static_cast<double>((kernel.block + s.gpu.sm.warp_size - 1) /
                                                      s.gpu.sm.warp_size);
    const double per_launch = 2 * blocks + 2 * warps + 2.5 * work.requests() +
                              1.5 * work.shared_requests() +
                              work.warp_instructions /
                                  static_cast<double>(s.simulation.issue_quantum);
    events += per_launch * (s.simulation.replay ? std::min(launches[k], 3.0) : launches[k]);
  }
  return events;
}

std::int64_t resident_memory() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t total = 0;
  std::int64_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::int64_t>(sysconf(_SC_PAGESIZE));
}

}  // namespace wavetail::run
