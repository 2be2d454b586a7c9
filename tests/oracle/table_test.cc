// SPDX-License-Identifier: Apache-2.0
// The page table against std::map, the divider against the division instruction.
#include <gtest/gtest.h>

#include <map>
#include <random>

#include "memory/divider.h"
#include "memory/page_table.h"

namespace wavetail::memory {
namespace {

TEST(PageTable, IsAMap) {
  std::mt19937_64 random(2);
  PageTable table(8);  // grows many times
  std::map<std::int64_t, std::uint32_t> map;
  for (std::uint32_t n = 0; n < 300'000; ++n) {
    // Few keys at first, many later; dense ones beside scattered ones.
    const std::uint64_t range = n < 100'000 ? 64 : 20'000;
    auto page = static_cast<std::int64_t>(random() % range);
    if (random() % 4 == 0) { page <<= 30; }
    const auto known = map.find(page);
    ASSERT_EQ(table.find(page), known == map.end() ? PageTable::kAbsent : known->second);
    if (known == map.end()) {
      table.insert(page, n);
      map[page] = n;
    } else if (random() % 2 == 0) {
      table.erase(page);
      map.erase(known);
    }
  }
  for (const auto& [page, frame] : map) { ASSERT_EQ(table.find(page), frame); }
}

TEST(Divider, IsADivision) {
  std::mt19937_64 random(4);
  const auto check = [](std::uint64_t n, std::uint64_t d) {
    const Divider divider(d);
    ASSERT_EQ(divider.quotient(n), n / d) << n << " / " << d;
    ASSERT_EQ(divider.remainder(n), n % d) << n << " % " << d;
  };
  constexpr std::uint64_t kMost = (std::uint64_t{1} << 44) - 1;
  for (std::uint64_t d = 1; d <= 300; ++d) {
    for (std::uint64_t n = 0; n < 1000; ++n) { check(n, d); }
    for (const std::uint64_t n : {kMost, kMost - 1, kMost / d * d, kMost / d * d - 1}) {
      check(n, d);
    }
  }
  for (int trial = 0; trial < 500'000; ++trial) {
    check(random() & kMost, 1 + random() % ((1U << 20) - 1));
  }
}

}  // namespace
}  // namespace wavetail::memory
