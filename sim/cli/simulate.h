// SPDX-License-Identifier: Apache-2.0
// What commands that simulate have in common: loading, the exit code of a result, the simulator's
// own figures.
#pragma once

#include <cstdint>
#include <string>

#include "cli/options.h"
#include "result/result.h"

namespace wavetail::cli {

// The study, or the mistakes printed and Mistake thrown.
[[nodiscard]] scenario::Study load(const std::string& path, const Common& common,
                                   const std::atomic<bool>* cancelled);

inline constexpr std::string_view
    kInterruptedLoading = "interrupted while the file was read; nothing was simulated";

[[nodiscard]] run::Control control_of(const Common& common, const std::atomic<bool>* cancelled);

// 3 for a hang and 4 for a budget or an interrupt, of the base or a variant; 1 if an expectation
// was missed.
[[nodiscard]] int exit_code(const result::RunResult& result);
[[nodiscard]] int exit_code(result::Outcome outcome);

// Whether the messages of a file that must be refused hold the text that it expects.
[[nodiscard]] bool refused_as_expected(const scenario::ExpectedError& expected);

// One sentence on the above.
[[nodiscard]] std::string refusal_text(const scenario::ExpectedError& expected);

// The simulation's speed and memory, for --timing.
struct Timing {
  double wall_s = 0;
  std::int64_t events = 0;
  std::int64_t peak_rss_bytes = 0;

  [[nodiscard]] double events_per_s() const {
    return wall_s > 0 ? static_cast<double>(events) / wall_s : 0;
  }
};

[[nodiscard]] std::int64_t peak_memory_bytes();

}  // namespace wavetail::cli
