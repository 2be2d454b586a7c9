// SPDX-License-Identifier: Apache-2.0
// A list of operations, as a scenario writes it, to a kernel::Program.
#pragma once

#include <span>
#include <string>

#include "config/value.h"
#include "kernel/kernel.h"

namespace wavetail::scenario {

struct ProgramReader {
  const kernel::Kernel& kernel;  // its arrays, its name in messages
  config::Diagnostics& diagnostics;
  int warp_size = 32;
  int loops = 0;           // enclosing counted loops
  bool divergent = false;  // inside a branch that not all lanes or warps take

  // Everything that can be read; mistakes are reported. Nesting is bounded by the loader.
  [[nodiscard]] kernel::Program read(const config::At& at) const;

 private:
  void read_operation(const config::At& at, kernel::Program& out) const;
  void read_arithmetic(const config::At& at, kernel::Pipe pipe, kernel::Program& out) const;
  void read_wait(const config::At& at, kernel::Program& out) const;
  void read_barrier(const config::At& at, kernel::Program& out) const;
  void read_repeat(const config::At& at, kernel::Program& out) const;
  void read_diverge(const config::At& at, kernel::Program& out) const;
};

// Load and store; reports misaligned vector accesses.
[[nodiscard]] kernel::Op read_memory_access(const config::At& at, kernel::OpKind kind,
                                            const ProgramReader& reader);

}  // namespace wavetail::scenario
