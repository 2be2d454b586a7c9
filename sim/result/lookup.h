// SPDX-License-Identifier: Apache-2.0
// A figure of a result by its path, as `expect` writes it: the JSON keys joined by dots, without
// the suffix that names the unit.
//
//   kernels.tiles.wave_efficiency   gaps.launch_bound   kernels.stream.stall.long_scoreboard
//   kernels.stream.bound.time       closed_form.needed_in_flight   variants.slow.kernel_time
#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "result/result.h"

namespace wavetail::result {

// What stands at a path: a number, a text (a list's words joined by ", "), or nothing because it
// does not apply to this kernel or run.
struct Figure {
  std::variant<std::monostate, double, std::string> value;
  std::string unit;  // as in result/describe.h
};

// All figures that the path may mean: several where keys differ only in their suffix (dram_gbps,
// dram_pct). With its suffix a path is unambiguous. Empty: there is no such path.
[[nodiscard]] std::vector<Figure> find_figures(const RunResult& run, std::string_view path);

// Every path that find_figures knows below the deepest part of `path` that exists; for hints.
[[nodiscard]] std::vector<std::string> paths_near(const RunResult& run, std::string_view path);

// "time_us", "us" -> "time"; a key without its unit's suffix stays as it is.
[[nodiscard]] std::string_view without_suffix(std::string_view key, std::string_view unit);

}  // namespace wavetail::result
