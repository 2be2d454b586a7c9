// SPDX-License-Identifier: Apache-2.0
// DPX functions of CUDA (__viaddmax_s32 and the like): which instructions of which pipes they are
// compiled to. From compute capability 9.0 on some are one instruction; elsewhere, and for the
// others, they are a few.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/op.h"

namespace wavetail::isa {

// A run of instructions, each depending on the one `distance` before it.
struct DpxStep {
  kernel::Pipe pipe = kernel::Pipe::Int32;
  std::int64_t count = 1, distance = 1;
};

// The instructions of one call of `function` ("viaddmax_s32", without the underscores in front) on
// an architecture; absent if there is no such function.
[[nodiscard]] std::optional<std::vector<DpxStep>> dpx_steps(std::string_view function,
                                                            std::string_view architecture);

// All of them, as a message lists them.
[[nodiscard]] std::string dpx_functions();

}  // namespace wavetail::isa
