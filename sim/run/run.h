// SPDX-License-Identifier: Apache-2.0
// One scenario file, run: the base and its variants are simulated, each kernel gets its bound, the
// expectations are judged. This is the simulator's entrance for everything that reports.
//
//   result::RunResult r = run::run_study(study, {.budget = {.max_time_s = 60}, .cancelled =
//   &interrupted}); r.outcome == result::Outcome::Complete
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>

#include "result/result.h"
#include "scenario/scenario.h"

namespace wavetail::run {

// What a whole study may use; an absent value means the default of the room, not "without limit".
struct Budget {
  std::optional<double> max_time_s;              // wall-clock seconds
  std::optional<std::int64_t> max_events;        // simulated events
  std::optional<std::int64_t> max_memory_bytes;  // resident memory of the process
};

struct Control {
  Budget budget;
  const std::atomic<bool>*
      cancelled = nullptr;  // looked at while simulating; true: stop, report what there is
  bool trace = false;       // fill RunResult::trace
  int jobs = 1;             // threads over variants; the result does not depend on it
};

// Simulates the base and every variant and judges the expectations of the file. Never throws for
// what a user can write: a hang, an exhausted budget and an interrupt come back as
// RunResult::outcome with the partial figures.
[[nodiscard]] result::RunResult run_study(const scenario::Study& study, const Control& control);

}  // namespace wavetail::run
