// SPDX-License-Identifier: Apache-2.0
// The laws on products by tcgen05, and what only these have: pairs that fetch half of B each, tiles
// whose way to D overlaps with the next one's making.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "law/async_laws.h"
#include "library/template.h"
#include "support/specs.h"

namespace wavetail::tests {
namespace {

struct Case {
  std::map<std::string, std::int64_t, std::less<>> numbers;
  std::map<std::string, std::string, std::less<>> words;
  std::map<std::string, std::vector<std::int64_t>, std::less<>> lists;
};

// On eight SMs, so that a few tiles make rounds.
scenario::Scenario product(const Case& c) {
  scenario::Scenario s;
  s.gpu = specs::b200();
  s.gpu.gpcs = {4, 4};
  s.gpu.tma.rate = unit::BytesPerCycle{128'000};
  s.gpu.tma.request = 1;
  s.gpu.tma.landing = unit::BytesPerCycle{128'000};
  std::vector<kernel::Kernel> made;
  const auto mistakes = library::build(*library::find_template("gemm"),
                                       {c.numbers, c.words, c.lists}, s.gpu, made);
  EXPECT_THAT(mistakes, testing::IsEmpty()) << mistakes.front().message;
  made.resize(1);
  s.kernels = made;
  host::Item launch;
  launch.kind = host::ItemKind::Launch;
  launch.kernel = 0;
  s.timeline.items.push_back(launch);
  return s;
}

const std::map<std::string, std::int64_t, std::less<>> kShape{{"m", 512}, {"n", 1280}, {"k", 512}};

std::vector<Case> ways() {
  return {
      {kShape, {}, {}},
      {kShape, {}, {{"tile", {128, 128}}}},
      {kShape, {{"b_layout", "nk"}}, {{"tile", {256, 128}}}},
      {kShape, {{"schedule", "data-parallel"}}, {{"tile", {256, 256}}}},
      {kShape, {{"dtype", "fp8"}}, {{"tile", {256, 64}}}},
      {{{"m", 128}, {"n", 256}, {"k", 1024}, {"split_k", 4}}, {}, {{"tile", {128, 128}}}},
      {{{"m", 16}, {"n", 512}, {"k", 1024}}, {{"b_layout", "nk"}}, {}},
  };
}

TEST(GemmTcgen05, LawsHold) {
  int number = 0;
  for (const Case& c : ways()) {
    SCOPED_TRACE(number++);
    expect_async_laws(product(c));
  }
}

TEST(GemmTcgen05, TheQuantumHardlyMatters) {
  int number = 0;
  for (const Case& c : ways()) {
    scenario::Scenario s = product(c);
    const double usual = unit::microseconds(drive(s).kernel_time());
    s.simulation.issue_quantum = 1;
    const double exact = unit::microseconds(drive(s).kernel_time());
    EXPECT_NEAR(usual / exact, 1, 0.02) << number << ": " << exact << " us";
    ++number;
  }
}

// Bytes from L2: tiles x steps x (A + B of a tile); a pair's blocks each fetch half of B.
TEST(GemmTcgen05, APairFetchesHalfOfBEach) {
  constexpr std::int64_t kTiles = 4 * 10, kSteps = 8, kOperand = 128 * 64 * 2;
  const auto counters = [](std::int64_t rows) {
    return drive(product({kShape, {{"b_layout", "nk"}}, {{"tile", {rows, 128}}}})).total();
  };
  const auto alone = counters(128), pair = counters(256);
  EXPECT_EQ(alone.tma_fetch_bytes, kTiles * kSteps * 2 * kOperand);
  EXPECT_EQ(pair.tma_fetch_bytes, kTiles * kSteps * 3 * kOperand / 2);
  EXPECT_EQ(pair.tma_load_bytes, pair.tma_fetch_bytes);
  EXPECT_EQ(alone.tma_store_bytes, 512 * 1280 * 2);
  EXPECT_DOUBLE_EQ(alone.tensor_flops, 2.0 * 512 * 1280 * 512);
  EXPECT_DOUBLE_EQ(pair.tensor_flops, alone.tensor_flops);
}

// A tile leaves while the next one is made: three of them take little more than three times the
// making, a block per tile all of both.
TEST(GemmTcgen05, TheWayOutOverlaps) {
  const auto time = [](std::int64_t m, const char* schedule) {
    return unit::microseconds(drive(product({{{"m", m}, {"n", 256}, {"k", 1024}},
                                             {{"schedule", schedule}, {"b_layout", "nk"}},
                                             {{"tile", {128, 256}}}}))
                                  .kernel_time());
  };
  const double one = time(1024, "persistent"), three = time(3 * 1024, "persistent");
  const double making = 16 * 4 * 128 / 1830.0;  // us of a tile
  EXPECT_NEAR((three - one) / 2, making, 0.05 * making);
  EXPECT_GT(time(3 * 1024, "data-parallel"), three + making / 4);
}

}  // namespace
}  // namespace wavetail::tests
