// SPDX-License-Identifier: Apache-2.0
#include "memory/l1.h"

#include <gtest/gtest.h>

namespace wavetail::memory {
namespace {

using Fills = std::vector<std::uint32_t>;

constexpr Duration kAge{1000};
constexpr std::int64_t kBin = 8192;  // places among the lines that wait come back in whole bins

// Looks up and, where something is missing, has it come with `request`.
L1::Lookup ask(L1& l1, std::int64_t line, std::uint8_t sectors, std::int64_t now,
               std::uint32_t request, Fills& fills) {
  const L1::Lookup found = l1.find(line, sectors, Time{now}, fills);
  if (found.miss != 0) { l1.await(found, request); }
  return found;
}

L1::Lookup ask(L1& l1, std::int64_t line, std::uint8_t sectors, std::int64_t now,
               std::uint32_t request = 7) {
  Fills fills;
  return ask(l1, line, sectors, now, request, fills);
}

// A line is found again wherever in the address space it lies, and taken for no other.
TEST(L1, TellsTheWholeAddressSpaceApart) {
  L1 l1({.lines = 4, .ways = 4, .age = kAge}, 1);  // one set
  for (int bit = 0; bit < kAddressBits - 7; ++bit) {
    l1.invalidate();
    const std::int64_t line = std::int64_t{1} << bit;
    EXPECT_EQ(ask(l1, line, 15, 0).miss, 15);
    l1.due(line, 7, Time{100});
    EXPECT_EQ(ask(l1, line, 15, 200).hit, 15) << "bit " << bit;
    EXPECT_EQ(ask(l1, 0, 15, 200).miss, 15) << "bit " << bit;
  }
}

// What was there before an L1 was emptied never comes back, however often that happens.
TEST(L1, ForgetsForEver) {
  L1 l1({.lines = 4, .ways = 4, .age = kAge}, 1);
  EXPECT_EQ(ask(l1, 3, 15, 0).miss, 15);
  l1.due(3, 7, Time{100});
  for (int n = 0; n < 1 << 17; ++n) {
    l1.invalidate();
    ASSERT_EQ(ask(l1, 5, 1, 200).hit, 0);
  }
}

// Sectors of one line come by several fills: each is waited for by whoever wants its sectors, and
// the line stays until the last one is there.
TEST(L1, SeveralFillsOfOneLine) {
  L1 l1({.lines = 1, .ways = 1, .age = kAge}, 1);
  EXPECT_EQ(ask(l1, 3, 0b0001, 0, 10).miss, 0b0001);
  EXPECT_EQ(ask(l1, 3, 0b0110, 1, 11).miss, 0b0110);
  Fills fills;
  const L1::Lookup both = ask(l1, 3, 0b1111, 2, 12, fills);
  EXPECT_EQ(both.pending, 0b0111);
  EXPECT_EQ(both.miss, 0b1000);
  EXPECT_EQ(fills, (Fills{10, 11}));
  l1.due(3, 11, Time{50});
  fills.clear();
  const L1::Lookup later = ask(l1, 3, 0b0111, 60, 0, fills);
  EXPECT_EQ(later.hit, 0b0110);
  EXPECT_EQ(later.pending, 0b0001);
  EXPECT_EQ(fills, (Fills{10}));
  EXPECT_EQ(ask(l1, 4, 1, 60).way, -1);  // line 3 is pinned
  l1.due(3, 10, Time{70});
  l1.due(3, 12, Time{90});
  EXPECT_EQ(ask(l1, 3, 0b1000, 80).ready, Time{90});
  EXPECT_EQ(ask(l1, 4, 1, 80).way, -1);
  EXPECT_EQ(ask(l1, 3, 0b1111, 100).hit, 0b1111);
  EXPECT_GE(ask(l1, 4, 1, kBin).way, 0);
}

// A quarter of eight lines may wait: a third one finds no place, nor do missing sectors of a line
// that is there; further sectors of one that waits do.
TEST(L1, OnlySoManyLinesWait) {
  L1 l1({.lines = 8, .ways = 8, .age = kAge, .pending = 0.25}, 1);
  EXPECT_GE(ask(l1, 1, 1, 0, 10).way, 0);
  l1.due(1, 10, Time{1});
  EXPECT_GE(ask(l1, 2, 1, kBin, 11).way, 0);
  EXPECT_GE(ask(l1, 3, 1, kBin, 12).way, 0);
  const L1::Lookup fourth = ask(l1, 4, 1, kBin, 13);
  EXPECT_EQ(fourth.miss, 1);
  EXPECT_EQ(fourth.way, -1);
  EXPECT_EQ(ask(l1, 4, 1, kBin, 14).miss, 1) << "nothing is known of it";
  EXPECT_EQ(ask(l1, 1, 1, kBin).hit, 1);
  EXPECT_EQ(ask(l1, 1, 2, kBin, 15).way, -1);
  EXPECT_GE(ask(l1, 2, 2, kBin, 16).way, 0);
  l1.due(2, 11, Time{kBin});
  EXPECT_EQ(ask(l1, 4, 1, 3 * kBin, 17).way, -1) << "its other fill is still on its way";
  l1.due(2, 16, Time{3 * kBin});
  EXPECT_GE(ask(l1, 4, 1, 5 * kBin, 18).way, 0);
  l1.resize(4);  // one line may wait
  EXPECT_GE(ask(l1, 5, 1, 6 * kBin, 19).way, 0);
  EXPECT_EQ(ask(l1, 6, 1, 6 * kBin, 20).way, -1);
}

// The line that was used least recently leaves, if times of use are far enough apart.
TEST(L1, TheOldestLineLeaves) {
  for (std::uint64_t seed = 1; seed <= 8; ++seed) {
    L1 l1({.lines = 4, .ways = 4, .age = kAge}, seed);
    for (std::int64_t line = 1; line <= 4; ++line) {
      EXPECT_GE(ask(l1, line, 15, line * 2000).way, 0);
      l1.due(line, 7, Time{line * 2000 + 1});
    }
    EXPECT_EQ(ask(l1, 1, 15, 10'000).hit, 15);
    EXPECT_GE(ask(l1, 5, 15, 12'000).way, 0);
    for (const std::int64_t line : {1, 3, 4}) { EXPECT_EQ(ask(l1, line, 15, 12'000).hit, 15); }
    EXPECT_EQ(ask(l1, 2, 15, 12'000).hit, 0);
  }
}

// Share of hits in a set of lines that is read round after round, a line every microsecond.
double hits_of_rounds(std::int64_t lines, Duration age) {
  L1 l1({.lines = 2048, .ways = 32, .age = age}, 1);
  std::int64_t now = 0, hits = 0;
  constexpr std::int64_t kRounds = 12, kWarm = 4;
  for (std::int64_t round = 0; round < kRounds; ++round) {
    for (std::int64_t i = 0; i < lines; ++i) {
      now += 1'000'000;
      const bool hit = ask(l1, i, 1, now).hit != 0;
      if (!hit) { l1.due(i, 7, Time{now}); }
      hits += round >= kWarm && hit ? 1 : 0;
    }
  }
  return static_cast<double>(hits) / static_cast<double>((kRounds - kWarm) * lines);
}

// A set that is a little too large hits in the sets that do not overflow, if ages are told apart;
// else each line has the same chance.
TEST(L1, RoundsThroughASet) {
  const Duration fine{1000}, none{INT64_MAX};
  for (const Duration age : {fine, none}) { EXPECT_GT(hits_of_rounds(2048 * 6 / 10, age), 0.98); }
  EXPECT_NEAR(hits_of_rounds(2048 * 12 / 10, fine), 0.13, 0.05);
  EXPECT_NEAR(hits_of_rounds(2048 * 12 / 10, none), 0.67, 0.06);
  EXPECT_LT(hits_of_rounds(2048 * 2, fine), 0.001);
  EXPECT_GT(hits_of_rounds(2048 * 2, none), 0.1);
}

}  // namespace
}  // namespace wavetail::memory
