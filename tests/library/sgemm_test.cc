// SPDX-License-Identifier: Apache-2.0
// FP32 products: what the tiles read and write, and which of them is chosen.
#include "library/sgemm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "library/parts.h"
#include "library/template.h"
#include "library/walk.h"
#include "support/specs.h"

namespace wavetail::library {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

struct Made {
  std::vector<kernel::Kernel> kernels;
  std::string mistake;
};

Made make(const std::map<std::string, std::int64_t, std::less<>>& numbers,
          std::vector<std::int64_t> tile = {}, const std::string& b_layout = "nk") {
  Made made;
  Arguments a{.numbers = numbers, .words = {{"b_layout", b_layout}}};
  if (!tile.empty()) { a.lists["tile"] = std::move(tile); }
  const auto mistakes = build(*find_template("sgemm"), std::move(a), specs::h100(), made.kernels);
  if (!mistakes.empty()) { made.mistake = mistakes[0].parameter + " " + mistakes[0].message; }
  return made;
}

// One stage, through registers: every element of A comes once per column of tiles, of B once per
// row of them, of D leaves once; two FLOP per element of D and step along K.
TEST(Sgemm, TouchesItsMatrices) {
  for (const char* layout : {"nk", "kn"}) {
    for (const auto& tile : {std::vector<std::int64_t>{64, 64, 8}, {128, 128, 8}, {64, 32, 8}}) {
      const Made made = make({{"m", 256}, {"n", 128}, {"k", 64}, {"stages", 1}}, tile, layout);
      ASSERT_THAT(made.kernels, SizeIs(1)) << made.mistake;
      const kernel::Kernel& k = made.kernels.front();
      const Touched t = walk(k);
      EXPECT_THAT(t.faults, IsEmpty()) << k.note;
      EXPECT_EQ(t.bytes_read(), (256 + 128) * 64 * 4) << k.note;
      EXPECT_EQ(t.reads.at(".x")[0], 128 / tile[1]) << k.note;
      EXPECT_EQ(t.reads.at(".weights")[0], 256 / tile[0]) << k.note;
      EXPECT_EQ(t.bytes_written(), 256 * 128 * 4) << k.note;
      EXPECT_EQ(t.flops, 2.0 * 256 * 128 * 64) << k.note;
    }
  }
}

TEST(Sgemm, SlicesShareOutTheSteps) {
  const Made made = make(
      {{"m", 128}, {"n", 64}, {"k", 64}, {"stages", 1}, {"slices", 4}, {"threads", 256}},
      {64, 32, 32});
  ASSERT_THAT(made.kernels, SizeIs(1)) << made.mistake;
  const Touched t = walk(made.kernels.front());
  // The sums of four slices cost an addition per held sum.
  EXPECT_EQ(t.flops, 2.0 * 128 * 64 * 64 + 4.0 * 128 * 64);
  EXPECT_THAT(made.kernels.front().note, HasSubstr("4 slices"));
}

// The register file gives a scheduler two registers per cycle.
TEST(Sgemm, OperandsBeyondTwoKeepAFullRatePipe) {
  EXPECT_EQ(register_turns(specs::h100(), 1000, 3), 500);
  EXPECT_EQ(register_turns(specs::h100(), 1000, 2), 0);
  gpu::GpuSpec half = specs::h100();
  half.pipes.fp32.lanes = 16;
  EXPECT_EQ(register_turns(half, 1000, 3), 0);
}

TEST(Sgemm, ABatchHasMatricesOfItsOwn) {
  const Made made = make({{"m", 64}, {"n", 64}, {"k", 16}, {"batch", 3}, {"stages", 1}}, {64, 64});
  ASSERT_THAT(made.kernels, SizeIs(1)) << made.mistake;
  const Touched t = walk(made.kernels.front());
  EXPECT_EQ(t.bytes_read(), 3 * 2 * 64 * 16 * 4);
  EXPECT_EQ(t.bytes_written(), 3 * 64 * 64 * 4);
}

TEST(Sgemm, ChoosesLargeTilesForLargeProductsAndSplitsLongOnes) {
  const Made large = make({{"m", 8192}, {"n", 8192}, {"k", 4096}});
  ASSERT_THAT(large.kernels, SizeIs(1)) << large.mistake;
  EXPECT_GE(*large.kernels.front().accumulators, 128 * 128);
  const Made deep = make({{"m", 256}, {"n", 256}, {"k", 65536}});
  ASSERT_THAT(deep.kernels, SizeIs(2)) << deep.mistake;
  EXPECT_EQ(deep.kernels.back().name, "reduce");
  EXPECT_GT(deep.kernels.front().grid[2], 1);
}

TEST(Sgemm, RefusesTilesThatItCannotHold) {
  EXPECT_THAT(make({{"m", 64}, {"n", 64}, {"k", 64}}, {96, 64}).mistake, HasSubstr("tile"));
  EXPECT_THAT(make({{"m", 64}, {"n", 64}, {"k", 64}, {"threads", 32}}, {256, 128}).mistake,
              HasSubstr("sums"));
  EXPECT_THAT(make({{"m", 64}, {"n", 64}, {"k", 64}, {"stages", 16}}, {128, 128, 64}).mistake,
              HasSubstr("stages"));
  EXPECT_THAT(make({{"m", 64}, {"n", 64}, {"k", 64}, {"threads", 64}}).mistake,
              HasSubstr("tile beside"));
}

}  // namespace
}  // namespace wavetail::library
