// SPDX-License-Identifier: Apache-2.0
// The 64 B bursts of DRAM in one word of a page's bitmap of 32 B sectors.
#pragma once

#include <bit>
#include <cstdint>

#include "memory/shape.h"

namespace wavetail::memory {

// One bit (the lower) per pair of sectors that has any bit set.
[[nodiscard]] constexpr std::uint64_t bursts(std::uint64_t sectors) {
  return (sectors | sectors >> 1) & 0x5555555555555555ULL;
}

// All sectors of those bursts.
[[nodiscard]] constexpr std::uint64_t whole_bursts(std::uint64_t sectors) {
  return bursts(sectors) * 3;
}

[[nodiscard]] constexpr std::int64_t bytes_of(std::uint64_t sectors) {
  return std::int64_t{std::popcount(sectors)} * kSectorBytes;
}

}  // namespace wavetail::memory
