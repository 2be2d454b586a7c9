// SPDX-License-Identifier: Apache-2.0
#include "memory/tags.h"

#include <gtest/gtest.h>

namespace wavetail::memory {
namespace {

Shape lines(std::initializer_list<std::int64_t> deltas) {
  Shape s;
  for (const std::int64_t d : deltas) { s.delta[static_cast<std::size_t>(s.lines++)] = d; }
  return s;
}

TEST(Tags, BanksAreTheExclusiveOrOfDigits) {
  const TagBanks four(4);
  EXPECT_EQ(four.wavefronts(lines({}), 0), 0);
  EXPECT_EQ(four.wavefronts(lines({0}), 12345), 1);
  EXPECT_EQ(four.wavefronts(lines({0, 1, 2, 3}), 0), 1);
  EXPECT_EQ(four.wavefronts(lines({0, 16, 32, 48}), 0), 1);
  EXPECT_EQ(four.wavefronts(lines({0, 5, 10, 15}), 0), 4);
  EXPECT_EQ(four.wavefronts(lines({0, 3}), 3), 2);  // 3 and 12: digits 3 and 3, 0
}

// A single bank looks up line after line; as many banks as lines, and those that follow each other
// meet only where a carry sends two of them to one.
TEST(Tags, OneBankIsALineAtATime) {
  EXPECT_EQ(TagBanks(1).wavefronts(lines({0, 1, 7, 100}), 5), 4);
  EXPECT_EQ(TagBanks(64).wavefronts(lines({0, 1, 7, 50}), 0), 1);
}

// gpu-benches (H200, gpu-strides), lanes that read 4-byte elements 5 and 9 apart and 8-byte ones 13
// apart: Nsight Compute counts 2.00, 3.00 and 7.00 tag wavefronts, wherever in a line they begin.
TEST(Tags, StridedLoadsOfAnH200) {
  const TagBanks banks(4);
  for (const auto& [bytes, width, wavefronts] : {std::array{20, 4, 2}, {36, 4, 3}, {104, 8, 7}}) {
    for (const int phase : {0, 1}) {
      for (const int offset : {0, 4, 8, 12, 20, 16, 24, 28}) {
        const std::int64_t base = phase * 32 * bytes + offset * width;
        std::array<std::int64_t, 32> lanes;
        for (std::size_t i = 0; i < lanes.size(); ++i) {
          lanes[i] = static_cast<std::int64_t>(i) * bytes;
        }
        const Shape s = coalesce(lanes, width, static_cast<int>(base % kLineBytes));
        EXPECT_EQ(banks.wavefronts(s, base / kLineBytes), wavefronts) << bytes << " " << base;
      }
    }
  }
}

}  // namespace
}  // namespace wavetail::memory
