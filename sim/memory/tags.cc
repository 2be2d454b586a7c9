// SPDX-License-Identifier: Apache-2.0
#include "memory/tags.h"

#include <algorithm>
#include <bit>

namespace wavetail::memory {

TagBanks::TagBanks(std::int64_t banks)
    : digit_(std::countr_zero(static_cast<std::uint64_t>(banks))),
      first_shift_(digit_),
      mask_(static_cast<std::uint64_t>(banks) - 1) {
  while (2 * first_shift_ < kAddressBits && digit_ > 0) { first_shift_ *= 2; }
  Shape run;
  for (int begin = 0; begin < kPiece; ++begin) {
    for (run.lines = 0; begin + run.lines <= kPiece; ++run.lines) {
      runs_[static_cast<std::size_t>(begin)]
           [static_cast<std::size_t>(run.lines)] = static_cast<std::uint8_t>(count(run, begin));
      run.delta[static_cast<std::size_t>(run.lines)] = run.lines;
    }
  }
}

// Lines that share their upper digits have their banks renamed by these, no more.
int TagBanks::wavefronts(const Shape& shape, std::int64_t base) const {
  if (shape.lines <= 1) { return shape.lines; }
  if (shape.dense) {
    const std::int64_t begin = (base + shape.delta[0]) % kPiece;
    if (begin + shape.lines <= kPiece) {
      return runs_[static_cast<std::size_t>(begin)][static_cast<std::size_t>(shape.lines)];
    }
  }
  return count(shape, base);
}

int TagBanks::count(const Shape& shape, std::int64_t base) const {
  std::array<std::uint8_t, kMostBanks> held{};
  int most = 0;
  for (int i = 0; i < shape.lines; ++i) {
    const auto b = static_cast<std::size_t>(bank(base + shape.delta[static_cast<std::size_t>(i)]));
    most = std::max<int>(most, ++held[b]);
  }
  return most;
}

}  // namespace wavetail::memory
