// SPDX-License-Identifier: Apache-2.0
// `wavetail explain`: what binds each kernel and the run as a whole, by how much, the chain of
// figures behind it, and what each remedy could give.
#pragma once

#include <string>

#include "result/result.h"

namespace wavetail::report {

// `kernel`: the only one to explain; empty for all. It must exist.
[[nodiscard]] std::string explain_text(const result::RunResult& run, const std::string& kernel);
[[nodiscard]] std::string explain_json(const result::RunResult& run, const std::string& kernel);

// kernel,mechanism,estimate_us,evidence,remedy: a line per finding, the timeline's under an empty
// kernel.
[[nodiscard]] std::string explain_csv(const result::RunResult& run, const std::string& kernel);

}  // namespace wavetail::report
