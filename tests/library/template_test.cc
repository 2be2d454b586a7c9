// SPDX-License-Identifier: Apache-2.0
#include "library/template.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>

#include "library/made.h"
#include "library/walk.h"
#include "occupancy/occupancy.h"
#include "support/specs.h"

namespace wavetail::library {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

// Every byte that the algorithm has to move is touched, and no other.
void expect_exact(const kernel::Kernel& k) {
  const Touched t = walk(k);
  EXPECT_THAT(t.faults, IsEmpty()) << k.template_name;
  EXPECT_EQ(t.bytes_read(), k.compulsory_read->count()) << k.template_name << ' ' << k.name;
  EXPECT_EQ(t.bytes_written(), k.compulsory_write->count()) << k.template_name << ' ' << k.name;
}

bool each_once(const std::vector<int>& times) {
  return std::all_of(times.begin(), times.end(), [](int t) { return t == 1; });
}

TEST(Templates, AreInAlphabeticalOrderAndExplainThemselves) {
  std::string_view before;
  for (const Template& t : templates()) {
    EXPECT_LT(before, t.name);
    EXPECT_FALSE(t.sentence.empty());
    for (const Parameter& p : t.parameters) { EXPECT_FALSE(p.sentence.empty()) << p.name; }
    before = t.name;
  }
  EXPECT_EQ(find_template("gemvv"), nullptr);
}

TEST(Templates, MakeKernelsThatTheGpuCanLaunch) {
  const auto gpu = specs::h100();
  for (const auto& kernels :
       {made("copy", {{"bytes", 1 << 20}}), made("read", {{"bytes", 1 << 20}}),
        made("elementwise", {{"elements", 1 << 16}}), made("reduce", {{"bytes", 1 << 20}}),
        made("pointer_chase", {{"bytes", 1 << 20}}), made("gemv", {{"rows", 512}, {"cols", 4096}}),
        made("norm", {{"rows", 4}, {"cols", 4096}}),
        made("norm", {{"rows", 4}, {"cols", 4096}, {"fused", 0}}),
        made("rope", {{"tokens", 1}, {"q_heads", 32}, {"kv_heads", 8}}),
        made("attention", {{"q_heads", 32}, {"kv_heads", 8}, {"kv_len", 2048}},
             {{"mode", "decode"}, {"kernel", "vector"}}),
        made("sampling", {{"vocab", 32000}}), made("empty", {}),
        made("transpose", {{"rows", 64}, {"cols", 96}})}) {
    for (const kernel::Kernel& k : kernels) {
      EXPECT_TRUE(
          occupancy::occupy(
              gpu, {.block = k.block, .registers = k.registers, .shared_memory = k.shared_memory})
              .launchable)
          << k.template_name << ' ' << k.name;
      EXPECT_FALSE(k.note.empty()) << k.template_name;
      EXPECT_EQ(k.block, k.roles.front().warps * 32) << k.template_name;
    }
  }
}

TEST(Copy, TouchesEveryByteOnce) {
  for (const std::int64_t width : {4, 8, 16}) {
    const auto k = made("copy", {{"bytes", 1 << 18}, {"width", width}}).front();
    expect_exact(k);
    EXPECT_TRUE(each_once(walk(k).reads.at(".x")));
  }
}

TEST(Copy, RefusesOddWidths) {
  EXPECT_THAT(mistake("copy", {{"bytes", 4096}, {"width", 12}}), HasSubstr("width is 12 B"));
  EXPECT_THAT(mistake("copy", {{"bytes", 4096}, {"block", 48}}), HasSubstr("whole warps of 32"));
}

TEST(Read, HoldsTheBytesAskedFor) {
  for (const std::int64_t kib : {1, 2, 4, 8, 16, 24, 32, 48, 64}) {
    const auto k = made("read", {{"bytes", 132 * 64 * 1024}, {"in_flight_per_sm", kib * 1024}})
                       .front();
    const Touched t = walk(k);
    EXPECT_EQ(t.most_in_flight * k.roles.front().warps * 512, kib * 1024);
    EXPECT_EQ(k.grid[0], 132);
    expect_exact(k);
  }
}

TEST(Read, ReadsEveryByteOnceWhereTheSizeDivides) {
  const auto k = made("read", {{"bytes", 132 * 8192 * 5}, {"in_flight_per_sm", 8192}}).front();
  EXPECT_TRUE(each_once(walk(k).reads.at(".x")));
}

TEST(Read, RefusesPartsOfAWarpLoad) {
  EXPECT_THAT(mistake("read", {{"bytes", 1 << 20}, {"in_flight_per_sm", 1000}}),
              HasSubstr("in_flight_per_sm is 1000 B; a multiple of 512 B"));
}

TEST(Elementwise, MovesItsTensors) {
  expect_exact(made("elementwise", {{"elements", 1 << 16}, {"inputs", 2}, {"flops", 2}}).front());
  expect_exact(made("elementwise", {{"elements", 1 << 16}}, {{"out_dtype", "fp32"}}).front());
}

TEST(Elementwise, GatedInputsAreTheHalvesOfOneArray) {
  const auto k = made("elementwise", {{"elements", 14336}, {"inputs", 2}, {"gated", 1}},
                      {{"x", "gate_up"}})
                     .front();
  expect_exact(k);
  ASSERT_THAT(k.arrays, SizeIs(2));
  EXPECT_EQ(k.arrays[0].name, "gate_up");
  EXPECT_EQ(k.arrays[0].bytes.count(), 2 * 14336 * 2);
}

TEST(Reduce, ReadsEverythingAndCountsItsAdditions) {
  const auto k = made("reduce", {{"bytes", 132 * 4 * 16384}}).front();
  expect_exact(k);
  EXPECT_GE(walk(k).flops, k.flops);
}

TEST(PointerChase, VisitsEveryLineOncePerRound) {
  const auto kernels = made("pointer_chase", {{"bytes", 128 * 5000}});
  ASSERT_THAT(kernels, SizeIs(2));
  EXPECT_EQ(kernels[0].name, "warm");
  EXPECT_EQ(kernels[1].name, "");
  EXPECT_EQ(walk(kernels[0]).bytes_read(), 8 * 5000);
  const Touched t = walk(kernels[1]);
  for (std::size_t line = 0; line < 5000; ++line) { ASSERT_EQ(t.reads.at(".x")[line * 128], 1); }
  EXPECT_EQ(t.most_in_flight, 1);
}

TEST(PointerChase, ASetThatFitsL1IsReadAgainInsideTheChase) {
  const auto chase = made("pointer_chase", {{"bytes", 64 * 1024}}).back();
  EXPECT_EQ(walk(chase).reads.at(".x")[128], 1 + 4096 / 512);  // eight rounds over 512 lines
}

TEST(Gemv, ReadsEveryWeightOnce) {
  for (const auto& numbers :
       {Numbers{{"rows", 256}, {"cols", 4096}}, Numbers{{"rows", 256}, {"cols", 14336}},
        Numbers{{"rows", 512}, {"cols", 512}},
        Numbers{{"rows", 4096}, {"cols", 1024}, {"width", 2}},
        Numbers{{"rows", 512}, {"cols", 2048}, {"blocks", 16}},
        Numbers{{"rows", 512}, {"cols", 3584}, {"unroll", 4}}}) {
    const auto k = made("gemv", numbers).front();
    expect_exact(k);
    EXPECT_TRUE(each_once(walk(k).reads.at(".weights")));
    EXPECT_GE(walk(k).flops, k.flops);
    EXPECT_LT(walk(k).flops, 1.6 * k.flops);  // sums over lanes
  }
}

TEST(Gemv, Fp8WeightsGoWith16BitActivations) {
  const auto k = made("gemv", {{"rows", 256}, {"cols", 4096}}, {{"dtype", "fp8"}}).front();
  expect_exact(k);
  EXPECT_EQ(k.arrays[1].bytes.count(), 8192);
}

TEST(Gemv, SplitsRowsWhereTheyAreFew) {
  const auto few = made("gemv", {{"rows", 256}, {"cols", 14336}}).front();
  const auto many = made("gemv", {{"rows", 28672}, {"cols", 4096}}).front();
  EXPECT_EQ(few.grid[0], 256 / 4);  // eight warps take four rows
  EXPECT_EQ(many.grid[0], 28672 / 32);
}

TEST(Gemv, ChecksShapesAgainstEachOther) {
  EXPECT_THAT(mistake("gemv", {{"rows", 64}, {"cols", 100}}),
              HasSubstr("cols gives rows of 200 B"));
  EXPECT_THAT(mistake("gemv", {{"rows", 64}, {"cols", 64}, {"width", 16}}),
              HasSubstr("width is 16 B"));
  EXPECT_THAT(mistake("gemv", {{"rows", 4096}, {"cols", 4096}, {"blocks", 100}}),
              HasSubstr("blocks is 100; it must divide the 512 groups of 8 rows"));
}

TEST(Gemv, FreshWeightsArePerLaunch) {
  EXPECT_FALSE(made("gemv", {{"rows", 64}, {"cols", 512}}).front().arrays[0].per_launch);
  EXPECT_TRUE(
      made("gemv", {{"rows", 64}, {"cols", 512}, {"fresh", 1}}).front().arrays[0].per_launch);
}

TEST(Norm, FusedReadsAndWritesOnce) {
  for (const std::int64_t cols : {128, 1024, 4096, 5120, 8192, 14336}) {
    for (const std::int64_t rows : {8, 160}) {
      expect_exact(made("norm", {{"rows", rows}, {"cols", cols}}).front());
    }
  }
}

TEST(Norm, TheEagerChainMoves36BytesPerElement) {
  constexpr std::int64_t kRows = 64, kCols = 4096;
  const auto chain = made("norm", {{"rows", kRows}, {"cols", kCols}, {"fused", 0}});
  ASSERT_THAT(chain, SizeIs(8));
  std::int64_t bytes = 0;
  for (const kernel::Kernel& k : chain) {
    expect_exact(k);
    bytes += k.compulsory_read->count() + k.compulsory_write->count();
  }
  EXPECT_NEAR(static_cast<double>(bytes) / (kRows * kCols), 36, 0.05);
  EXPECT_EQ(chain[7].name, "8");
}

TEST(Norm, AStepOfTheChainStandsAlone) {
  const auto step = made("norm", {{"rows", 64}, {"cols", 4096}, {"fused", 0}, {"step", 3}});
  ASSERT_THAT(step, SizeIs(1));
  EXPECT_EQ(step.front().name, "");
  EXPECT_EQ(step.front().grid[0], 64);
  EXPECT_THAT(mistake("norm", {{"rows", 64}, {"cols", 4096}, {"step", 3}}), HasSubstr("step"));
}

TEST(Norm, AddsAResidualStream) {
  const auto k = made("norm", {{"rows", 160}, {"cols", 4096}, {"residual", 1}}).front();
  expect_exact(k);
  EXPECT_EQ(k.compulsory_write->count(), 2 * 160 * 8192);
}

TEST(Rope, RotatesInPlaceAndFillsTheCache) {
  for (const std::int64_t tokens : {1, 64}) {
    const auto k = made("rope", {{"tokens", tokens}, {"q_heads", 32}, {"kv_heads", 8}}).front();
    const Touched t = walk(k);
    EXPECT_THAT(t.faults, IsEmpty());
    EXPECT_EQ(t.bytes_written(), k.compulsory_write->count());
  }
}

TEST(VectorAttention, ReadsTheCacheOnceForAllQueryHeadsOfAGroup) {
  for (const std::int64_t length : {256, 512, 2048}) {
    const auto kernels = made("attention", {{"q_heads", 32}, {"kv_heads", 8}, {"kv_len", length}},
                              {{"mode", "decode"}, {"kernel", "vector"}});
    ASSERT_THAT(kernels, SizeIs(2));
    const Touched t = walk(kernels[0]);
    EXPECT_THAT(t.faults, IsEmpty());
    EXPECT_TRUE(each_once(t.reads.at(".keys")));
    EXPECT_TRUE(each_once(t.reads.at(".values")));
    EXPECT_EQ(t.bytes_read(), kernels[0].compulsory_read->count() + 4);  // the length
    EXPECT_EQ(t.bytes_written(), kernels[0].compulsory_write->count());
    expect_exact(kernels[1]);
  }
}

TEST(VectorAttention, CoversOtherHeadShapes) {
  for (const auto& [q, kv, dim] :
       {std::tuple{8, 8, 128}, {16, 4, 64}, {64, 8, 128}, {8, 2, 256}, {8, 8, 64}}) {
    for (const kernel::Kernel& k :
         made("attention", {{"q_heads", q}, {"kv_heads", kv}, {"head_dim", dim}, {"kv_len", 1024}},
              {{"mode", "decode"}, {"kernel", "vector"}})) {
      const Touched t = walk(k);
      EXPECT_THAT(t.faults, IsEmpty()) << q << ' ' << kv << ' ' << dim;
      EXPECT_EQ(t.bytes_written(), k.compulsory_write->count())
          << q << ' ' << kv << ' ' << dim << ' ' << k.name;
      EXPECT_NEAR(static_cast<double>(t.bytes_read()),
                  static_cast<double>(k.compulsory_read->count()), 4);
    }
  }
}

TEST(VectorAttention, FillsTheSmsAndNeedsNoMergeWhenTheBatchDoes) {
  const auto one = made("attention", {{"q_heads", 32}, {"kv_heads", 8}, {"kv_len", 2048}},
                        {{"mode", "decode"}, {"kernel", "vector"}});
  EXPECT_EQ(kernel::volume(one[0].grid), 256);
  const auto many = made("attention",
                         {{"batch", 64}, {"q_heads", 32}, {"kv_heads", 8}, {"kv_len", 128}},
                         {{"mode", "decode"}, {"kernel", "vector"}});
  EXPECT_THAT(many, SizeIs(1));
}

TEST(Sampling, ReadsAllLogits) {
  const auto k = made("sampling", {{"vocab", 128256}, {"batch", 3}}).front();
  expect_exact(k);
}

// Every byte of x goes once into the tile, once out of it, and once to y.
TEST(Transpose, MovesEveryElementOnceThroughSharedMemory) {
  for (const char* dtype : {"fp32", "bf16", "fp8"}) {
    for (const char* layout : {"plain", "padded", "swizzled"}) {
      for (const std::int64_t tile : {32, 64}) {
        const auto k = made("transpose", {{"rows", 128}, {"cols", 192}, {"tile", tile}},
                            {{"dtype", dtype}, {"layout", layout}})
                           .front();
        expect_exact(k);
        const Touched t = walk(k);
        EXPECT_TRUE(each_once(t.reads.at(".x")));
        EXPECT_TRUE(each_once(t.writes.at(".y")));
        const std::int64_t blocks = kernel::volume(k.grid);
        std::int64_t held = 0;
        for (std::size_t b = 0; b < t.shared_writes.size(); ++b) {
          EXPECT_EQ(t.shared_reads[b], t.shared_writes[b]);
          EXPECT_TRUE(t.shared_writes[b] == 0 || t.shared_writes[b] == blocks);
          held += t.shared_writes[b] > 0 ? 1 : 0;
        }
        EXPECT_EQ(held * blocks, k.compulsory_read->count());
      }
    }
  }
}

TEST(Transpose, PaddingCostsAWordPerRowAndASwizzleNothing) {
  const auto bytes = [](const char* layout) {
    return made("transpose", {{"rows", 64}, {"cols", 64}}, {{"layout", layout}})
        .front()
        .shared_memory.count();
  };
  EXPECT_EQ(bytes("plain"), 4096);
  EXPECT_EQ(bytes("padded"), 4096 + 32 * 4);
  EXPECT_EQ(bytes("swizzled"), 4096);
}

TEST(Transpose, RefusesWhatTilesDoNotDivide) {
  EXPECT_THAT(mistake("transpose", {{"rows", 100}, {"cols", 64}}),
              HasSubstr("rows is 100; a multiple of the tile's 32"));
  EXPECT_THAT(mistake("transpose", {{"rows", 96}, {"cols", 96}, {"tile", 48}}),
              HasSubstr("tile is 48; a power of two"));
}

}  // namespace
}  // namespace wavetail::library
