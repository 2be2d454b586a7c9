// SPDX-License-Identifier: Apache-2.0
// The coalescer against a set of bytes.
#include "memory/shape.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <set>

namespace wavetail::memory {
namespace {

std::int64_t floor_div(std::int64_t a, std::int64_t b) {
  return a >= 0 ? a / b : -((-a + b - 1) / b);
}

void compare(const std::vector<std::int64_t>& offsets, int width, int misalignment) {
  std::set<std::int64_t> bytes;
  for (const std::int64_t offset : offsets) {
    for (int b = 0; b < width; ++b) { bytes.insert(misalignment + offset + b); }
  }
  std::map<std::int64_t, int> per_sector;
  std::set<std::int64_t> lines;
  for (const std::int64_t b : bytes) {
    ++per_sector[floor_div(b, kSectorBytes)];
    lines.insert(floor_div(b, kLineBytes));
  }
  const Shape shape = coalesce(offsets, width, misalignment);
  ASSERT_EQ(shape.lines, static_cast<int>(lines.size()));
  ASSERT_EQ(shape.sectors, static_cast<int>(per_sector.size()));
  ASSERT_EQ(shape.lanes, static_cast<int>(offsets.size()));
  ASSERT_EQ(shape.useful_bytes, static_cast<int>(offsets.size()) * width);
  bool partial = false;
  for (int l = 0; l < shape.lines; ++l) {
    const auto n = static_cast<std::size_t>(l);
    ASSERT_EQ(lines.count(shape.delta[n]), 1U);
    for (int s = 0; s < 4; ++s) {
      const auto in_sector = per_sector.find(std::int64_t{shape.delta[n]} * 4 + s);
      const bool touched = in_sector != per_sector.end();
      ASSERT_EQ((shape.mask[n] >> s & 1) != 0, touched);
      ASSERT_EQ((shape.covered[n] >> s & 1) != 0, touched && in_sector->second == kSectorBytes);
      partial = partial || (touched && in_sector->second != kSectorBytes);
    }
  }
  ASSERT_EQ(shape.partial, partial);
}

TEST(Coalescer, IsASetOfBytes) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 20'000; ++trial) {
    const int width = 1 << (random() % 5);
    const auto lanes = 1 + random() % 64;
    const auto spread = 1 + random() % (trial % 2 == 0 ? 64 : 4096);
    std::vector<std::int64_t> offsets;
    const bool regular = random() % 2 == 0;
    for (std::uint64_t lane = 0; lane < lanes; ++lane) {
      const auto step = regular ? lane * spread : random() % (lanes * spread);
      const auto at = static_cast<std::int64_t>(step) * width;
      offsets.push_back(random() % 50 == 0 ? -at : at);
    }
    const auto misalignment = static_cast<int>(random() % 128) / width * width;
    compare(offsets, width, misalignment);
    if (testing::Test::HasFatalFailure()) { return; }
  }
}

TEST(Coalescer, NoLanesTouchNothing) { EXPECT_EQ(coalesce({}, 4, 0).lines, 0); }

}  // namespace
}  // namespace wavetail::memory
