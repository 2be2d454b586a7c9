// SPDX-License-Identifier: Apache-2.0
// Turns a named walk over an array into strides per block, warp, loop trip and unrolled
// instruction.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/kernel.h"
#include "sm/code.h"

namespace wavetail::sm {

// Where a memory op stands in its program.
struct Surroundings {
  std::int64_t blocks = 1;  // of the grid
  kernel::Dim3 grid{1, 1, 1};
  std::int64_t warps = 1;  // of the role
  int warp_size = 32;
  std::vector<std::int64_t> trips;  // of the enclosing loops, outermost first
  int first_lane = 0, lanes = 32;   // lanes active here (a divergent branch narrows them)
};

// Strides of a named walk whose piece per warp and instruction is `span` bytes.
void walk(CompiledAccess& c, kernel::WalkKind kind, std::int64_t count, const Surroundings& at,
          std::int64_t span);

void take_strides(CompiledAccess& c, const kernel::Strides& s);

// `bytes`: size of the array.
[[nodiscard]] CompiledAccess resolve(const kernel::MemoryAccess& access, std::int64_t count,
                                     const Surroundings& at, std::int64_t bytes);

}  // namespace wavetail::sm
