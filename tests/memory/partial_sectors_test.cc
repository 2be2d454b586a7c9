// SPDX-License-Identifier: Apache-2.0
#include "memory/partial_sectors.h"

#include <gtest/gtest.h>

#include <random>
#include <unordered_map>

namespace wavetail::memory {
namespace {

constexpr std::uint8_t kLow = 0x0f, kHigh = 0xf0, kWhole = 0xff;

// A sector whose other half has come needs no fill.
TEST(PartialSectors, TwoHalvesMakeOne) {
  PartialSectors p;
  p.write(5, kLow, false);
  EXPECT_FALSE(p.empty());
  p.write(5, kHigh, true);
  EXPECT_TRUE(p.empty());
  EXPECT_EQ(p.complete(0, 0, ~0ULL), 0U);
}

// What L2 holds completely does not become incomplete, and a whole sector never is.
TEST(PartialSectors, HeldOrWholeIsComplete) {
  PartialSectors p;
  p.write(5, kLow, true);
  p.write(6, kWhole, false);
  EXPECT_TRUE(p.empty());
}

// A sector that has left L2 begins anew: what was known of it is not there any more.
TEST(PartialSectors, GoneIsGone) {
  PartialSectors p;
  p.write(5, kLow, false);
  p.write(5, kHigh, false);
  EXPECT_EQ(p.complete(0, 0, 1ULL << 5), 1ULL << 5);
  EXPECT_TRUE(p.empty());
}

// Against a map of the words that are there.
TEST(PartialSectors, AsAMap) {
  std::mt19937_64 random(11);
  std::unordered_map<std::int64_t, std::uint8_t> words;  // of sectors that L2 holds
  PartialSectors p;
  std::int64_t incomplete = 0;
  for (int step = 0; step < 100'000; ++step) {
    const auto sector = static_cast<std::int64_t>(random() % 1024);
    const auto found = words.find(sector);
    switch (random() % 4) {
      case 0: {  // read or written back: complete from then on
        const std::int64_t bit = sector % 64, page = sector / PartialSectors::kSectorsPerPage;
        const auto word = static_cast<std::size_t>(sector / 64 % 2);
        const bool expected = found != words.end() && found->second != kWhole;
        ASSERT_EQ(p.complete(page, word, 1ULL << bit) != 0, expected);
        incomplete += expected ? 1 : 0;
        if (found != words.end()) { found->second = kWhole; }
        break;
      }
      case 1:  // leaves
        static_cast<void>(p.complete(sector / PartialSectors::kSectorsPerPage,
                                     static_cast<std::size_t>(sector / 64 % 2),
                                     1ULL << (sector % 64)));
        if (found != words.end()) { words.erase(found); }
        break;
      default: {
        const auto bits = static_cast<std::uint8_t>(1 + random() % 255);
        p.write(sector, bits, found != words.end());
        words[sector] = static_cast<std::uint8_t>(bits |
                                                  (found != words.end() ? found->second : 0));
      }
    }
  }
  EXPECT_GT(incomplete, 1000);
}

}  // namespace
}  // namespace wavetail::memory
