// SPDX-License-Identifier: Apache-2.0
// Numbers with units as people write them: "228 KiB", "3.35 TB/s", "1830 MHz", "262 cycles", "53
// %". Numbers are read as decimal text into whole base units, so nothing is rounded on the way that
// the base unit can hold. Binary (KiB) and decimal (kB) prefixes differ; the space before the unit
// is optional.
//
//   parse_whole("3.35 TB/s", Dimension::DataRate).value == 3'350'000'000'000
//   parse_whole("010", Dimension::Count).reason          == "'010' starts with a zero; write 10"
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "unit/quantity.h"

namespace wavetail::unit {

enum class Dimension : std::uint8_t {
  Count,         // a bare whole number
  Number,        // a bare number
  Size,          // base unit: byte
  CycleCount,    // cycle
  TimeSpan,      // picosecond
  Frequency,     // hertz
  DataRate,      // byte per second
  PortRate,      // thousandth of a byte per cycle
  Percent,       // per cent; as a real number 53 % is 53
  Fraction,      // "53 %" or 0.53; as a real number 0.53
  Power,         // watt
  Energy,        // femtojoule
  FlopRate,      // TFLOP/s
  FlopPerCycle,  // FLOP/clk, the unit may be left out
};

// A value, or the reason why there is none, worded to follow "'path': ".
template <class T>
struct Parsed {
  std::optional<T> value;
  std::string reason;

  explicit operator bool() const { return value.has_value(); }
};

// A decimal number exactly as written: digits / 10^scale.
struct Decimal {
  std::int64_t digits = 0;
  int scale = 0;
};

struct Written {
  Decimal number;
  std::string unit;  // as written, may be empty
};

// Splits "3.35 TB/s" into number and unit without judging the unit.
[[nodiscard]] Parsed<Written> split(std::string_view text);

// Whole base units. Bytes, cycles and counts must come out whole; the continuous dimensions are
// rounded to the nearest base unit (1 ps, 1 Hz, 1 B/s, 0.001 B/clk) where the text is finer than
// that.
[[nodiscard]] Parsed<std::int64_t> parse_whole(std::string_view text, Dimension dimension);

// The same as a real number, in the unit that the dimension names above.
[[nodiscard]] Parsed<double> parse_real(std::string_view text, Dimension dimension);

// The unit names that a dimension takes, smallest first.
[[nodiscard]] std::vector<std::string> unit_names(Dimension dimension);

template <class Q>
struct DimensionOf;

template <>
struct DimensionOf<std::int64_t> {
  static constexpr Dimension value = Dimension::Count;
};

template <>
struct DimensionOf<Bytes> {
  static constexpr Dimension value = Dimension::Size;
};

template <>
struct DimensionOf<Cycles> {
  static constexpr Dimension value = Dimension::CycleCount;
};

template <>
struct DimensionOf<Duration> {
  static constexpr Dimension value = Dimension::TimeSpan;
};

template <>
struct DimensionOf<Hertz> {
  static constexpr Dimension value = Dimension::Frequency;
};

template <>
struct DimensionOf<Bandwidth> {
  static constexpr Dimension value = Dimension::DataRate;
};

template <>
struct DimensionOf<BytesPerCycle> {
  static constexpr Dimension value = Dimension::PortRate;
};

// A quantity by its type: parse<Bytes>("228 KiB").
template <class Q>
[[nodiscard]] Parsed<Q> parse(std::string_view text) {
  const auto whole = parse_whole(text, DimensionOf<Q>::value);
  if (!whole) { return {std::nullopt, whole.reason}; }
  return {Q{*whole.value}, {}};
}

}  // namespace wavetail::unit
