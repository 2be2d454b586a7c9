// SPDX-License-Identifier: Apache-2.0
// Physical quantities as types: an integer count of one fixed unit, so that bytes cannot be added
// to cycles and no unit is ever guessed.
//
//   Bytes line{128};            Duration d = 30_ns;         Time t = Time{} + d;
//   line * 4 == Bytes{512};     d / 10_ns == 3;             t - Time{} == d;
//
// Duration and Time count picoseconds. Time is a point: points differ by durations and cannot be
// added.
#pragma once

#include <cstdint>

namespace wavetail::unit {

template <class Tag>
class Quantity {
 public:
  constexpr Quantity() = default;

  constexpr explicit Quantity(std::int64_t count) : count_(count) {}

  // The bare number of units (bytes, cycles, picoseconds, hertz, ...: see the alias).
  [[nodiscard]] constexpr std::int64_t count() const { return count_; }

  // Written out, as compilers make better code of these than of the three-way comparison.
  friend constexpr bool operator==(const Quantity&, const Quantity&) = default;

  friend constexpr bool operator<(Quantity a, Quantity b) { return a.count_ < b.count_; }

  friend constexpr bool operator>(Quantity a, Quantity b) { return a.count_ > b.count_; }

  friend constexpr bool operator<=(Quantity a, Quantity b) { return a.count_ <= b.count_; }

  friend constexpr bool operator>=(Quantity a, Quantity b) { return a.count_ >= b.count_; }

  constexpr Quantity& operator+=(Quantity o) {
    count_ += o.count_;
    return *this;
  }

  constexpr Quantity& operator-=(Quantity o) {
    count_ -= o.count_;
    return *this;
  }

  friend constexpr Quantity operator+(Quantity a, Quantity b) {
    return Quantity{a.count_ + b.count_};
  }

  friend constexpr Quantity operator-(Quantity a, Quantity b) {
    return Quantity{a.count_ - b.count_};
  }

  friend constexpr Quantity operator*(Quantity a, std::int64_t n) { return Quantity{a.count_ * n}; }

  friend constexpr Quantity operator*(std::int64_t n, Quantity a) { return Quantity{a.count_ * n}; }

  friend constexpr Quantity operator/(Quantity a, std::int64_t n) { return Quantity{a.count_ / n}; }

  // Whole times b fits in a; as a fraction use ratio().
  friend constexpr std::int64_t operator/(Quantity a, Quantity b) { return a.count_ / b.count_; }

 private:
  std::int64_t count_ = 0;
};

// a / b as a real number; b must not be zero.
template <class Tag>
constexpr double ratio(Quantity<Tag> a, Quantity<Tag> b) {
  return static_cast<double>(a.count()) / static_cast<double>(b.count());
}

struct BytesTag;
struct CyclesTag;
struct DurationTag;
struct HertzTag;
struct BandwidthTag;
struct BytesPerCycleTag;

using Bytes = Quantity<BytesTag>;                  // bytes
using Cycles = Quantity<CyclesTag>;                // edges of one clock; the owner knows which
using Duration = Quantity<DurationTag>;            // picoseconds
using Hertz = Quantity<HertzTag>;                  // 1/s
using Bandwidth = Quantity<BandwidthTag>;          // bytes per second
using BytesPerCycle = Quantity<BytesPerCycleTag>;  // thousandths: 37.5 bytes per cycle = 37500

// A point on the simulated time line, in picoseconds from the start of the run.
class Time {
 public:
  constexpr Time() = default;

  constexpr explicit Time(std::int64_t picoseconds) : ps_(picoseconds) {}

  [[nodiscard]] constexpr std::int64_t picoseconds() const { return ps_; }

  // Written out, as compilers make better code of these than of the three-way comparison.
  friend constexpr bool operator==(const Time&, const Time&) = default;

  friend constexpr bool operator<(Time a, Time b) { return a.ps_ < b.ps_; }

  friend constexpr bool operator>(Time a, Time b) { return a.ps_ > b.ps_; }

  friend constexpr bool operator<=(Time a, Time b) { return a.ps_ <= b.ps_; }

  friend constexpr bool operator>=(Time a, Time b) { return a.ps_ >= b.ps_; }

  constexpr Time& operator+=(Duration d) {
    ps_ += d.count();
    return *this;
  }

  friend constexpr Time operator+(Time t, Duration d) { return Time{t.ps_ + d.count()}; }

  friend constexpr Time operator-(Time t, Duration d) { return Time{t.ps_ - d.count()}; }

  friend constexpr Duration operator-(Time a, Time b) { return Duration{a.ps_ - b.ps_}; }

 private:
  std::int64_t ps_ = 0;
};

constexpr double microseconds(Duration d) { return static_cast<double>(d.count()) * 1e-6; }

constexpr double nanoseconds(Duration d) { return static_cast<double>(d.count()) * 1e-3; }

constexpr double seconds(Duration d) { return static_cast<double>(d.count()) * 1e-12; }

constexpr double gigabytes_per_second(Bandwidth b) { return static_cast<double>(b.count()) * 1e-9; }

constexpr double bytes_per_cycle(BytesPerCycle b) { return static_cast<double>(b.count()) * 1e-3; }

}  // namespace wavetail::unit
