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

class Watch {
 public:
  explicit Watch(const Control& control);

  // Looks at all limits; `events` is the count of one run so far, `counted` what it has reported
  // before.
  [[nodiscard]] std::optional<std::string> look(std::int64_t events, std::int64_t& counted,
                                                result::Outcome& outcome);

  // Why a scenario that would need about `events` cannot be run within the limits; empty if it can.
  // Only the default limit refuses beforehand: under a limit of the user's own, the run goes as far
  // as it gets.
  [[nodiscard]] std::optional<std::string> refuse(double events) const;

 private:
  const Control& control_;
  std::chrono::steady_clock::time_point start_;
  std::atomic<std::int64_t> events_{0};
};

// About how many events a scenario takes, from its kernels' programs.
[[nodiscard]] double estimated_events(const scenario::Scenario& scenario);

// Resident memory of this process, in bytes; 0 where the system does not tell.
[[nodiscard]] std::int64_t resident_memory();

}  // namespace wavetail::run
