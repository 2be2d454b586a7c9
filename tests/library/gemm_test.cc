// SPDX-License-Identifier: Apache-2.0
#include "library/gemm.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "occupancy/occupancy.h"
#include "support/specs.h"

namespace wavetail::library {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using Numbers = std::map<std::string, std::int64_t, std::less<>>;
using Words = std::map<std::string, std::string, std::less<>>;
using Lists = std::map<std::string, std::vector<std::int64_t>, std::less<>>;

std::vector<kernel::Kernel> made(const Numbers& numbers, const Words& words = {},
                                 const Lists& lists = {}, const gpu::GpuSpec& gpu = specs::h100()) {
  std::vector<kernel::Kernel> kernels;
  const auto mistakes = build(*find_template("gemm"), {numbers, words, lists}, gpu, kernels);
  EXPECT_THAT(mistakes, IsEmpty()) << mistakes.front().parameter << ' ' << mistakes.front().message;
  return kernels;
}

std::string mistake(const Numbers& numbers, const Words& words = {}, const Lists& lists = {},
                    const gpu::GpuSpec& gpu = specs::h100()) {
  std::vector<kernel::Kernel> kernels;
  const auto mistakes = build(*find_template("gemm"), {numbers, words, lists}, gpu, kernels);
  return mistakes.empty() ? "" : mistakes.front().parameter + " " + mistakes.front().message;
}

const Numbers kShape{{"m", 512}, {"n", 1024}, {"k", 1024}};

TEST(Gemm, LaunchesInEveryForm) {
  const auto gpu = specs::h100();
  for (const auto& [words, lists] : std::vector<std::pair<Words, Lists>>{
           {{}, {{"tile", {64, 256}}}},
           {{{"dtype", "fp8"}}, {{"tile", {128, 64}}}},
           {{{"dtype", "tf32"}}, {{"tile", {128, 192}}}},
           {{{"schedule", "persistent"}}, {{"tile", {256, 128}}, {"cluster", {2, 2}}}},
           {{{"schedule", "stream-k"}}, {}},
           {{{"roles", "none"}, {"epilogue", "direct"}}, {{"tile", {64, 8}}}},
           {{{"mainloop", "cp_async"}}, {{"tile", {256, 128}}}},
           {{{"mainloop", "cp_async"}, {"dtype", "fp8"}}, {{"tile", {64, 32, 128}}}},
           {{{"mainloop", "sync"}}, {{"tile", {128, 128, 32}}}}}) {
    for (const kernel::Kernel& k : made(kShape, words, lists)) {
      const auto fit = occupancy::occupy(gpu, occupancy::launch_of(k));
      EXPECT_TRUE(fit.launchable) << k.note << fit.reason;
      std::int64_t warps = 0, registers = 0;
      for (const kernel::Role& role : k.roles) {
        warps += role.warps;
        registers += role.warps * role.registers.value_or(k.registers);
      }
      EXPECT_EQ(warps * 32, k.block) << k.note;
      EXPECT_LE(registers, warps * k.registers) << k.note;
      EXPECT_EQ(k.compulsory_write->count(), k.arrays[2].bytes.count());
      EXPECT_EQ(k.flops, 2.0 * 512 * 1024 * 1024);
    }
  }
}

// Every box of the grid's blocks (or of its tiles), and how often it covers each byte of its array.
std::map<int, std::vector<int>> covered(const kernel::Kernel& k) {
  std::map<int, std::vector<int>> times;
  const kernel::Dim3 grid = k.shares ? k.shares->tiles : k.grid;
  const auto visit = [&](const auto& self, const kernel::Program& p, const kernel::Dim3& at,
                         std::vector<std::int64_t> trips) -> void {
    for (const kernel::Op& op : p) {
      for (const kernel::Box& b : op.boxes) {
        auto& bytes = times[b.array];
        bytes.resize(
            static_cast<std::size_t>(k.arrays[static_cast<std::size_t>(b.array)].bytes.count()));
        std::int64_t from = b.offset + at[0] * b.strides.block_x + at[1] * b.strides.block_y +
                            at[2] * b.strides.block_z;
        for (std::size_t d = 0; d < b.strides.loop.size(); ++d) {
          from += b.strides.loop[d] * trips.at(d);
        }
        for (std::int64_t r = 0; r < b.rows; ++r) {
          for (std::int64_t i = 0; i < b.row_bytes; ++i) {
            ++bytes.at(static_cast<std::size_t>(from + r * b.pitch + i));
          }
        }
      }
      if (op.kind != kernel::OpKind::Repeat) { continue; }
      auto inside = trips;
      inside.push_back(0);
      const std::int64_t count = op.over == kernel::Over::Tiles ? 1 : op.count - op.skip;
      for (; inside.back() < count; ++inside.back()) { self(self, op.bodies[0], at, inside); }
    }
  };
  for (std::int64_t z = 0; z < grid[2]; ++z) {
    for (std::int64_t y = 0; y < grid[1]; ++y) {
      for (std::int64_t x = 0; x < grid[0]; ++x) {
        for (const kernel::Role& role : k.roles) { visit(visit, role.program, {x, y, z}, {}); }
      }
    }
  }
  return times;
}

void expect_all(const std::vector<int>& times, int wanted) {
  EXPECT_TRUE(std::all_of(times.begin(), times.end(), [&](int t) { return t == wanted; }));
}

// A is read once per column of tiles, B once per row, D written once.
TEST(Gemm, BoxesCoverTheMatrices) {
  const Numbers shape{{"m", 256}, {"n", 512}, {"k", 256}};
  for (const auto& [words, lists] : std::vector<std::pair<Words, Lists>>{
           {{}, {{"tile", {128, 128}}, {"cluster", {1}}}},
           {{{"b_layout", "nk"}}, {{"tile", {128, 128}}, {"cluster", {2, 1}}}},
           {{{"schedule", "persistent"}}, {{"tile", {128, 128}}}},
           {{{"schedule", "stream-k"}}, {{"tile", {128, 128}}}},
           {{{"roles", "none"}}, {{"tile", {128, 128}}}},
           {{{"dtype", "fp8"}}, {{"tile", {128, 128}}}}}) {
    for (const std::int64_t group : {1, 2, 4}) {
      Numbers numbers = shape;
      const auto cluster = lists.find("cluster");
      const bool pair = cluster == lists.end() || cluster->second.front() == 2;
      if (pair && group == 1) { continue; }
      numbers["group"] = group;
      const auto k = made(numbers, words, lists).front();
      const auto times = covered(k);
      expect_all(times.at(0), 4);
      expect_all(times.at(1), 2);
      const bool stream = words.contains("schedule") && words.at("schedule") == "stream-k";
      if (!stream) { expect_all(times.at(2), 1); }
    }
  }
}

// Every step of every tile falls to one cluster, and no share is a step larger than another.
TEST(Gemm, SharesCoverEveryStepOnce) {
  for (const bool contiguous : {false, true}) {
    for (const auto& [grid, cluster, tiles] :
         {std::tuple{kernel::Dim3{132, 1, 1}, kernel::Dim3{2, 1, 1}, kernel::Dim3{28, 5, 1}},
          {kernel::Dim3{7, 1, 1}, kernel::Dim3{1, 1, 1}, kernel::Dim3{3, 4, 5}},
          {kernel::Dim3{16, 2, 1}, kernel::Dim3{2, 2, 1}, kernel::Dim3{4, 2, 3}},
          {kernel::Dim3{24, 1, 1}, kernel::Dim3{1, 1, 1}, kernel::Dim3{5, 1, 1}}}) {
      kernel::Kernel k;
      k.grid = grid;
      k.cluster = cluster;
      k.shares = kernel::Shares{tiles, 13, contiguous};
      std::map<kernel::Dim3, std::vector<int>> done;
      std::int64_t most = 0, least = 1 << 30, portions = 0, finished = 0;
      for (std::int64_t c = 0; c < kernel::clusters_of(k); ++c) {
        std::int64_t steps = 0;
        for (std::int64_t n = 0; n < kernel::portions_of(k, c); ++n) {
          const auto p = kernel::portion_of(k, c, n);
          auto& times = done[p.tile];
          times.resize(13);
          for (std::int64_t s = p.first; s < p.last; ++s) { ++times[static_cast<std::size_t>(s)]; }
          steps += p.last - p.first;
          ++portions;
          finished += way_of(p, *k.shares) != kernel::PortionWay::Early ? 1 : 0;
          for (std::size_t a = 0; a < 3; ++a) { EXPECT_EQ(p.tile[a] % cluster[a], 0); }
        }
        most = std::max(most, steps);
        least = std::min(least, steps);
      }
      EXPECT_THAT(done, SizeIs(kernel::tile_groups_of(k)));
      for (const auto& [tile, times] : done) { expect_all(times, 1); }
      EXPECT_LE(most - least, contiguous ? 1 : 13);
      const auto count = kernel::count_portions(k);
      EXPECT_EQ(count.portions, portions);
      EXPECT_EQ(count.whole + count.last, finished);
      EXPECT_EQ(finished, kernel::tile_groups_of(k));
    }
  }
}

// What others continue is done before a cluster's own last steps.
TEST(Gemm, ContiguousSharesBeginWithWhatOthersContinue) {
  kernel::Kernel k;
  k.grid = {8, 1, 1};
  k.shares = kernel::Shares{{12, 1, 1}, 10, true};
  const auto first = kernel::portion_of(k, 1, 0), second = kernel::portion_of(k, 1, 1);
  EXPECT_EQ(first.tile[0], 2);
  EXPECT_EQ(first.last, 10);
  EXPECT_EQ(second.tile[0], 1);
  EXPECT_EQ(second.first, 5);
  EXPECT_EQ(kernel::portion_of(k, 0, 0).tile[0], 1);
  EXPECT_EQ(kernel::portion_of(k, 0, 0).last, 5);
}

TEST(Gemm, ChoosesLargeTilesForManyRowsAndNarrowOnesForFew) {
  const auto large = made({{"m", 8192}, {"n", 8192}, {"k", 8192}}).front();
  EXPECT_EQ(*large.accumulators, 128 * 256);
  EXPECT_THAT(large.note, HasSubstr("chosen by waves x tile time"));
  EXPECT_THAT(large.note, HasSubstr("4 stages"));
  EXPECT_EQ(kernel::volume(large.cluster), 2);
  const auto few = made({{"m", 16}, {"n", 4096}, {"k", 4096}}).front();
  EXPECT_LE(*few.accumulators, 64 * 128);
  EXPECT_GE(kernel::volume(few.grid), 64);
}

// A few tiles with a long K: without a split most SMs have nothing to do.
TEST(Gemm, SplitsKWhereTilesAreFew) {
  const Numbers shape{{"m", 512}, {"n", 512}, {"k", 16384}};
  const auto split = made(shape);
  ASSERT_THAT(split, SizeIs(2));
  EXPECT_THAT(split[0].note, HasSubstr("K in 8 parts"));
  EXPECT_THAT(made({{"m", 8192}, {"n", 8192}, {"k", 16384}}), SizeIs(1));
  EXPECT_THAT(made(shape, {}, {{"tile", {128, 128}}}), SizeIs(1));  // the tile is the scenario's
  EXPECT_THAT(made(shape, {{"schedule", "persistent"}}), SizeIs(1));
}

TEST(Gemm, SaysWhichRowsFillWaves) {
  const auto k = made({{"m", 640}, {"n", 7168}, {"k", 8192}}, {},
                      {{"tile", {128, 256}}, {"cluster", {2, 1}}})
                     .front();
  EXPECT_EQ(kernel::volume(k.grid), 140);
  // 28 columns: 9 rows of tiles in two waves of 132, 33 rows in seven whole ones
  EXPECT_THAT(k.note, HasSubstr("140 tiles on 132 places: 2 waves; M up to 1152 takes as many, "
                                "M = 4224 fills 7"));
}

TEST(Gemm, APersistentKernelTakesAllPlaces) {
  const auto k = made({{"m", 2048}, {"n", 8192}, {"k", 512}}, {{"schedule", "persistent"}},
                      {{"tile", {128, 256}}, {"cluster", {1, 2}}})
                     .front();
  EXPECT_EQ(kernel::volume(k.grid), 132);
  EXPECT_EQ(kernel::volume(k.shares->tiles), 512);
}

TEST(Gemm, SplitsAreSummedByAKernelOfTheirOwn) {
  const auto kernels = made({{"m", 128}, {"n", 256}, {"k", 8192}, {"split_k", 8}}, {},
                            {{"tile", {128, 128}}});
  ASSERT_THAT(kernels, SizeIs(2));
  EXPECT_EQ(kernels[1].name, "reduce");
  EXPECT_EQ(kernel::volume(kernels[0].grid), 2 * 8);
  EXPECT_EQ(kernels[0].compulsory_write->count(), 8 * 128 * 256 * 4);
  EXPECT_EQ(kernels[1].compulsory_read->count(), 8 * 128 * 256 * 4);
  EXPECT_EQ(kernels[1].compulsory_write->count(), 128 * 256 * 2);
}

TEST(Gemm, RefusesTiles) {
  EXPECT_THAT(mistake(kShape, {}, {{"tile", {96, 128}}}),
              HasSubstr("tile is 96x128x64; the first number must be 64, 128 or 256"));
  EXPECT_THAT(mistake(kShape, {}, {{"tile", {128, 100}}}), HasSubstr("a multiple of 8 up to 256"));
  EXPECT_THAT(mistake(kShape, {}, {{"tile", {256, 256}}}), HasSubstr("would hold 256 sums"));
  EXPECT_THAT(mistake(kShape, {}, {{"tile", {128, 128, 40}}}),
              HasSubstr("the third number must be a multiple of 16 up to 128"));
}

TEST(Gemm, RefusesWhatDoesNotFitOrDivide) {
  Numbers five = kShape;
  five["stages"] = 5;
  EXPECT_THAT(mistake(five, {}, {{"tile", {128, 256}}}), HasSubstr("stages is 5; 4 of 48 KiB fit"));
  EXPECT_THAT(mistake(kShape, {}, {{"tile", {128, 256}}, {"cluster", {3, 1}}}),
              HasSubstr("cluster has 3 blocks along x; they do not divide the 128 rows of A"));
  Numbers split = kShape;
  split["split_k"] = 3;
  EXPECT_THAT(mistake(split, {}, {{"tile", {128, 128}}}),
              HasSubstr("split_k is 3; it must divide the 16 steps of 64 along K"));
  Numbers odd = kShape;
  odd["group"] = 3;
  EXPECT_THAT(mistake(odd, {}, {{"tile", {128, 128}}}), HasSubstr("group is 3; it must divide"));
  EXPECT_THAT(mistake({{"m", 64}, {"n", 64}, {"k", 100}}), HasSubstr("k is 100: rows of 200 B"));
}

TEST(Gemm, RefusesWhatTheGpuLacks) {
  auto ampere = specs::sm86();
  ampere.tensor.fp8 = 0;
  EXPECT_THAT(mistake(kShape, {{"dtype", "fp8"}}, {}, ampere),
              HasSubstr("dtype is fp8; the tensor cores of sm86-like multiply bf16, fp16, tf32"));
  EXPECT_THAT(mistake(kShape, {{"mainloop", "tma"}}, {}, ampere),
              HasSubstr("mainloop is tma; wgmma.mma_async does not exist on sm_86"));
  EXPECT_THAT(mistake(kShape, {}, {{"cluster", {2}}}, ampere),
              HasSubstr("a thread block cluster does not exist on sm_86"));
  EXPECT_THAT(mistake(kShape, {{"mainloop", "cp_async"}, {"roles", "cooperative"}}),
              HasSubstr("only the TMA mainloop has a producer warp"));
  EXPECT_THAT(made(kShape, {}, {}, ampere).front().note, HasSubstr("cp.async and mma.sync"));
}

}  // namespace
}  // namespace wavetail::library
