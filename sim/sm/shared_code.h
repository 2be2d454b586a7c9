// SPDX-License-Identifier: Apache-2.0
// A shared-memory instruction as the SM executes it: where its address stands, and the wavefronts
// that it takes there.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "gpu/spec.h"
#include "kernel/op.h"
#include "memory/bank_pattern.h"

namespace wavetail::sm {

class CompiledShared {
 public:
  // The lanes [first, first + count) of a warp execute it. Passes of stores never merge.
  CompiledShared(const kernel::SharedAccess& access, bool store, int first, int count,
                 const gpu::GpuSpec& gpu);

  struct Request {
    memory::BankAccess banks;
    std::int64_t cycles = 0;  // that it keeps shared memory's data path
  };

  // At this address; the shape for every address within a period is made when first needed.
  [[nodiscard]] const Request& request(std::int64_t base) const;

  // With lanes drawn from `state` on.
  [[nodiscard]] Request random_request(std::int64_t base, std::uint64_t state) const;

  // The address of instruction `index` of the run, in warp `warp` of the role, in these trips.
  [[nodiscard]] std::int64_t address(
      std::int64_t warp, std::int64_t index,
      const std::array<std::int64_t, kernel::kMaxLoopDepth>& trips) const;

  [[nodiscard]] int active_lanes() const { return active_lanes_; }

  [[nodiscard]] bool random() const { return access_.pattern == kernel::SharedPattern::Random; }

  [[nodiscard]] std::uint64_t seed() const { return access_.seed; }

  [[nodiscard]] int depth() const { return static_cast<int>(access_.loop.size()); }

 private:
  [[nodiscard]] Request priced(const memory::BankAccess& banks) const;

  kernel::SharedAccess access_;
  std::vector<std::int64_t> offsets_;  // by lane of the warp
  bool merge_pairs_ = false;
  int active_lanes_ = 0;
  std::int64_t bytes_per_cycle_ = 1;  // thousandths
  std::int64_t period_ = 1;
  std::int64_t lift_ = 0;  // whole periods that bring the lowest lane to address 0 or above
  mutable std::vector<Request> known_;  // by address modulo the period; no cycles: not yet made
};

}  // namespace wavetail::sm
