// SPDX-License-Identifier: Apache-2.0
// Wavefronts of the access patterns that books and profilers speak of.
#include "memory/banks.h"

#include <gtest/gtest.h>

#include <numeric>

#include "memory/bank_pattern.h"

namespace wavetail::memory {
namespace {

using kernel::SharedAccess;
using kernel::SharedPattern;
using kernel::Swizzle;

// One warp of 32 lanes at address `base`.
BankAccess at(const SharedAccess& a, std::int64_t base = 0, bool merge = false) {
  return bank_access_at(a, lane_offsets(a, 32, 0, 32), base, merge);
}

SharedAccess column(int width, std::int64_t pitch, Swizzle swizzle = {}) {
  SharedAccess a;
  a.width = width;
  a.pattern = SharedPattern::Column;
  a.pitch = pitch;
  a.swizzle = swizzle;
  return a;
}

// float tile[32][32]: every lane in one bank; a row padded to 33 words, or a swizzle, spreads them.
TEST(Banks, AColumnOfASquareTile) {
  EXPECT_EQ(at(column(4, 128)), (BankAccess{32, 1}));
  EXPECT_EQ(at(column(4, 132)), (BankAccess{1, 1}));
  for (std::int64_t c = 0; c < 32; ++c) {
    EXPECT_EQ(at(column(4, 128, {5, 2, 5}), 4 * c), (BankAccess{1, 1})) << c;
  }
  // Three bits of the row reach eight banks.
  EXPECT_EQ(at(column(4, 128, {3, 2, 5})).wavefronts, 4);
}

TEST(Banks, RowsStayFreeOfConflictsUnderTheSwizzle) {
  SharedAccess row;
  row.swizzle = {5, 2, 5};
  for (std::int64_t r = 0; r < 32; ++r) { EXPECT_EQ(at(row, 128 * r), (BankAccess{1, 1})); }
}

TEST(Banks, OneWordIsReadOnceForAllLanes) {
  SharedAccess a;
  a.pattern = SharedPattern::Broadcast;
  EXPECT_EQ(at(a), (BankAccess{1, 1}));
  a.pattern = SharedPattern::Strided;  // two words per bank, each for eight lanes
  a.stride = 0;
  EXPECT_EQ(at(a), (BankAccess{1, 1}));
}

TEST(Banks, StridesShareBanksByTheirCommonFactorWith32) {
  SharedAccess a;
  a.pattern = SharedPattern::Strided;
  for (std::int64_t words = 1; words <= 64; ++words) {
    a.stride = 4 * words;
    EXPECT_EQ(at(a).wavefronts, std::gcd<std::int64_t>(words, 32)) << words;
  }
}

TEST(Banks, NarrowLanesShareWords) {
  SharedAccess a;
  a.width = 1;
  EXPECT_EQ(at(a), (BankAccess{1, 1}));
  a.width = 2;
  EXPECT_EQ(at(a), (BankAccess{1, 1}));
}

// gpu-benches (H200, gpu-strides): 8-byte lanes `n` elements apart through the L1's data stage,
// which shared memory uses too: 2.00, 4.00 and 8.00 wavefronts at n = 1, 2 and 4.
TEST(Banks, EightByteLanesGoByHalfWarps) {
  SharedAccess a;
  a.width = 8;
  EXPECT_EQ(at(a), (BankAccess{2, 2}));
  a.pattern = SharedPattern::Strided;
  a.stride = 16;
  EXPECT_EQ(at(a), (BankAccess{4, 2}));
  a.stride = 32;
  EXPECT_EQ(at(a), (BankAccess{8, 2}));
  a.lanes = 16;
  EXPECT_EQ(at(a), (BankAccess{4, 1}));
}

TEST(Banks, SixteenByteLanesGoByQuarterWarps) {
  SharedAccess a;
  a.width = 16;
  EXPECT_EQ(at(a), (BankAccess{4, 4}));
  // Eight rows of 128 B, a 16 B column of each: what ldmatrix reads. TMA's 128 B mode spreads them.
  SharedAccess tile = column(16, 128);
  tile.per_line = 8;
  EXPECT_EQ(at(tile), (BankAccess{32, 4}));
  tile.swizzle = {3, 4, 3};
  EXPECT_EQ(at(tile), (BankAccess{4, 4}));
  // The 64 B and 32 B modes are for rows of that length.
  tile.pitch = 64;
  tile.swizzle = {2, 4, 3};
  EXPECT_EQ(at(tile), (BankAccess{4, 4}));
  tile.pitch = 32;
  tile.swizzle = {1, 4, 3};
  EXPECT_EQ(at(tile), (BankAccess{4, 4}));
  tile.swizzle = {};
  EXPECT_EQ(at(tile), (BankAccess{8, 4}));
}

// The rule that NVIDIA states for 7.0 to 7.5: uniform pairs halve the passes, never below two
// for 16 bytes; a warp that follows one rule in one half and the other in the other does not merge.
TEST(Banks, UniformPairsMergePassesOnVoltaAndTuring) {
  SharedAccess a;
  a.pattern = SharedPattern::Broadcast;
  a.width = 8;
  EXPECT_EQ(at(a, 0, true), (BankAccess{1, 1}));
  EXPECT_EQ(at(a, 0, false), (BankAccess{2, 2}));
  a.width = 16;
  EXPECT_EQ(at(a, 0, true), (BankAccess{2, 2}));
  SharedAccess mixed;
  mixed.width = 8;
  mixed.pattern = SharedPattern::Listed;
  for (std::int64_t i = 0; i < 16; ++i) { mixed.offsets.push_back(i / 2 * 8); }
  for (std::int64_t i = 0; i < 16; ++i) { mixed.offsets.push_back(i % 2 * 8 + i / 4 * 16); }
  EXPECT_EQ(at(mixed, 0, true), (BankAccess{2, 2}));
  EXPECT_TRUE(merges_pairs("sm_75"));
  EXPECT_FALSE(merges_pairs("sm_80"));
  EXPECT_FALSE(merges_pairs("sm_90"));
}

TEST(Banks, SixtyFourLanesTakeTwoPasses) {
  SharedAccess a;
  EXPECT_EQ(bank_access_at(a, lane_offsets(a, 64, 0, 64), 0, false), (BankAccess{2, 2}));
}

TEST(Banks, NoLanesTakeNothing) {
  SharedAccess a;
  EXPECT_EQ(bank_access_at(a, lane_offsets(a, 32, 8, 0), 0, false), (BankAccess{0, 0}));
}

TEST(BankPattern, AddressesOnePeriodApartTakeAlike) {
  for (const SharedAccess& a : {column(4, 128, {5, 2, 5}), column(16, 128, {3, 4, 3}),
                                column(2, 66), column(4, 128, {2, 3, 4})}) {
    for (std::int64_t base = 0; base < 4096; base += a.width) {
      EXPECT_EQ(at(a, base), at(a, base + bank_period(a)));
    }
  }
}

TEST(BankPattern, ExtentHoldsEveryAddress) {
  SharedAccess a = column(4, 132);
  a.offset = 16;
  a.warp = 4;
  a.count = -8;
  a.loop = {4224};
  const Extent e = shared_extent(a, 32, 8, 3, {2});
  EXPECT_EQ(e.low, 16 - 2 * 8);
  EXPECT_EQ(e.high, 16 + 31 * 132 + 4 + 7 * 4 + 4224);
  a.swizzle = {3, 4, 3};
  EXPECT_EQ(shared_extent(a, 32, 8, 3, {2}).high % 128, 0);
}

}  // namespace
}  // namespace wavetail::memory
