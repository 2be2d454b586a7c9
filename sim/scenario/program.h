// SPDX-License-Identifier: Apache-2.0
// A list of operations, as a scenario writes it, to a kernel::Program.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "config/reader.h"
#include "gpu/spec.h"
#include "kernel/kernel.h"

namespace wavetail::scenario {

constexpr std::int64_t kMostOperations = 100'000;  // of a kernel, every way of a branch counted

struct ProgramReader {
  const kernel::Kernel& kernel;  // its arrays, its name in messages
  config::Diagnostics& diagnostics;
  std::int64_t& operations_left;  // what kMostOperations leaves; shared by the kernel's roles
  int warp_size = 32;
  const gpu::GpuSpec* gpu = nullptr;          // null: not known, nothing is refused for its sake
  std::int64_t warps = 0;                     // of the role; 0: not known
  int loops = 0;                              // enclosing counted loops
  std::vector<std::int64_t> trips = {};       // of each, outermost first
  std::int64_t lane_ways = 1, warp_ways = 1;  // parts that enclosing branches make
  bool divergent = false;                     // inside a branch that not all lanes or warps take

  // Everything that can be read; mistakes are reported. Nesting is bounded by the loader.
  [[nodiscard]] kernel::Program read(const config::At& at) const;

 private:
  void read_operation(const config::At& at, kernel::Program& out) const;
  void read_arithmetic(const config::At& at, kernel::Pipe pipe, kernel::Program& out) const;
  void read_wait(const config::At& at, kernel::OpKind kind, kernel::Program& out) const;
  void read_barrier(const config::At& at, kernel::Program& out) const;
  void read_repeat(const config::At& at, kernel::Program& out) const;
  static void read_trips(const config::At& at, kernel::Op& op);
  void read_diverge(const config::At& at, kernel::Program& out) const;
  // Whether there are two of what parts; complains if not.
  [[nodiscard]] bool can_diverge(const config::At& at, kernel::DivergeBy by) const;
  void read_ways(const config::MapReader& map, kernel::Op& op) const;
  void read_paths(const config::At& at, kernel::Op& op) const;
  void read_dpx(const config::At& at, kernel::Program& out) const;
  // async_program.cc
  [[nodiscard]] bool available(const config::At& at, std::string_view operation) const;
  bool read_async(const config::At& at, std::string_view operation, kernel::Program& out) const;
  void read_count(const config::At& at, kernel::OpKind kind, kernel::Program& out) const;
  void read_copy(const config::At& at, kernel::Program& out) const;
  void read_bulk(const config::At& at, kernel::OpKind kind, kernel::Program& out) const;
  void read_arrive(const config::At& at, kernel::Program& out) const;
  [[nodiscard]] bool pairs(const config::At& at) const;  // complains if not
  // tensor_program.cc
  bool read_tensor(const config::At& at, std::string_view operation, kernel::Program& out) const;
  void read_wgmma(const config::At& at, kernel::Program& out) const;
  void read_mma(const config::At& at, kernel::Program& out) const;
  void read_mfma(const config::At& at, kernel::Program& out) const;
  void read_tcgen05_mma(const config::At& at, kernel::Program& out) const;
  void read_commit(const config::At& at, kernel::Program& out) const;
  [[nodiscard]] bool has_tmem(const config::At& at) const;  // complains if not
  void read_named_barrier(const config::At& at, kernel::Program& out) const;
  void read_peer(const config::At& at, kernel::OpKind kind, kernel::Program& out) const;
  [[nodiscard]] int mbarrier(const config::At& at) const;
  [[nodiscard]] std::int64_t most_ways(kernel::DivergeBy by) const;
  [[nodiscard]] ProgramReader inside_branch(std::int64_t ways, kernel::DivergeBy by) const;
  [[nodiscard]] bool take_operations(const config::At& at, std::int64_t count) const;
};

// Load, store and cp.async; reports misaligned vector accesses.
[[nodiscard]] kernel::Op read_atomic(const config::At& at, const ProgramReader& reader);
[[nodiscard]] kernel::Op read_memory_access(const config::At& at, kernel::OpKind kind,
                                            const ProgramReader& reader);

// The same for shared memory; also reports what lies outside the block's.
[[nodiscard]] kernel::Op read_shared_access(const config::At& at, kernel::OpKind kind,
                                            const ProgramReader& reader);

// Reports rows of shared memory whose distance is no multiple of what an access moves at once (the
// bytes of a lane, the 16 bytes of a bulk copy): padding that breaks the alignment.
void check_pitch(const config::At& at, std::int64_t pitch, std::int64_t unit);

// Index of the named array; reports names that the kernel does not have.
void read_array(const config::MapReader& map, const kernel::Kernel& kernel, int& array);

// A box of the TMA (boxes.cc); `keys` are those that the map may have beside the box's own.
[[nodiscard]] kernel::Box read_box(const config::At& at, const config::KeyTable& keys,
                                   const ProgramReader& reader);

}  // namespace wavetail::scenario
