// SPDX-License-Identifier: Apache-2.0
// How many different bytes a load or store touches over a whole launch, at least: its requests are
// pieces that the walk lays side by side over the array, again from the start when the end is
// reached.
#pragma once

#include <vector>

#include "bound/request.h"
#include "kernel/kernel.h"

namespace wavetail::bound {

// Where an access stands in its program.
struct Standing {
  kernel::Dim3 grid{1, 1, 1};
  std::int64_t warps = 1;  // of the role
  std::int64_t warp_size = 32;
  bool split = false;         // some warps of the role go another way
  std::vector<double> trips;  // of the enclosing loops, outermost first
  double count = 1;           // instructions per trip of the innermost loop

  [[nodiscard]] double per_warp() const;  // instructions of one warp

  [[nodiscard]] double blocks() const { return static_cast<double>(kernel::volume(grid)); }
};

// Gathers one access warp by warp of a block.
class Cover {
 public:
  void add(const Standing& at, const Request& request);

  [[nodiscard]] double unique_bytes(const kernel::MemoryAccess& access, const Standing& at,
                                    double array_bytes) const;

 private:
  [[nodiscard]] double unique_of_strides(const kernel::MemoryAccess& access, const Standing& at,
                                         double array_bytes) const;

  double request_distinct_ = 0;  // bytes of the fullest request
  double warp_distinct_ = 0;     // of the fullest warp
  double block_distinct_ = 0;    // of all warps
  double block_draws_ = 0;       // random lanes of all warps
};

// 32 B sectors of an array; at least one.
[[nodiscard]] double sectors_of(double array_bytes);

// How many different places `draws` independent draws out of `places` equally likely ones hit on
// average: m (1 - (1 - 1/m)^n).
[[nodiscard]] double expected_different(double draws, double places);

// As many as they hit in all but one of 10^18 launches: one draw changes the number by one at most,
// so it falls short of its mean by more than t with a probability of at most exp(-2 t^2 / n) (C.
// McDiarmid, Surveys in Combinatorics, 1989).
[[nodiscard]] double least_different(double draws, double places);

// The same for a box of the TMA, which one thread per block moves.
[[nodiscard]] double unique_bytes(const kernel::Box& box, const kernel::Kernel& kernel,
                                  const std::vector<double>& trips, double array_bytes);

// Bytes from the first to the last lane's end of one instruction of `lanes` lanes, and on to where
// the next piece may start.
[[nodiscard]] double piece_bytes(const kernel::MemoryAccess& access, std::int64_t lanes);

}  // namespace wavetail::bound
