// SPDX-License-Identifier: Apache-2.0
// The banks against a set of words per bank, served pass by pass.
#include "memory/banks.h"

#include <gtest/gtest.h>

#include <array>
#include <random>
#include <set>
#include <vector>

namespace wavetail::memory {
namespace {

// Bytes, one after the other; pairs are looked at lane by lane.
BankAccess oracle(const std::vector<std::int64_t>& lanes, int width, bool merge) {
  const auto paired = [&](std::size_t distance) {
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      const auto partner = i ^ distance;
      const bool both = partner < lanes.size() && lanes[i] >= 0 && lanes[partner] >= 0;
      if (both && lanes[i] != lanes[partner]) { return false; }
    }
    return true;
  };
  std::size_t together = width <= 4 ? 32 : width == 8 ? 16 : 8;
  if (merge && width > 4 && (paired(1) || paired(2))) { together *= 2; }
  BankAccess access;
  for (std::size_t first = 0; first < lanes.size(); first += together) {
    std::array<std::set<std::int64_t>, 32> banks;
    for (std::size_t i = first; i < std::min(first + together, lanes.size()); ++i) {
      for (int b = 0; b < width && lanes[i] >= 0; ++b) {
        const std::int64_t word = (lanes[i] + b) / 4;
        banks[static_cast<std::size_t>(word % 32)].insert(word);
      }
    }
    std::size_t fullest = 0;
    for (const auto& words : banks) { fullest = std::max(fullest, words.size()); }
    access.wavefronts += static_cast<int>(fullest);
    access.passes += fullest > 0 ? 1 : 0;
  }
  return access;
}

TEST(Banks, AreSetsOfWords) {
  std::mt19937_64 random(1);
  for (int trial = 0; trial < 20'000; ++trial) {
    const int width = 1 << (random() % 5);
    const std::size_t warp = random() % 4 == 0 ? 64 : 32;
    const std::int64_t spread = 1 + static_cast<std::int64_t>(random() % (trial % 2 ? 40 : 2000));
    const auto shape = random() % 4;
    const auto share = 1 + random() % 4;
    std::vector<std::int64_t> lanes;
    for (std::size_t lane = 0; lane < warp; ++lane) {
      auto element = static_cast<std::int64_t>(random() % 64) * spread;
      if (shape == 1) { element = static_cast<std::int64_t>(lane) * spread; }
      if (shape == 2) { element = static_cast<std::int64_t>(lane / 2) * spread; }
      if (shape == 3) { element = static_cast<std::int64_t>(lane & ~2U) * spread; }
      lanes.push_back(random() % 8 < share ? kNoLane : element * width);
    }
    for (const bool merge : {false, true}) {
      const BankAccess ours = bank_access(lanes, width, merge);
      ASSERT_EQ(ours, oracle(lanes, width, merge)) << "trial " << trial << " width " << width;
      ASSERT_GE(ours.conflicts(), 0);
    }
  }
}

}  // namespace
}  // namespace wavetail::memory
