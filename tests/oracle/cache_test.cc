// SPDX-License-Identifier: Apache-2.0
// The caches' directories against slow, obvious ones: the L2 by pages against a set-associative LRU
// by lines, the L1 against a map that never evicts.
#include <gtest/gtest.h>

#include <list>
#include <map>
#include <random>
#include <set>

#include "memory/l1.h"
#include "memory/l2_directory.h"
#include "memory/shape.h"

namespace wavetail::memory {
namespace {

// Sixteen ways, least recently used line first; lines go round the sets.
class SetAssociative {
 public:
  explicit SetAssociative(std::int64_t lines) : sets_(static_cast<std::size_t>(lines) / kWays) {}

  bool access(std::int64_t line) {
    std::list<std::int64_t>& set = sets_[static_cast<std::size_t>(line) % sets_.size()];
    const auto found = std::find(set.begin(), set.end(), line);
    const bool hit = found != set.end();
    if (hit) { set.erase(found); }
    set.push_back(line);
    if (set.size() > kWays) { set.pop_front(); }
    return hit;
  }

 private:
  static constexpr std::size_t kWays = 16;
  std::vector<std::list<std::int64_t>> sets_;
};

// The directory, asked for whole lines.
class ByPage {
 public:
  explicit ByPage(std::int64_t lines) : directory_(lines) {}

  bool access(std::int64_t line) {
    const std::uint32_t frame = directory_.find_or_claim(line / kLinesPerPage);
    const auto word = static_cast<int>(line % kLinesPerPage / 16);
    const std::uint64_t sectors = 0xfULL << (line % 16 * 4);
    const bool hit = (directory_.valid(frame)[static_cast<std::size_t>(word)] & sectors) == sectors;
    directory_.touch(frame, word, sectors);
    directory_.install(frame, word, sectors, 0);
    directory_.shrink(frame, [](std::int64_t, const Sectors&) {});
    EXPECT_LE(directory_.lines(), directory_.capacity_lines());
    return hit;
  }

 private:
  L2Directory directory_;
};

constexpr std::int64_t kLines = 16'384;  // 2 MiB

struct Hits {
  double pages = 0, sets = 0;  // shares of all accesses
};

template <class Next>
Hits hit_rates(std::int64_t accesses, Next&& next) {
  ByPage by_page(kLines);
  SetAssociative by_set(kLines);
  Hits hits;
  for (std::int64_t n = 0; n < accesses; ++n) {
    const std::int64_t line = next(n);
    hits.pages += by_page.access(line) ? 1 : 0;
    hits.sets += by_set.access(line) ? 1 : 0;
  }
  hits.pages /= static_cast<double>(accesses);
  hits.sets /= static_cast<double>(accesses);
  return hits;
}

TEST(L2, AStreamThatFitsHitsFromTheSecondRoundOn) {
  for (const std::int64_t share : {4, 8, 12, 15}) {
    const std::int64_t lines = kLines / 16 * share;
    const Hits h = hit_rates(8 * lines, [&](std::int64_t n) { return n % lines; });
    EXPECT_EQ(h.pages, h.sets) << share << "/16";
    EXPECT_EQ(h.pages, 7.0 / 8) << share << "/16";
  }
}

TEST(L2, AStreamThatDoesNotFitNeverHits) {
  for (const std::int64_t percent : {110, 150, 400}) {
    const std::int64_t lines = kLines * percent / 100;
    const Hits h = hit_rates(4 * lines, [&](std::int64_t n) { return n % lines; });
    EXPECT_NEAR(h.pages, h.sets, 0.02) << percent << " %";
  }
}

// Two streams, one of which comes back soon: an operand that is reused beside one that is not.
TEST(L2, AReusedArrayBesideAStreamedOne) {
  const std::int64_t reused = kLines / 4;
  const Hits h = hit_rates(
      20 * kLines, [&](std::int64_t n) { return n % 2 == 0 ? n / 2 % reused : (1 << 20) + n / 2; });
  EXPECT_NEAR(h.pages, h.sets, 0.02);
  EXPECT_GT(h.sets, 0.4);
}

// A cycle through all lines in an order in which neighbours are far apart, as a pointer chase goes:
// sets that hold one line too many miss all of theirs.
TEST(L2, AChaseInScatteredOrderMissesAsSetsOverflow) {
  for (const std::int64_t percent : {90, 103, 104, 130}) {
    const std::int64_t lines = kLines * percent / 100 / 32 * 32;
    const Hits h = hit_rates(6 * lines, [&](std::int64_t n) { return n % lines * 7919 % lines; });
    EXPECT_NEAR(h.pages, h.sets, 0.06) << percent << " %";
  }
}

// Random lines within a range: pages hold as many of a range's lines as lines would.
TEST(L2, RandomLinesHitAsOftenAsTheRangeFits) {
  for (const std::int64_t percent : {50, 90, 150, 300}) {
    const std::int64_t lines = kLines * percent / 100;
    std::mt19937_64 random(11);
    const Hits h = hit_rates(30 * kLines, [&](std::int64_t) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(lines));
    });
    EXPECT_NEAR(h.pages, h.sets, 0.06) << percent << " %";
  }
}

// Without evictions an L1 is a map of sectors: present, on their way, or missing. Of a fill it is
// first known which request brings it, then when it will be there.
TEST(L1, IsAMapWhereNothingIsEvicted) {
  std::mt19937_64 random(3);
  constexpr std::int64_t kSets = 64;
  L1 l1({.lines = kSets * 16, .ways = 16, .age = Duration{1}}, 5);

  struct Fill {
    std::int64_t line;
    std::uint8_t sectors;
    std::int64_t due = INT64_MAX;
  };

  std::map<std::uint32_t, Fill> sent;  // by request
  std::vector<std::uint32_t> under_way, waits_for;
  std::map<std::int64_t, std::vector<std::uint32_t>> of_line;
  int seen_ready = 0;
  for (std::int64_t now = 0; now < 100'000; ++now) {
    const auto line = static_cast<std::int64_t>(random() % 200);  // of 1024: no set overflows
    if (random() % 3 == 0 && !under_way.empty()) {
      const std::size_t which = random() % under_way.size();
      Fill& f = sent[under_way[which]];
      f.due = now + static_cast<std::int64_t>(random() % 2000);
      l1.due(f.line, under_way[which], Time{f.due});
      under_way.erase(under_way.begin() + static_cast<std::ptrdiff_t>(which));
      continue;
    }
    if (random() % 2000 == 0) {  // nothing lasts for ever
      l1.invalidate(), of_line.clear(), under_way.clear();
    }
    const auto wanted = static_cast<std::uint8_t>(1 + random() % 15);
    std::uint8_t valid = 0, pending = 0;
    std::int64_t ready = 0;
    std::set<std::uint32_t> unknown;
    for (const std::uint32_t request : of_line[line]) {
      const Fill& f = sent[request];
      (f.due <= now ? valid : pending) |= f.sectors;
      if (f.due <= now || (f.sectors & wanted) == 0) { continue; }
      if (f.due == INT64_MAX) {
        unknown.insert(request);
      } else {
        ready = std::max(ready, f.due);
      }
    }
    waits_for.clear();
    const L1::Lookup found = l1.find(line, wanted, Time{now}, waits_for);
    ASSERT_EQ(found.hit, wanted & valid);
    ASSERT_EQ(found.pending, wanted & pending);
    ASSERT_EQ(found.miss, wanted & ~(valid | pending));
    ASSERT_EQ(std::set<std::uint32_t>(waits_for.begin(), waits_for.end()), unknown);
    ASSERT_EQ(found.ready, Time{ready});
    seen_ready += ready > 0 ? 1 : 0;
    if (found.miss == 0) { continue; }
    ASSERT_GE(found.way, 0);
    const auto request = static_cast<std::uint32_t>(sent.size());
    sent[request] = {line, found.miss};
    of_line[line].push_back(request);
    under_way.push_back(request);
    l1.await(found, request);
  }
  EXPECT_GT(seen_ready, 1000);
}

TEST(L1, ForgetsEverythingWhenAKernelStarts) {
  L1 l1({.lines = 512, .ways = 4, .age = Duration{1}}, 1);
  std::vector<std::uint32_t> fills;
  for (int round = 0; round < 70'000; ++round) {  // more rounds than marks of 16 bits
    const L1::Lookup first = l1.find(7, 15, Time{round}, fills);
    ASSERT_EQ(first.miss, 15) << round;
    l1.await(first, 1);
    l1.due(7, 1, Time{round});
    ASSERT_EQ(l1.find(7, 15, Time{round}, fills).hit, 15) << round;
    l1.invalidate();
  }
}

}  // namespace
}  // namespace wavetail::memory
