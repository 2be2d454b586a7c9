// SPDX-License-Identifier: Apache-2.0
// Row-wise kernels: softmax, normalisations, losses, conversions to FP8. What they touch is checked
// lane by lane; how often they read a row is what sets their forms apart.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "library/eager.h"
#include "library/made.h"
#include "library/row_kernel.h"
#include "library/template.h"
#include "library/walk.h"
#include "support/specs.h"

namespace wavetail::library {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

void expect_exact(const kernel::Kernel& k) {
  const Touched t = walk(k);
  EXPECT_THAT(t.faults, IsEmpty()) << k.template_name << ' ' << k.note;
  EXPECT_EQ(t.bytes_read(), k.compulsory_read->count()) << k.note;
  EXPECT_EQ(t.bytes_written(), k.compulsory_write->count()) << k.note;
}

bool each(const std::vector<int>& times, int wanted) {
  return std::all_of(times.begin(), times.end(), [&](int t) { return t == wanted; });
}

TEST(Softmax, ShortRowsAreAWarpsLongOnesABlocks) {
  for (const std::int64_t cols : {32, 64, 128, 256, 1024}) {
    const auto k = made("softmax", {{"rows", 64}, {"cols", cols}}, {{"dtype", "fp16"}}).front();
    expect_exact(k);
    EXPECT_EQ(k.block, 128);
    EXPECT_EQ(kernel::volume(k.grid), 64 / (cols <= 128 ? 8 : 4));
  }
  for (const std::int64_t cols : {2048, 4096, 5120}) {
    const auto k = made("softmax", {{"rows", 8}, {"cols", cols}}, {{"dtype", "fp16"}}).front();
    expect_exact(k);
    EXPECT_EQ(kernel::volume(k.grid), 8);
    EXPECT_TRUE(each(walk(k).reads.at(".x"), 1)) << "the row stays in shared memory";
  }
}

TEST(Softmax, ARowThatFitsNowhereIsReadThreeTimes) {
  const auto k = made("softmax", {{"rows", 2}, {"cols", 16384}}, {{"dtype", "fp32"}}).front();
  expect_exact(k);
  EXPECT_TRUE(each(walk(k).reads.at(".x"), 3));
  const auto kept = made("softmax", {{"rows", 2}, {"cols", 16384}},
                         {{"dtype", "fp32"}, {"method", "registers"}})
                        .front();
  expect_exact(kept);
  EXPECT_TRUE(each(walk(kept).reads.at(".x"), 1));
}

TEST(Softmax, SaysWhyAMethodDoesNotGo) {
  EXPECT_THAT(mistake("softmax", {{"rows", 1}, {"cols", 4096}}, {{"method", "warp"}}),
              HasSubstr("1024 at most"));
  EXPECT_THAT(mistake("softmax", {{"rows", 1}, {"cols", 1 << 20}}, {{"method", "shared"}}),
              HasSubstr("shared memory"));
  EXPECT_THAT(mistake("softmax", {{"rows", 1}, {"cols", 64}, {"threads", 48}}),
              HasSubstr("whole warps"));
}

TEST(Norm, LayerNormKeepsItsRowsOrReadsThemAgain) {
  const Numbers shape{{"rows", 16}, {"cols", 4096}};
  const auto kept = made("norm", shape, {{"kind", "layer"}, {"dtype", "fp32"}}).front();
  expect_exact(kept);
  EXPECT_EQ(kept.block, 256) << "8 warps for 4096 columns";
  EXPECT_TRUE(each(walk(kept).reads.at(".x"), 1));
  const auto again = made("norm", shape, {{"kind", "layer"}, {"dtype", "fp32"}, {"row", "again"}})
                         .front();
  expect_exact(again);
  EXPECT_EQ(again.block, 128);
  EXPECT_TRUE(each(walk(again).reads.at(".x"), 2));
}

TEST(Norm, BackwardLeavesAGradientAndASumPerBlock) {
  const auto kernels = made("norm", {{"rows", 264}, {"cols", 2048}}, {{"direction", "backward"}});
  ASSERT_THAT(kernels, SizeIs(2));
  const kernel::Kernel& k = kernels.front();
  expect_exact(k);
  EXPECT_EQ(kernel::volume(k.grid), 132) << "two rows for each of 132 SMs";
  EXPECT_EQ(k.compulsory_write->count(), 264 * 2048 * 2 + 132 * 2048 * 4);
  EXPECT_EQ(kernels.back().name, "sum");
  expect_exact(kernels.back());
  EXPECT_EQ(kernels.back().compulsory_read->count(), 132 * 2048 * 4);
}

TEST(Norm, RefusesWhatTheFormsDoNotHave) {
  EXPECT_THAT(mistake("norm", {{"rows", 1}, {"cols", 4096}, {"fused", 0}}, {{"kind", "layer"}}),
              HasSubstr("fused"));
  EXPECT_THAT(mistake("norm", {{"rows", 1}, {"cols", 1 << 20}}, {{"kind", "layer"}}),
              HasSubstr("registers"));
  EXPECT_THAT(
      mistake("norm", {{"rows", 1}, {"cols", 4096}}, {{"direction", "backward"}, {"row", "again"}}),
      HasSubstr("direction"));
}

TEST(CrossEntropy, FusedReadsItsLogitsTwiceAndLeavesTheirGradient) {
  for (const std::int64_t vocab : {4096, 65536}) {
    const auto k = made("cross_entropy", {{"rows", 4}, {"vocab", vocab}}).front();
    const Touched t = walk(k);
    EXPECT_THAT(t.faults, IsEmpty());
    EXPECT_TRUE(each(t.writes.at(".x"), 1));
    EXPECT_EQ(t.bytes_read(), 4 * vocab * 4);
    EXPECT_EQ(t.reads.at(".x")[512], 2);
  }
}

TEST(CrossEntropy, EagerGathersWithOneWarp) {
  const auto kernels = made("cross_entropy", {{"rows", 128}, {"vocab", 2048}, {"fused", 0}});
  ASSERT_THAT(kernels, SizeIs(2));
  EXPECT_EQ(kernels.back().block * kernel::volume(kernels.back().grid), 32);
  const Touched t = walk(kernels.back());
  EXPECT_THAT(t.faults, IsEmpty());
  EXPECT_EQ(t.bytes_read(), 128 * (8 + 4));
}

TEST(Quantize, ToFp8WithAGivenScaleOrItsOwn) {
  const Numbers shape{{"rows", 64}, {"cols", 4096}};
  const auto given = made("quantize", shape);
  ASSERT_THAT(given, SizeIs(1));
  expect_exact(given.front());
  EXPECT_EQ(given.front().compulsory_write->count(), 64 * 4096);
  const auto by_row = made("quantize", shape, {{"scale", "row"}});
  ASSERT_THAT(by_row, SizeIs(1));
  expect_exact(by_row.front());
  EXPECT_THAT(made("quantize", shape, {{"scale", "tensor"}}), SizeIs(3));
}

TEST(Eager, TensorsOfOneTypeGoInVectors) {
  const std::int64_t n = 1 << 16;
  const auto gpu = specs::h100();
  const auto k = eager_kernel(
      {.elements = n, .inputs = {{"a", "fp32", n}}, .outputs = {{"b", "fp32", n}}}, gpu);
  expect_exact(k);
  EXPECT_EQ(k.grid[0], n / 512);
  const auto cast = eager_kernel(
      {.elements = n, .inputs = {{"a", "bf16", n}}, .outputs = {{"b", "fp32", n}}}, gpu);
  expect_exact(cast);
  EXPECT_EQ(cast.grid[0], n / 512);
}

TEST(Eager, ABroadcastComputesEveryPlace) {
  const std::int64_t rows = 64, cols = 1024, n = rows * cols;
  const auto k = eager_kernel({.elements = n,
                               .inputs = {{"a", "fp32", n}, {"s", "fp32", rows, true}},
                               .outputs = {{"b", "fp32", n}}},
                              specs::h100());
  const Touched t = walk(k);
  EXPECT_TRUE(each(t.reads.at("a"), 1));
  EXPECT_TRUE(each(t.writes.at("b"), 1));
  EXPECT_EQ(k.grid[0], n / 256) << "two elements per thread";
}

}  // namespace
}  // namespace wavetail::library
