// SPDX-License-Identifier: Apache-2.0
// L1: cycles per warp load against wavefronts counted bank by bank, and what becomes of loads for
// which it has no place.
#include <algorithm>
#include <map>
#include <set>

#include "analytic/lab.h"

namespace wavetail::tests {
namespace {

constexpr std::int64_t kLoads = 64, kWarps = 16;

// Words in the fullest bank, pass by pass.
std::int64_t data_wavefronts(const std::vector<std::int64_t>& lanes, int width) {
  const std::size_t together = static_cast<std::size_t>(128 / std::max(width, 4));
  std::int64_t wavefronts = 0;
  for (std::size_t first = 0; first < lanes.size(); first += together) {
    std::map<std::int64_t, std::set<std::int64_t>> banks;
    for (std::size_t i = first; i < first + together; ++i) {
      for (std::int64_t at = lanes[i]; at < lanes[i] + width; ++at) {
        banks[at / 4 % 32].insert(at / 4);
      }
    }
    std::size_t fullest = 0;
    for (const auto& [bank, words] : banks) { fullest = std::max(fullest, words.size()); }
    wavefronts += static_cast<std::int64_t>(fullest);
  }
  return wavefronts;
}

// Lines in the fullest of four banks.
std::int64_t tag_wavefronts(const std::vector<std::int64_t>& lanes) {
  std::map<std::int64_t, std::set<std::int64_t>> banks;
  for (const std::int64_t at : lanes) {
    std::int64_t bank = 0;
    for (std::int64_t line = at / 128; line > 0; line /= 4) { bank ^= line % 4; }
    banks[bank].insert(at / 128);
  }
  std::size_t fullest = 0;
  for (const auto& [bank, lines] : banks) { fullest = std::max(fullest, lines.size()); }
  return static_cast<std::int64_t>(fullest);
}

// Every warp loads from the same addresses, again and again.
DrivenLaunch read(const std::vector<std::int64_t>& lanes, int width, std::int64_t trips) {
  Op op = load(0, width);
  op.access.pattern = kernel::Pattern::Listed;
  op.access.walk = kernel::WalkKind::Strides;
  op.access.offsets = lanes;
  gpu::GpuSpec g = instant();
  g.l1.tag_banks = 4;
  const Program body(kLoads, op);
  Program once = body;
  once.push_back(wait());
  return run_alone(
      g, kernel_of({repeat(trips, std::move(once))}, 1, 32 * kWarps, {{"x", 1_MiB, false}}));
}

std::vector<std::int64_t> strided(std::int64_t bytes, std::int64_t from) {
  std::vector<std::int64_t> lanes;
  for (std::int64_t i = 0; i < 32; ++i) { lanes.push_back(from + i * bytes); }
  return lanes;
}

std::vector<std::int64_t> rows(std::int64_t width, std::int64_t across, std::int64_t pitch) {
  std::vector<std::int64_t> lanes;
  for (std::int64_t i = 0; i < 32; ++i) {
    lanes.push_back(i % across * width + i / across * pitch);
  }
  return lanes;
}

TEST(L1Throughput, IsTheLongerOfDataAndTags) {
  std::vector<std::pair<std::vector<std::int64_t>, int>> accesses;
  for (const int width : {4, 8, 16}) {
    for (const std::int64_t elements : {0, 1, 2, 3, 7, 9, 13, 15, 16, 33}) {
      accesses.emplace_back(strided(elements * width, 5 * width), width);
    }
    for (const std::int64_t across : {1, 2, 4, 8}) {
      accesses.emplace_back(rows(width, across, 4098 * width), width);
    }
  }
  for (const auto& [lanes, width] : accesses) {
    const std::int64_t data = data_wavefronts(lanes, width), tags = tag_wavefronts(lanes);
    const DrivenLaunch few = read(lanes, width, 2), many = read(lanes, width, 4);
    const double each = cycles(many.time() - few.time(), instant()) / (2 * kLoads * kWarps);
    EXPECT_NEAR(each, static_cast<double>(std::max(data, tags)), 0.07)
        << width << " B from " << lanes[0] << " and " << lanes[1];
    EXPECT_EQ(many.counters.data_wavefronts, 4 * kLoads * kWarps * data);
    EXPECT_EQ(many.counters.tag_wavefronts, 4 * kLoads * kWarps * tags);
  }
}

// Eight 8-byte elements of each thread, side by side, or each load's a warp side by side.
DrivenLaunch elements(double pending, bool adjacent) {
  constexpr std::int64_t kEach = 8, kWidth = 8, kBlocks = 2, kBlock = 1024;
  Op op = load(0, kWidth, kEach);
  op.access.walk = adjacent ? kernel::WalkKind::Thread : kernel::WalkKind::Grid;
  gpu::GpuSpec g = instant();
  g.gpcs = {1};
  g.l1.pending = pending;
  g.l1.ways = 64;  // no set has more lines than ways
  return run_alone(g, kernel_of({op, wait(), fma(1)}, kBlocks, kBlock,
                                {{"x", unit::Bytes{kBlocks * kBlock * kEach * kWidth}, false}}));
}

// 64 warps want 1,024 lines. If all may wait each sector is fetched once; if 256 may, loads without
// a place fetch again what is on its way. DRAM does not notice, and loads that share no sector do
// not either.
TEST(L1Places, WhoFindsNoneFetchesAgain) {
  constexpr std::int64_t kSectors = 4096;
  for (const double pending : {1.0, 0.125}) {
    EXPECT_EQ(elements(pending, false).counters.l2_read_sectors, kSectors);
    EXPECT_EQ(elements(pending, true).counters.dram_read_bytes, 32 * kSectors);
  }
  const result::Counters all = elements(1, true).counters, few = elements(0.125, true).counters;
  EXPECT_EQ(all.l2_read_sectors, kSectors);
  EXPECT_EQ(all.l1_sectors, all.l1_hit_sectors + all.l1_pending_sectors + all.l2_read_sectors);
  EXPECT_EQ(few.l1_sectors, few.l1_hit_sectors + few.l1_pending_sectors + few.l2_read_sectors);
  EXPECT_GT(few.l2_read_sectors, 2 * kSectors);
  EXPECT_GT(few.l2_hit_sectors, kSectors);
}

}  // namespace
}  // namespace wavetail::tests
