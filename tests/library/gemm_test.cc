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
           {{{"epilogue", "scalar"}, {"out", "fp32"}}, {{"tile", {192, 64}}}},
           {{{"d_layout", "nm"}, {"arrivals", "thread"}}, {{"tile", {128, 256}}, {"cluster", {1}}}},
           {{{"mainloop", "cp_async"}, {"schedule", "stream-k"}}, {{"tile", {128, 128, 32}}}},
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

const Words kAlongK{{"b_layout", "nk"}};

std::int64_t columns_of_wgmma(const kernel::Program& p) {
  for (const kernel::Op& op : p) {
    if (op.kind == kernel::OpKind::Wgmma) { return op.tensor.n; }
    for (const kernel::Program& body : op.bodies) {
      if (const auto n = columns_of_wgmma(body); n > 0) { return n; }
    }
  }
  return 0;
}

TEST(Gemm, FewRowsTakeTheSideOfTheColumns) {
  const Numbers few{{"m", 5}, {"n", 4096}, {"k", 4096}};
  const kernel::Kernel k = made(few, kAlongK).front();
  EXPECT_THAT(k.note, HasSubstr("of the transpose"));
  EXPECT_EQ(columns_of_wgmma(k.roles.back().program), 8);
  EXPECT_EQ(k.arrays[0].bytes.count(), 4096 * 4096 * 2);  // the weights are on the left
  EXPECT_EQ(k.arrays[1].bytes.count(), 5 * 4096 * 2);
  EXPECT_EQ(k.arrays[2].bytes.count(), 5 * 4096 * 2);
  // [k, n] weights cannot be a left operand
  EXPECT_GE(
      columns_of_wgmma(made({{"m", 8}, {"n", 4096}, {"k", 4096}}).front().roles.back().program), 8);
  EXPECT_THAT(made({{"m", 8}, {"n", 4096}, {"k", 4096}}).front().note,
              ::testing::Not(HasSubstr("of the transpose")));
}

TEST(Gemm, SeveralWavesOfAChosenTileArePersistent) {
  const Numbers large{{"m", 8192}, {"n", 8192}, {"k", 512}};
  EXPECT_TRUE(made(large).front().shares);
  EXPECT_FALSE(made(large, {{"schedule", "data-parallel"}}).front().shares);
  EXPECT_FALSE(made(large, {}, {{"tile", {128, 256}}}).front().shares);
  EXPECT_FALSE(made({{"m", 512}, {"n", 512}, {"k", 512}}).front().shares);
}

TEST(Gemm, LongSumsOfFewTilesAreSplit) {
  const auto kernels = made({{"m", 64}, {"n", 256}, {"k", 32768}}, kAlongK);
  ASSERT_THAT(kernels, SizeIs(2));
  EXPECT_EQ(kernels[1].name, "reduce");
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

// A tile that is wider than a wgmma is multiplied in two parts, whose columns of B are boxes each.
TEST(Gemm, WideTilesAreMultipliedInParts) {
  const auto k = made({{"m", 256}, {"n", 640}, {"k", 256}, {"stages", 3}},
                      {{"b_layout", "nk"}, {"schedule", "persistent"}, {"epilogue", "direct"}},
                      {{"tile", {128, 320}}, {"cluster", {1, 2}}})
                     .front();
  const auto times = covered(k);
  expect_all(times.at(0), 2);
  expect_all(times.at(1), 2);
  EXPECT_EQ(k.mbarriers.front().stages, 3);
}

// How often the stores of registers cover each byte of D.
std::vector<int> stored(const kernel::Kernel& k) {
  std::vector<int> times(static_cast<std::size_t>(k.arrays[2].bytes.count()));
  const kernel::Role& role = k.roles.back();
  for (std::int64_t block = 0; block < kernel::volume(k.grid); ++block) {
    const std::int64_t x = block % k.grid[0], y = block / k.grid[0] % k.grid[1],
                       z = block / (k.grid[0] * k.grid[1]);
    for (const kernel::Op& op : role.program) {
      if (op.kind != kernel::OpKind::Store) { continue; }
      const kernel::Strides& s = op.access.strides;
      for (std::int64_t n = 0; n < role.warps * op.count; ++n) {
        const std::int64_t at = op.access.offset + x * s.block_x + y * s.block_y + z * s.block_z +
                                n / op.count * s.warp + n % op.count * s.count;
        for (const std::int64_t lane : op.access.offsets) {
          for (int b = 0; b < op.access.width; ++b) {
            ++times.at(static_cast<std::size_t>(at + lane + b));
          }
        }
      }
    }
  }
  return times;
}

TEST(Gemm, RegistersAreStoredOnce) {
  const Numbers shape{{"m", 256}, {"n", 512}, {"k", 256}};
  for (const Words& words : std::vector<Words>{{{"epilogue", "direct"}},
                                               {{"epilogue", "scalar"}},
                                               {{"epilogue", "scalar"}, {"out", "fp32"}},
                                               {{"epilogue", "scalar"}, {"d_layout", "nm"}},
                                               {{"mainloop", "cp_async"}, {"d_layout", "nm"}}}) {
    expect_all(stored(made(shape, words, {{"tile", {128, 64}}, {"cluster", {1}}}).front()), 1);
  }
}

TEST(Gemm, RefusesWaysThatDoNotGoTogether) {
  const Lists tile{{"tile", {128, 128}}};
  const auto with = [](const char* key, std::int64_t value) {
    Numbers numbers = kShape;
    numbers[key] = value;
    return numbers;
  };
  EXPECT_THAT(mistake(kShape, {{"epilogue", "direct"}, {"d_layout", "nm"}}, tile),
              HasSubstr("epilogue is direct; a lane's neighbouring sums"));
  EXPECT_THAT(mistake(with("warps", 6), {}, tile), HasSubstr("warps is 6; wgmma takes warpgroups"));
  EXPECT_THAT(mistake(with("warps", 6), {{"mainloop", "cp_async"}}, tile),
              HasSubstr("warps is 6; a grid of warps needs"));
  EXPECT_THAT(mistake(with("under_way", 1), {{"roles", "none"}}, tile),
              HasSubstr("under_way is 1"));
  EXPECT_THAT(mistake(with("swizzle", 0), {}, tile), HasSubstr("swizzle is false"));
  EXPECT_THAT(mistake(with("read_ahead", 0), {}, tile), HasSubstr("read_ahead is false"));
  EXPECT_THAT(mistake(with("blocks", 64), {}, tile), HasSubstr("blocks is 64; only schedule"));
  EXPECT_THAT(mistake(kShape, {{"mainloop", "cp_async"}, {"arrivals", "thread"}}, tile),
              HasSubstr("arrivals is thread; only the TMA mainloop"));
  EXPECT_THAT(mistake(kShape, {{"arrivals", "thread"}}, {{"tile", {128, 128}}, {"cluster", {2}}}),
              HasSubstr("arrivals is thread; a stage that a cluster shares"));
  EXPECT_EQ(made(with("registers", 168), {}, tile).front().registers, 168);
  Numbers places = with("blocks", 3);
  places["group"] = 8;
  EXPECT_EQ(kernel::volume(
                made(places, {{"schedule", "persistent"}}, {{"tile", {128, 128}}, {"cluster", {1}}})
                    .front()
                    .grid),
            3);
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
           {{{"d_layout", "nm"}}, {{"tile", {128, 128}}, {"cluster", {1}}}},
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

TEST(Gemm, ChoosesLargeTilesForManyRowsAndNarrowOnesForFew) {
  const auto large = made({{"m", 8192}, {"n", 8192}, {"k", 8192}}).front();
  EXPECT_EQ(*large.accumulators, 256 * 160);
  EXPECT_THAT(large.note, HasSubstr("chosen by waves x tile time"));
  EXPECT_THAT(large.note, HasSubstr("3 stages"));
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
  EXPECT_THAT(split[0].note, HasSubstr("K in 16 parts"));
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
              HasSubstr("tile is 96x128x64; the first number must be 64, 128, 192 or 256"));
  EXPECT_THAT(mistake(kShape, {}, {{"tile", {128, 100}}}), HasSubstr("a multiple of 8"));
  EXPECT_THAT(mistake(kShape, {}, {{"tile", {128, 328}}}), HasSubstr("a multiple of 16"));
  Numbers one = kShape;
  one["warps"] = 8;
  EXPECT_THAT(mistake(one, {}, {{"tile", {192, 64}}}),
              HasSubstr("tile is 192x64x64; 2 warpgroups do not divide its blocks of 64 rows"));
  one["warps"] = 32;
  EXPECT_THAT(mistake(one, {{"mainloop", "cp_async"}}, {{"tile", {64, 32, 32}}}),
              HasSubstr("32 warps do not find 16 x 8 of it each"));
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
  EXPECT_THAT(mistake(odd, {}, {{"tile", {128, 128}}}),
              HasSubstr("group is 3; clusters of 2 must divide it"));
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
