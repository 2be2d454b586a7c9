// SPDX-License-Identifier: Apache-2.0
// The tag banks against digits taken one by one and lines counted per bank.
#include "memory/tags.h"

#include <gtest/gtest.h>

#include <map>
#include <random>

namespace wavetail::memory {
namespace {

int slow_bank(std::int64_t line, std::int64_t banks) {
  std::int64_t bank = 0;
  for (; banks > 1 && line > 0; line /= banks) { bank ^= line % banks; }
  return static_cast<int>(bank);
}

TEST(Tags, AreCountedPerBank) {
  std::mt19937_64 random(1);
  const auto below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  for (const std::int64_t banks : {1, 2, 4, 8, 16, 32, 64}) {
    const TagBanks tags(banks);
    for (int trial = 0; trial < 5000; ++trial) {
      const std::int64_t base = below(std::int64_t{1} << (1 + below(41)));
      const std::int64_t step = trial % 2 == 0 ? 1 : 1 + below(5000);
      Shape s;
      s.lines = static_cast<int>(below(kMaxLines + 1));
      s.dense = step == 1;
      const std::int64_t first = below(3);
      std::map<int, int> held;
      int most = 0;
      for (int i = 0; i < s.lines; ++i) {
        s.delta[static_cast<std::size_t>(i)] = first + i * step;
        most = std::max(most, ++held[slow_bank(base + first + i * step, banks)]);
      }
      ASSERT_EQ(tags.wavefronts(s, base), most) << banks << " banks, from line " << base;
    }
  }
}

}  // namespace
}  // namespace wavetail::memory
