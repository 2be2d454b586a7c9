// SPDX-License-Identifier: Apache-2.0
// Division by a number that is fixed for the machine's life (channels, slices, sets): any count
// works, powers of two are not special, and no divide instruction is needed in the hot path.
#pragma once

#include <cstdint>

namespace wavetail::memory {

__extension__ using Wide = unsigned __int128;

class Divider {
 public:
  // 1 <= divisor < 2^20; dividends below 2^44.
  explicit Divider(std::uint64_t divisor = 1) : divisor_(divisor), magic_(~0ULL / divisor + 1) {}

  [[nodiscard]] std::uint64_t quotient(std::uint64_t n) const {
    return divisor_ == 1 ? n : static_cast<std::uint64_t>((static_cast<Wide>(n) * magic_) >> 64);
  }

  [[nodiscard]] std::uint64_t remainder(std::uint64_t n) const {
    return n - quotient(n) * divisor_;
  }

  [[nodiscard]] std::uint64_t divisor() const { return divisor_; }

 private:
  std::uint64_t divisor_, magic_;
};

// A well-mixed 64-bit number from any other (the finaliser of MurmurHash3, Austin Appleby, public
// domain).
constexpr std::uint64_t mix(std::uint64_t x) {
  x ^= x >> 33;
  x *= 0xff51afd7ed558ccdULL;
  x ^= x >> 33;
  x *= 0xc4ceb9fe1a85ec53ULL;
  return x ^ (x >> 33);
}

}  // namespace wavetail::memory
