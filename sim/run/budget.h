// SPDX-License-Identifier: Apache-2.0
// Keeps a study within its limits: wall time, events, memory, and the user's interrupt. One watch
// serves all runs of a study, from several threads.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>

#include "run/run.h"

namespace wavetail::run {

// About what simulating a scenario takes, from its kernels' programs and its GPU.
struct Needs {
  double events = 0;
  double seconds = 0;  // of wall time on one core, on the slow side
  double bytes = 0;    // of memory: tags of caches, what L2 will hold, warps, state of banks
};

[[nodiscard]] Needs needs_of(const scenario::Scenario& scenario);

class Watch {
 public:
  explicit Watch(const Control& control);

  // Looks at all limits; `so_far` counts the events of one run, `counted` those that it has
  // reported before.
  [[nodiscard]] std::optional<std::string> look(std::int64_t so_far, std::int64_t& counted,
                                                result::Outcome& outcome);

  // Why a scenario with these needs cannot be run within the limits; empty if it can. Of events
  // only the default limit refuses beforehand: under a limit of the user's own, the run goes as far
  // as it gets. Memory is refused beforehand, since the machine has it before the first look at a
  // limit.
  [[nodiscard]] std::optional<std::string> refuse(const Needs& needs) const;

 private:
  const Control& control_;
  std::chrono::steady_clock::time_point start_;
  std::atomic<std::int64_t> events_{0};
};

// What the process may take, the default where the user has not said.
[[nodiscard]] std::int64_t memory_limit(const Budget& budget);

// Resident memory of this process, in bytes; 0 where the system does not tell.
[[nodiscard]] std::int64_t resident_memory();

}  // namespace wavetail::run
