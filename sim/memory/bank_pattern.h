// SPDX-License-Identifier: Apache-2.0
// From the pattern of a shared-memory access to the lane addresses that memory/banks.h counts.
#pragma once

#include <cstdint>
#include <vector>

#include "kernel/shared_access.h"
#include "memory/banks.h"

namespace wavetail::memory {

// Offset of every lane of a warp from the instruction's address, before the swizzle; kNoLane where
// the lane takes no part: outside [first, first + count), beyond access.lanes or beyond the list.
// Random lanes are all at 0: they are drawn when the instruction runs.
[[nodiscard]] std::vector<std::int64_t> lane_offsets(const kernel::SharedAccess& access,
                                                     int warp_size, int first, int count);

// The access at `base`, the instruction's address, with the lanes at `offsets` from it.
[[nodiscard]] BankAccess bank_access_at(const kernel::SharedAccess& access,
                                        const std::vector<std::int64_t>& offsets, std::int64_t base,
                                        bool merge_pairs);

// Two instructions whose addresses differ by a multiple of this many bytes take alike.
[[nodiscard]] std::int64_t bank_period(const kernel::SharedAccess& access);

// The bytes of shared memory that the access may touch: [low, high). `warps`: of the role; `trips`:
// of the enclosing loops, outermost first; `instructions`: of one `count` run. A swizzle moves
// addresses within aligned pieces of 2^(bits + base) bytes, of which each counts as touched whole.
struct Extent {
  std::int64_t low = 0, high = 0;
};

[[nodiscard]] Extent shared_extent(const kernel::SharedAccess& access, int warp_size,
                                   std::int64_t warps, std::int64_t instructions,
                                   const std::vector<std::int64_t>& trips);

}  // namespace wavetail::memory
