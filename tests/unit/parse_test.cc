// SPDX-License-Identifier: Apache-2.0
#include "unit/parse.h"

#include <gtest/gtest.h>

#include "unit/literals.h"
#include "unit/print.h"

namespace wavetail::unit {
namespace {

using namespace literals;

TEST(Parse, EveryDimensionInItsUnits) {
  EXPECT_EQ(parse<Bytes>("228 KiB").value, 228_KiB);
  EXPECT_EQ(parse<Bytes>("228KiB").value, 228_KiB);
  EXPECT_EQ(parse<Bytes>("1.5 kB").value, 1500_B);
  EXPECT_EQ(parse<Bytes>("80 GB").value, Bytes{80'000'000'000});
  EXPECT_EQ(parse<Bandwidth>("3.352 TB/s").value, Bandwidth{3'352'000'000'000});
  EXPECT_EQ(parse<Hertz>("1830 MHz").value, 1830_MHz);
  EXPECT_EQ(parse<Cycles>("262 cycles").value, 262_cycles);
  EXPECT_EQ(parse<Cycles>("1 cycle").value, 1_cycles);
  EXPECT_EQ(parse<Duration>("4.65 ns").value, 4650_ps);
  EXPECT_EQ(parse<Duration>("0.8 ms").value, 800_us);
  EXPECT_EQ(parse<BytesPerCycle>("37.5 B/clk").value, BytesPerCycle{37'500});
  EXPECT_EQ(parse<std::int64_t>("-12").value, -12);
  EXPECT_EQ(parse_real("53 %", Dimension::Percent).value, 53.0);
  EXPECT_EQ(parse_real("53 %", Dimension::Fraction).value, 0.53);
  EXPECT_EQ(parse_real("0.53", Dimension::Fraction).value, 0.53);
  EXPECT_EQ(parse_real("700 W", Dimension::Power).value, 700.0);
  EXPECT_EQ(parse_real("4096", Dimension::FlopPerCycle).value, 4096.0);
}

TEST(Parse, LargeIntegersAreExact) {
  EXPECT_EQ(parse<std::int64_t>("999999999999999999").value, 999'999'999'999'999'999);
  EXPECT_EQ(parse<Bytes>("9007199254740993 B").value,
            Bytes{9'007'199'254'740'993});  // not a double
  EXPECT_EQ(parse<Duration>("9000000.000000000001 s").reason,
            "'9000000.000000000001 s' has more than 18 digits");
}

TEST(Parse, FinerThanTheBaseUnit) {
  EXPECT_EQ(parse<Duration>("0.0014 ns").value, 1_ps);  // rounded: time is continuous
  EXPECT_EQ(parse<Duration>("0.0015 ns").value, 2_ps);
  EXPECT_EQ(parse<Bytes>("1.5 B").reason, "a whole number of bytes is needed; found '1.5 B'");
  EXPECT_EQ(parse<Cycles>("1.5 cycles").reason,
            "a whole number of cycles is needed; found '1.5 cycles'");
  EXPECT_EQ(parse<std::int64_t>("1.5").reason, "a whole number is needed; found '1.5'");
  EXPECT_EQ(parse<std::int64_t>("2.0").value, 2);
}

TEST(Parse, RefusesWhatOtherReadersGuessAt) {
  const auto reason = [](std::string_view text) { return parse<std::int64_t>(text).reason; };
  EXPECT_EQ(reason("010"), "'010' starts with a zero; write 10");
  EXPECT_EQ(reason("000"), "'000' starts with a zero; write 0");
  EXPECT_EQ(reason("0x10"), "'0x10': only decimal numbers are read");
  EXPECT_EQ(reason("1e3"), "'1e3': exponents are not read; write the number out");
  EXPECT_EQ(reason("nan"), "'nan' is not a number");
  EXPECT_EQ(reason("inf"), "'inf' is not a number");
  EXPECT_EQ(reason(""), "'' is not a number");
  EXPECT_EQ(reason(".5"), "'.5' is not a number");
  EXPECT_EQ(reason("5."), "'5.': digits are needed after the point");
  EXPECT_EQ(reason("1_000"), "'1_000' is not one number");
  EXPECT_EQ(reason("1,5"), "'1,5' is not one number");
  EXPECT_EQ(reason("1 2"), "'1 2' is not one number");
  EXPECT_EQ(reason("--1"), "'--1' is not a number");
  EXPECT_EQ(reason("12 GB"), "a bare number is needed; found '12 GB'");
  EXPECT_EQ(reason("9999999999999999999"), "'9999999999999999999' has more than 18 digits");
}

TEST(Parse, UnitsAreNeverGuessed) {
  EXPECT_EQ(parse<Hertz>("2619").reason,
            "a unit is needed (one of: Hz, kHz, MHz, GHz); found '2619'");
  EXPECT_EQ(parse<Hertz>("5 ns").reason,
            "the unit 'ns' does not fit here (one of: Hz, kHz, MHz, GHz)");
  EXPECT_EQ(parse<Bytes>("5 kb").reason,
            "the unit 'kb' does not fit here (one of: B, kB, KiB, MB, MiB, GB, GiB, TB, TiB)");
  EXPECT_EQ(parse<Duration>("0").reason,
            "a unit is needed, for zero too (one of: ps, ns, us, ms, s)");
  EXPECT_EQ(parse<Bytes>("9000000000 TiB").reason, "'9000000000 TiB' is too large");
}

TEST(Print, TheShortestExactSpelling) {
  EXPECT_EQ(print(228_KiB), "228 KiB");
  EXPECT_EQ(print(Bytes{80'000'000'000}), "80 GB");
  EXPECT_EQ(print(Bytes{0}), "0 B");
  EXPECT_EQ(print(Bytes{1000}), "1 kB");
  EXPECT_EQ(print(Bytes{1}), "1 B");
  EXPECT_EQ(print(1830_MHz), "1830 MHz");
  EXPECT_EQ(print(Duration{12500}), "12.5 ns");
  EXPECT_EQ(print(Duration{-12500}), "-12.5 ns");
  EXPECT_EQ(print(1_cycles), "1 cycle");
  EXPECT_EQ(print(262_cycles), "262 cycles");
  EXPECT_EQ(print(BytesPerCycle{37'500}), "37.5 B/clk");
  EXPECT_EQ(print_real(0.5), "0.5");
  EXPECT_EQ(print_real(1234567.0), "1234567");
  EXPECT_EQ(print_real(0.000123456789), "0.000123457");
  EXPECT_EQ(print_real(0), "0");
}

template <class Q>
void expect_round_trip(std::int64_t count) {
  EXPECT_EQ(parse<Q>(print(Q{count})).value, Q{count}) << print(Q{count});
}

TEST(Print, ReadingItBackGivesTheSameQuantity) {
  std::uint64_t state = 1;
  for (int i = 0; i < 5000; ++i) {
    state = state * 6364136223846793005ULL + 1442695040888963407ULL;
    const auto count = static_cast<std::int64_t>(state >> (6 + i % 57));  // at most 18 digits
    expect_round_trip<Bytes>(count);
    expect_round_trip<Duration>(count);
    expect_round_trip<Hertz>(count);
    expect_round_trip<Bandwidth>(count);
    expect_round_trip<Cycles>(count);
    expect_round_trip<BytesPerCycle>(count);
  }
}

}  // namespace
}  // namespace wavetail::unit
