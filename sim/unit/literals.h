// SPDX-License-Identifier: Apache-2.0
// Literals for tests and for constants that are definitions, not physics: 64_KiB, 14_cycles, 30_ns.
#pragma once

#include "unit/quantity.h"

namespace wavetail::unit::literals {

constexpr Bytes operator""_B(unsigned long long n) { return Bytes{static_cast<std::int64_t>(n)}; }

constexpr Bytes operator""_KiB(unsigned long long n) {
  return Bytes{static_cast<std::int64_t>(n) << 10};
}

constexpr Bytes operator""_MiB(unsigned long long n) {
  return Bytes{static_cast<std::int64_t>(n) << 20};
}

constexpr Bytes operator""_GiB(unsigned long long n) {
  return Bytes{static_cast<std::int64_t>(n) << 30};
}

constexpr Cycles operator""_cycles(unsigned long long n) {
  return Cycles{static_cast<std::int64_t>(n)};
}

constexpr Duration operator""_ps(unsigned long long n) {
  return Duration{static_cast<std::int64_t>(n)};
}

constexpr Duration operator""_ns(unsigned long long n) {
  return Duration{static_cast<std::int64_t>(n) * 1'000};
}

constexpr Duration operator""_us(unsigned long long n) {
  return Duration{static_cast<std::int64_t>(n) * 1'000'000};
}

constexpr Duration operator""_ms(unsigned long long n) {
  return Duration{static_cast<std::int64_t>(n) * 1'000'000'000};
}

constexpr Hertz operator""_MHz(unsigned long long n) {
  return Hertz{static_cast<std::int64_t>(n) * 1'000'000};
}

}  // namespace wavetail::unit::literals
