// SPDX-License-Identifier: Apache-2.0
// Which instructions exist on which architecture: wgmma on sm_90 alone, tcgen05 on sm_100 and
// sm_103, the TMA from sm_90 on, cp.async from sm_80 on, MFMA on AMD's.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "kernel/kernel.h"

namespace wavetail::isa {

// A kind of instruction that not every GPU has. `operation` is its key in a scenario.
struct Requirement {
  std::string_view operation, instruction;
  int first = 0, last = 0;          // compute capability x 10, inclusive; last 0: no end
  std::string_view family = "sm_";  // what the architecture's name begins with
};

[[nodiscard]] const std::vector<Requirement>& requirements();

// "sm_90", "sm_90 and later"; empty if every GPU has the operation.
[[nodiscard]] std::string architectures_of(std::string_view operation);

// "sm_90" is 90, of family "gfx" "gfx942" is 942; absent for architectures of other families.
[[nodiscard]] std::optional<int> compute_capability(std::string_view architecture,
                                                    std::string_view family = "sm_");

// Why the GPU cannot run the operation: a sentence that names instruction and architectures; absent
// if it can.
[[nodiscard]] std::optional<std::string> lacks(std::string_view operation,
                                               std::string_view architecture);

// The key of the operation; "arithmetic" for those that differ by their pipe alone.
[[nodiscard]] std::string_view operation_name(kernel::OpKind kind);

}  // namespace wavetail::isa
