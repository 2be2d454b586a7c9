// SPDX-License-Identifier: Apache-2.0
#include "memory/l2_directory.h"

#include <gtest/gtest.h>

#include <array>
#include <bit>
#include <map>

#include "memory/l2.h"

namespace wavetail::memory {
namespace {

using Range = L2Directory::Range;

// A range of fewer pages than are held is looked up page by page, a larger one by going through the
// directory: the answers are the same.
TEST(L2Directory, FindsSmallRangesAsLargeOnes) {
  L2Directory l2(1 << 16);
  for (std::int64_t n = 0; n < 100; ++n) {
    const std::uint64_t bit = 1ULL << (n % 64);
    l2.restore({n * 37 % 100, {bit, 0}, {n % 2 == 0 ? 0 : bit, 0}});
  }
  const auto pages = l2.pages_within({{0, 1 << 30}});
  ASSERT_EQ(pages.size(), 100U);
  std::size_t seen = 0;
  for (std::int64_t first = 0; first < 100; first += 10) {
    for (const auto& p : l2.pages_within({{first, first + 10}})) {
      ASSERT_EQ(p.page, pages[seen].page);
      EXPECT_EQ(p.valid, pages[seen].valid);
      EXPECT_EQ(p.dirty, pages[seen++].dirty);
    }
  }
  EXPECT_EQ(seen, 100U);
  EXPECT_EQ(l2.lines(), 100);
  EXPECT_EQ(l2.dirty_sectors(), 50);
}

// What is put back is evicted in the order in which it would have been.
TEST(L2Directory, SnapshotsKeepTheOrder) {
  const auto fill = [](L2Directory& l2) {
    for (std::int64_t page = 0; page < 16; ++page) {
      const std::uint32_t frame = l2.find_or_claim(page);
      for (int word = 0; word < 2; ++word) { l2.install(frame, word, ~0ULL, 0); }
    }
  };
  const auto survivors = [](L2Directory& l2) {
    const std::uint32_t frame = l2.find_or_claim(1000);
    for (int word = 0; word < 2; ++word) { l2.install(frame, word, ~0ULL, 0); }
    l2.shrink(frame, [](std::int64_t, const Sectors&) {});
    std::map<std::int64_t, std::int64_t> lines;
    for (const auto& p : l2.pages_within({{0, 16}})) { lines[p.page] += lines_of(p.valid); }
    return lines;
  };
  L2Directory first(512), second(512);
  fill(first);
  for (const auto& state : first.pages_within({{0, 16}})) { second.restore(state); }
  const auto left = survivors(first);
  EXPECT_EQ(left, survivors(second));
  EXPECT_EQ(left.count(0), 0U);
  EXPECT_EQ(left.at(15), kLinesPerPage);
}

// Lines without a page take room as others do: the oldest leave for them, and they for newer ones.
TEST(L2Directory, UnnamedLinesTakeRoom) {
  L2Directory l2(512);
  for (std::int64_t page = 0; page < 8; ++page) { l2.restore({page, {~0ULL, ~0ULL}, {}}); }
  l2.add_unnamed(384);
  EXPECT_LE(l2.lines(), 512);
  EXPECT_EQ(l2.held(0)[0], 0U);
  EXPECT_NE(l2.held(7)[0], 0U);
  for (std::int64_t page = 100; page < 120; ++page) { l2.restore({page, {~0ULL, ~0ULL}, {}}); }
  EXPECT_EQ(l2.held(7)[0], 0U);
  EXPECT_LE(l2.lines(), 512);
  std::int64_t named = 0;
  for (const auto& p : l2.pages_within({{0, 1000}})) { named += lines_of(p.valid); }
  EXPECT_EQ(l2.lines(), named);  // the unnamed ones are gone
}

// Lines that are used over and over do not make what else is there any older.
TEST(L2Directory, AFewHotLinesAgeNobody) {
  L2Directory l2(512);
  for (std::int64_t page = 0; page < 16; ++page) { l2.restore({page, {~0ULL, ~0ULL}, {}}); }
  for (int n = 0; n < 1000; ++n) {
    for (const std::int64_t page : {2, 3, 4}) {
      for (int word = 0; word < 2; ++word) { l2.touch(l2.find_or_claim(page), word, ~0ULL); }
    }
  }
  EXPECT_EQ(l2.lines(), 512);
  l2.restore({100, {0xf, 0}, {}});
  EXPECT_GT(l2.lines(), 512 - 3 * 512 / 12);
  EXPECT_EQ(l2.held(0)[0], 0U);
  EXPECT_EQ(l2.held(15)[1], ~0ULL);
  EXPECT_EQ(l2.held(2)[0], ~0ULL);
}

// A machine whose time begins anew finds what another one's fills have brought.
TEST(L2Directory, FillsHaveLandedForAnotherMachine) {
  L2Directory d(1024);
  const std::uint32_t frame = d.find_or_claim(7);
  d.set_ready(frame, 0, unit::Time{} + unit::Duration{5'000'000});
  EXPECT_GT(d.ready(frame, 0), unit::Time{});
  d.land();
  EXPECT_EQ(d.ready(frame, 0), unit::Time{});
}

TEST(L2Directory, ForgetsWhatWasWrittenElsewhere) {
  L2Directory l2(512);
  const std::uint32_t frame = l2.find_or_claim(5);
  l2.install(frame, 0, 0xff, 0x0f);
  l2.invalidate(5, {0xf0, 0});
  EXPECT_EQ(l2.held(5)[0], 0x0fU);
  EXPECT_EQ(l2.lines(), 1);
  EXPECT_EQ(l2.dirty_sectors(), 4);
  l2.invalidate(5, {0x0f, 0});
  EXPECT_EQ(l2.lines(), 0);
  EXPECT_EQ(l2.dirty_sectors(), 0);
  EXPECT_TRUE(l2.pages_within({{0, 100}}).empty());
}

TEST(L2, HalfOfEveryRangeIsAtHomeInEachPartition) {
  const L2 l2(1 << 14, 2);
  for (const std::int64_t first : {0, 1024, 77'776}) {
    std::int64_t there = 0;
    for (std::int64_t page = first; page < first + 64; ++page) {
      there += static_cast<std::int64_t>(l2.home_of(page));
    }
    EXPECT_EQ(there, 32) << first;
  }
}

// A line that is held twice counts once, a copy of what home has lost counts too.
TEST(L2, TheCensusCountsLinesOnce) {
  L2 l2(1 << 14, 2);
  for (std::int64_t page = 0; page < 10; ++page) {
    l2.restore({{page, {0xffff, 0}, {}}, 0});
    l2.restore({{page, {0xff, 0xf}, {}}, 1});
  }
  const auto census = l2.census({{0, 4}, {4, 10}});
  EXPECT_EQ(census[0].lines, 4 * 5);
  EXPECT_EQ(census[1].lines, 6 * 5);
  EXPECT_EQ(l2.lines(), 10 * (4 + 3));
}

// Pages that go round the sets fill them evenly; of scattered ones some sets get too many long
// before the cache is full.
TEST(L2Directory, ScatteredPagesDoNotFillItEvenly) {
  constexpr std::int64_t kPages = 4096;
  const auto kept = [](L2Directory::Sets sets, std::int64_t pages) {
    L2Directory cache(kPages * kLinesPerPage, 1, sets);
    for (std::int64_t page = 0; page < pages; ++page) {
      cache.restore({page, {~0ULL, ~0ULL}, {0, 0}});
    }
    return static_cast<double>(cache.lines()) / static_cast<double>(pages * kLinesPerPage);
  };
  constexpr auto kScattered = L2Directory::Sets::Scattered;
  EXPECT_EQ(kept(L2Directory::Sets::InTurn, kPages), 1);
  EXPECT_GT(kept(kScattered, kPages / 2), 0.99);
  EXPECT_LT(kept(kScattered, kPages * 85 / 100), 0.98);
  EXPECT_LT(kept(kScattered, kPages), 0.93);
}

TEST(L2Directory, CleaningReportsEveryDirtySectorOnce) {
  L2Directory l2(1 << 12);
  std::int64_t dirty = 0;
  for (std::int64_t page = 0; page < 40; ++page) {
    const std::uint64_t bits = 0x0f0fULL << page;
    l2.restore({page, {bits, bits}, {page % 3 == 0 ? bits : 0, 0}});
    dirty += page % 3 == 0 ? std::popcount(bits) : 0;
  }
  ASSERT_EQ(l2.dirty_sectors(), dirty);
  const std::int64_t lines = l2.lines();
  std::int64_t reported = 0;
  const auto count = [&](std::int64_t page, const Sectors& sectors) {
    EXPECT_EQ(page % 3, 0);
    reported += sectors_of(sectors);
  };
  l2.clean(count);
  EXPECT_EQ(reported, dirty);
  EXPECT_EQ(l2.dirty_sectors(), 0);
  EXPECT_EQ(l2.lines(), lines);
  l2.clean(count);
  EXPECT_EQ(reported, dirty);
}

// The cache beyond private partitions is the home of all pages; a line that several hold counts
// once, and what a snapshot has goes back to where it was.
TEST(L2, PrivatePartitionsHaveOneHomeBeyondThem) {
  const auto fill = [](L2& l2) {
    for (const std::uint64_t side : std::array<std::uint64_t, 3>{0, 2, l2.memory_side()}) {
      l2.partition(side).restore({7, {side == 2 ? 0xffULL : 0x0fULL, 0}, {0, 0}});
    }
  };
  L2 l2(4096, 3, 8192);
  ASSERT_TRUE(l2.has_memory_side());
  EXPECT_EQ(l2.partitions(), 4U);
  EXPECT_EQ(l2.capacity_lines(), 4096 + 8192);
  fill(l2);
  for (std::int64_t page = 0; page < 100; ++page) {
    EXPECT_EQ(l2.home_of(page), l2.memory_side());
    EXPECT_EQ(l2.home_for(2, page), 2U);
  }
  EXPECT_EQ(l2.lines(), 1 + 2 + 1);
  EXPECT_EQ(l2.census({{0, 10}})[0].lines, 2);
  L2 copy(4096, 3, 8192);
  for (const L2::PageState& state : l2.pages_within({{0, 10}})) { copy.restore(state); }
  for (std::uint64_t side = 0; side < 4; ++side) {
    EXPECT_EQ(copy.partition(side).held(7), l2.partition(side).held(7)) << side;
  }
}

}  // namespace
}  // namespace wavetail::memory
