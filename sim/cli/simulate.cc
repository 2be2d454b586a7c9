// SPDX-License-Identifier: Apache-2.0
#include "cli/simulate.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>

#include "cli/share.h"
#include "run/expect.h"

namespace wavetail::cli {

scenario::Study load(const std::string& path, const Common& common,
                     const std::atomic<bool>* cancelled) {
  config::Diagnostics diagnostics;
  auto options = common.load_options();
  options.cancelled = cancelled;
  auto study = scenario::load_study(found(path), options, diagnostics);
  if (cancelled->load()) { throw Interrupted(std::string(kInterruptedLoading)); }
  if (!study) { refuse(diagnostics); }
  return std::move(*study);
}

run::Control control_of(const Common& common, const std::atomic<bool>* cancelled) {
  return {.budget = common.budget, .cancelled = cancelled, .trace = false, .jobs = common.jobs};
}

int exit_code(result::Outcome outcome) {
  switch (outcome) {
    case result::Outcome::Complete: return kOk;
    case result::Outcome::Hang: return kHang;
    case result::Outcome::OverBudget:
    case result::Outcome::Interrupted: break;
  }
  return kBudget;
}

int exit_code(const result::RunResult& result) {
  int code = kOk;
  for (const auto& e : result.expect) {
    if (run::is_failure(e.verdict)) { code = kMissed; }
  }
  code = std::max(code, exit_code(result.outcome));
  for (const auto& v : result.variants) { code = std::max(code, exit_code(v.outcome)); }
  return code;
}

bool refused_as_expected(const scenario::ExpectedError& expected) {
  return !expected.refusal.empty() && expected.refusal.find(expected.text) != std::string::npos;
}

std::string refusal_text(const scenario::ExpectedError& e) {
  if (e.refusal.empty()) {
    return fmt::format("{}: the file should be refused with '{}', and was accepted\n", e.place,
                       e.text);
  }
  return fmt::format("{}: {} with '{}':\n{}", e.place,
                     refused_as_expected(e) ? "refused, as expected," : "refused, but not", e.text,
                     e.refusal);
}

std::int64_t peak_memory_bytes() {
  rusage usage = {};
  getrusage(RUSAGE_SELF, &usage);
  return std::int64_t{usage.ru_maxrss} * 1024;  // Linux counts KiB
}

}  // namespace wavetail::cli
