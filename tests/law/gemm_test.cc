// SPDX-License-Identifier: Apache-2.0
// The laws on matrix products: what comes from L2 is what the tiles say, DRAM moves at least what
// it must, no way of doing it beats the bound, and the issue quantum does not matter.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "law/async_laws.h"
#include "library/template.h"
#include "support/specs.h"

namespace wavetail::tests {
namespace {

struct Case {
  std::map<std::string, std::int64_t, std::less<>> numbers;
  std::map<std::string, std::string, std::less<>> words;
  std::map<std::string, std::vector<std::int64_t>, std::less<>> lists;
  double within = 0.02;  // of the time with a quantum of 1
};

// On eight SMs, so that a few tiles make waves.
scenario::Scenario product(const Case& c) {
  scenario::Scenario s;
  s.gpu = specs::h100();
  s.gpu.gpcs = {4, 4};
  std::vector<kernel::Kernel> made;
  const auto mistakes = library::build(*library::find_template("gemm"),
                                       {c.numbers, c.words, c.lists}, s.gpu, made);
  EXPECT_THAT(mistakes, testing::IsEmpty()) << mistakes.front().message;
  made.resize(1);  // the reduction behind split-K has its own tests
  s.kernels = made;
  host::Item launch;
  launch.kind = host::ItemKind::Launch;
  launch.kernel = 0;
  s.timeline.items.push_back(launch);
  return s;
}

// Of the kernel's image a launch reads parameters, code and tensor maps: a burst of DRAM each.
constexpr std::int64_t kImage = 3 * 64;

const std::map<std::string, std::int64_t, std::less<>> kShape{{"m", 384}, {"n", 1280}, {"k", 512}};

std::vector<Case> ways() {
  return {
      {kShape, {}, {{"tile", {128, 128}}, {"cluster", {1}}}},
      {kShape, {}, {{"tile", {128, 128}}, {"cluster", {2, 1}}}},
      {kShape, {{"schedule", "persistent"}}, {{"tile", {128, 128}}, {"cluster", {2, 1}}}},
      {kShape, {{"schedule", "stream-k"}}, {{"tile", {128, 128}}, {"cluster", {2, 1}}}},
      {{{"m", 384}, {"n", 1280}, {"k", 4096}},
       {{"schedule", "stream-k"}, {"dtype", "fp8"}},
       {{"tile", {64, 256}}}},
      {kShape, {{"roles", "none"}, {"epilogue", "direct"}}, {{"tile", {128, 128}}}},
      {kShape,
       {{"roles", "none"}, {"arrivals", "thread"}, {"epilogue", "scalar"}, {"d_layout", "nm"}},
       {{"tile", {128, 128}}, {"cluster", {1}}}},
      {kShape,
       {{"arrivals", "thread"}, {"schedule", "persistent"}, {"out", "fp32"}},
       {{"tile", {128, 256}}, {"cluster", {1}}}},
      {kShape, {{"d_layout", "nm"}}, {{"tile", {128, 320}}, {"cluster", {1, 1}}}},
      {{{"m", 384}, {"n", 1280}, {"k", 512}, {"warps", 16}, {"swizzle", 0}, {"read_ahead", 0}},
       {{"mainloop", "cp_async"}, {"out", "fp32"}},
       {{"tile", {128, 128, 32}}}},
      {kShape, {{"mainloop", "cp_async"}, {"schedule", "stream-k"}}, {{"tile", {128, 128, 32}}}},
      {{{"m", 128}, {"n", 256}, {"k", 1024}, {"split_k", 4}}, {}, {{"tile", {128, 128}}}},
      {kShape, {{"mainloop", "cp_async"}}, {{"tile", {128, 128, 32}}}, 0.04},
      {kShape,
       {{"mainloop", "cp_async"}, {"schedule", "persistent"}, {"dtype", "tf32"}},
       {{"tile", {128, 64, 32}}}},
      {kShape, {{"mainloop", "sync"}}, {{"tile", {128, 128, 32}}}, 0.06},
  };
}

TEST(GemmLaws, HoldForEveryWayOfDoingIt) {
  int number = 0;
  for (const Case& c : ways()) {
    SCOPED_TRACE(number++);
    expect_async_laws(product(c));
  }
}

// Two warps of a scheduler whose products alternate one by one keep the tensor pipe a few percent
// better or worse than two that take turns of sixteen: those cases name what they miss
// (docs/deviations.md, long-mma-runs).
TEST(GemmLaws, TheQuantumHardlyMatters) {
  int number = 0;
  double sum = 0;
  for (const Case& c : ways()) {
    scenario::Scenario s = product(c);
    const double usual = unit::microseconds(drive(s).kernel_time());
    s.simulation.issue_quantum = 1;
    const double exact = unit::microseconds(drive(s).kernel_time());
    EXPECT_NEAR(usual / exact, 1, c.within) << number << ": " << exact << " us";
    sum += std::abs(usual / exact - 1);
    ++number;
  }
  EXPECT_LT(sum / number, 0.01);
}

// Bytes from L2: tiles x steps x (A + B of a tile), each operand divided among the blocks of a
// cluster that need it alike; D goes out once.
TEST(GemmLaws, L2ReadsAreTileArithmetic) {
  constexpr std::int64_t kTiles = 3 * 10, kSteps = 8, kOperand = 128 * 64 * 2;
  const auto counters = [](std::vector<std::int64_t> cluster, const char* schedule) {
    return drive(product({kShape,
                          {{"schedule", schedule}},
                          {{"tile", {128, 128}}, {"cluster", std::move(cluster)}}}))
        .total();
  };
  for (const char* schedule : {"data-parallel", "persistent"}) {
    const auto alone = counters({1, 1}, schedule), pair = counters({2, 1}, schedule);
    EXPECT_EQ(alone.tma_fetch_bytes, kTiles * kSteps * 2 * kOperand) << schedule;
    EXPECT_EQ(pair.tma_fetch_bytes, kTiles * kSteps * 3 * kOperand / 2) << schedule;
    EXPECT_EQ(pair.tma_load_bytes, alone.tma_fetch_bytes) << schedule;
    EXPECT_EQ(alone.tma_store_bytes, 384 * 1280 * 2) << schedule;
    EXPECT_EQ(alone.dram_read_bytes, (384 * 512 + 512 * 1280) * 2 + kImage) << schedule;
  }
}

// Tiles that reach beyond the matrices still read all of them, at every step of K.
TEST(GemmLaws, EdgeTilesLeaveNothingOut) {
  const auto c = drive(product({{{"m", 320}, {"n", 448}, {"k", 512}},
                                {{"b_layout", "nk"}},
                                {{"tile", {128, 128}}, {"cluster", {1}}}}))
                     .total();
  EXPECT_EQ(c.dram_read_bytes, (320 * 512 + 512 * 448) * 2 + kImage);
}

TEST(GemmLaws, FlopsAreThoseOfWholeTiles) {
  const auto s = product({{{"m", 16}, {"n", 1024}, {"k", 512}}, {}, {{"tile", {64, 128}}}});
  const auto c = drive(s).total();
  EXPECT_EQ(s.kernels[0].flops, 2.0 * 16 * 1024 * 512);
  EXPECT_EQ(c.tensor_flops, 4 * s.kernels[0].flops);  // 64 rows, of which 16 carry data
}

// 12 tiles on eight SMs: two waves where one would need half the time; an equal share of all steps
// for every block comes close to what the FLOPs need.
TEST(GemmLaws, StreamKEvensOutWaves) {
  const auto time = [](std::int64_t m, const char* schedule) {
    return unit::microseconds(drive(product({{{"m", m}, {"n", 512}, {"k", 8192}},
                                             {{"schedule", schedule}},
                                             {{"tile", {128, 128}}, {"cluster", {2, 1}}}}))
                                  .kernel_time());
  };
  const double whole = time(256, "data-parallel");
  EXPECT_NEAR(time(384, "data-parallel") / whole, 2, 0.1);
  EXPECT_NEAR(time(384, "persistent") / whole, 2, 0.1);
  EXPECT_LT(time(384, "stream-k") / whole, 1.5 * 1.2);
}

}  // namespace
}  // namespace wavetail::tests
