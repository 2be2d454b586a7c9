// SPDX-License-Identifier: Apache-2.0
// Lines of L2 that are kept: they outlive any number of others, as far as the set-aside goes.
#include <gtest/gtest.h>

#include "memory/l2_directory.h"

namespace wavetail::memory {
namespace {

constexpr std::int64_t kCapacity = 64 * 16 * kLinesPerPage;  // 64 sets
constexpr Sectors kAll{~0ULL, ~0ULL};

void read(L2Directory& l2, std::int64_t first, std::int64_t pages) {
  for (std::int64_t page = first; page < first + pages; ++page) {
    const std::uint32_t frame = l2.find_or_claim(page);
    for (int word = 0; word < 2; ++word) { l2.install(frame, word, ~0ULL, 0); }
    if (l2.overfull(frame)) {
      l2.shrink(frame, [](std::int64_t, const Sectors&) {});
    }
  }
}

// Share of the pages' sectors that is held.
double held(const L2Directory& l2, std::int64_t first, std::int64_t pages) {
  std::int64_t sectors = 0;
  for (std::int64_t page = first; page < first + pages; ++page) {
    sectors += sectors_of(l2.held(page));
  }
  return static_cast<double>(sectors) / static_cast<double>(pages * sectors_of(kAll));
}

TEST(KeptLines, OutliveAFlush) {
  constexpr std::int64_t kPages = kCapacity / kLinesPerPage;
  for (const bool kept : {false, true}) {
    L2Directory l2(kCapacity);
    l2.set_aside(kCapacity / 2);
    if (kept) { l2.keep({0, kPages / 4}); }
    read(l2, 0, kPages / 4);
    read(l2, 10 * kPages, 2 * kPages);
    EXPECT_EQ(held(l2, 0, kPages / 4), kept ? 1 : 0);
    EXPECT_LE(l2.lines(), kCapacity);
    // The others have the rest.
    EXPECT_NEAR(held(l2, 11 * kPages, kPages), kept ? 0.75 : 1, 0.1);
  }
}

// More lines than are set aside are kept as little as others.
TEST(KeptLines, NotBeyondTheSetAside) {
  constexpr std::int64_t kPages = kCapacity / kLinesPerPage;
  L2Directory l2(kCapacity);
  l2.set_aside(kCapacity / 4);
  l2.keep({0, kPages / 2});
  read(l2, 0, kPages / 2);
  read(l2, 10 * kPages, 2 * kPages);
  EXPECT_LE(held(l2, 0, kPages / 2), 0.51);
}

// Ranges may be named again, and others beside them.
TEST(KeptLines, SeveralRanges) {
  constexpr std::int64_t kPages = kCapacity / kLinesPerPage;
  L2Directory l2(kCapacity);
  l2.set_aside(kCapacity / 2);
  for (int n = 0; n < 3; ++n) {
    l2.keep({kPages, kPages + 64});
    l2.keep({0, 64});
  }
  read(l2, 0, 64);
  read(l2, kPages, 64);
  read(l2, kPages / 2, 64);
  read(l2, 10 * kPages, 2 * kPages);
  EXPECT_EQ(held(l2, 0, 64), 1);
  EXPECT_EQ(held(l2, kPages, 64), 1);
  EXPECT_EQ(held(l2, kPages / 2, 64), 0);
}

}  // namespace
}  // namespace wavetail::memory
