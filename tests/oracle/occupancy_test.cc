// SPDX-License-Identifier: Apache-2.0
// occupy() against an SM that is really filled: registers, warp slots, shared memory and block
// slots are handed out one by one, warp by warp over four sub-partitions, until something does not
// fit. The limits are those of NVIDIA's tables, typed in here once more, so that the simulator's
// own table is checked as well.
#include "occupancy/occupancy.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <ostream>
#include <random>
#include <set>
#include <vector>

#include "gpu/architecture.h"

namespace wavetail::occupancy {
namespace {

// CUDA C++ Programming Guide, technical specifications per compute capability (7.0: Volta Tuning
// Guide); units: cuda_occupancy.h.
struct Part {
  const char* name;
  int warps, blocks;
  int shared_kib, block_kib, reserved, unit;  // per SM, per block, bytes
  int cluster;
};

void PrintTo(const Part& part, std::ostream* out) { *out << part.name; }

constexpr std::array kParts{
    Part{"sm_70", 64, 32, 96, 96, 0, 256, 1},        Part{"sm_75", 32, 16, 64, 64, 0, 256, 1},
    Part{"sm_80", 64, 32, 164, 163, 1024, 128, 1},   Part{"sm_86", 48, 16, 100, 99, 1024, 128, 1},
    Part{"sm_89", 48, 24, 100, 99, 1024, 128, 1},    Part{"sm_90", 64, 32, 228, 227, 1024, 128, 16},
    Part{"sm_100", 64, 32, 228, 227, 1024, 128, 16}, Part{"sm_120", 48, 24, 100, 99, 1024, 128, 1},
};

// KiB that shared memory can be set to (CUDA C++ Programming Guide, shared memory of 7.x to 12.0).
std::vector<int> sizes(const Part& part) {
  switch (part.shared_kib) {
    case 64: return {32, 64};
    case 96: return {0, 8, 16, 32, 64, 96};
    case 100: return {0, 8, 16, 32, 64, 100};
    case 164: return {0, 8, 16, 32, 64, 100, 132, 164};
    default: return {0, 8, 16, 32, 64, 100, 132, 164, 196, 228};
  }
}

// What the SM has: all of it, or the size next to the one that the kernel prefers, unless that is
// too small for a block.
int shared_memory_kib(const Part& part, const Launch& l) {
  if (!l.carveout) { return part.shared_kib; }
  const auto least = std::max(l.carveout->count(), l.shared_memory.count() + part.reserved);
  for (const int size : sizes(part)) {
    if (1024 * size >= least) { return size; }
  }
  return part.shared_kib;
}

// Which of the SM's stocks run out; a stock that is not counted never does.
struct Counted {
  bool registers = true, shared_memory = true, warps = true, blocks = true;
};

class FilledSm {
 public:
  FilledSm(const Part& part, const Launch& launch, Counted counted)
      : part_(part), launch_(launch), counted_(counted) {
    free_registers_.fill(65536 / 4);
    free_warps_.fill(part.warps / 4);
    free_bytes_ = 1024 * shared_memory_kib(part, launch);
    free_slots_ = part.blocks;
  }

  // Blocks that fit, looking no further than `most`.
  int fill(int most) {
    int blocks = 0;
    while (blocks < most && add_block()) { ++blocks; }
    return blocks;
  }

 private:
  bool add_block() {
    if (counted_.blocks && free_slots_-- == 0) { return false; }
    if (counted_.shared_memory) {
      std::int64_t left = launch_.shared_memory.count() + part_.reserved;
      while (left > 0) {
        if (free_bytes_ < part_.unit) { return false; }
        free_bytes_ -= part_.unit;
        left -= part_.unit;
      }
    }
    for (std::int64_t thread = 0; thread < launch_.block; thread += 32) {
      if (!add_warp()) { return false; }
    }
    return true;
  }

  // To the sub-partition with the most free slots among those that have the registers.
  bool add_warp() {
    constexpr std::size_t kNone = 4;
    std::size_t best = kNone;
    for (std::size_t p = 0; p < kNone; ++p) {
      const bool room = (!counted_.registers || free_registers_[p] >= registers()) &&
                        (!counted_.warps || free_warps_[p] > 0);
      if (room && (best == kNone || free_warps_[p] > free_warps_[best])) { best = p; }
    }
    if (best == kNone) { return false; }
    free_registers_[best] -= counted_.registers ? registers() : 0;
    --free_warps_[best];
    return true;
  }

  // Of a warp: 32 threads, in whole units of 256.
  int registers() const {
    int taken = 0;
    while (taken < 32 * launch_.registers) { taken += 256; }
    return taken;
  }

  const Part& part_;
  const Launch& launch_;
  Counted counted_;
  std::array<int, 4> free_registers_{}, free_warps_{};
  int free_bytes_ = 0, free_slots_ = 0;
};

// Everything for which the part refuses the launch.
std::set<std::string> refused_by(const Part& part, const Launch& l) {
  std::set<std::string> by;
  if (l.block < 1 || l.block > 1024) { by.insert("threads"); }
  if (l.registers > 255) { by.insert("registers"); }
  if (l.shared_memory.count() > part.block_kib * 1024) { by.insert("shared_memory"); }
  if (l.cluster > part.cluster || l.grid % l.cluster != 0 || (l.portable && l.cluster > 8)) {
    by.insert("cluster");
  }
  if (l.block >= 1 && l.block <= 1024 && l.registers <= 255) {
    // The check has an empty SM and as many warps in every sub-partition.
    Launch whole = l;
    whole.block = (l.block + 127) / 128 * 128;
    if (FilledSm(part, whole, {true, false, false, false}).fill(1) == 0) { by.insert("registers"); }
  }
  return by;
}

struct Answer {
  bool launchable = false;
  int blocks = 0;
  std::int64_t warps = 0;
  std::set<std::string> limiters;
  unit::Bytes carveout{};
};

// Without a preference: what the resident blocks need, as if it had been asked for.
unit::Bytes carveout(const Part& part, const Launch& l, int blocks) {
  Launch asked = l;
  if (!l.carveout) {
    std::int64_t bytes = 0;
    for (int n = 0; n < blocks; ++n) {
      const std::int64_t block = l.shared_memory.count() + part.reserved;
      bytes += (block + part.unit - 1) / part.unit * part.unit;
    }
    asked.carveout = unit::Bytes{bytes};
  }
  return unit::Bytes{1024 * shared_memory_kib(part, asked)};
}

Answer fill(const Part& part, const Launch& l) {
  Answer a;
  a.limiters = refused_by(part, l);
  if (!a.limiters.empty()) {
    a.limiters.erase("threads");
    return a;
  }
  a.launchable = true;
  a.blocks = FilledSm(part, l, {}).fill(1000);
  a.warps = a.blocks * ((l.block + 31) / 32);
  a.carveout = carveout(part, l, a.blocks);
  const auto alone = [&](Counted counted) {
    return FilledSm(part, l, counted).fill(a.blocks + 1) == a.blocks;
  };
  if (alone({true, false, false, false})) { a.limiters.insert("registers"); }
  if (alone({false, true, false, false})) { a.limiters.insert("shared_memory"); }
  if (alone({false, false, true, false})) { a.limiters.insert("warps"); }
  if (alone({false, false, false, true})) { a.limiters.insert("blocks"); }
  return a;
}

// Launches of every kind: small and large, at the borders of every rule, and some beyond.
class Launches {
 public:
  explicit Launches(const Part& part) : part_(part) {}

  Launch next() {
    Launch l{.block = between(0, 3) == 0 ? 32 * between(1, 33) : between(1, 1040),
             .registers = between(0, 3) == 0 ? 8 * between(1, 33) : between(0, 258)};
    switch (between(0, 5)) {
      case 0: break;
      case 1: l.shared_memory = unit::Bytes{between(0, 4096)}; break;
      case 2: l.shared_memory = unit::Bytes{1024 * between(0, part_.block_kib + 1)}; break;
      case 3: l.shared_memory = unit::Bytes{share()}; break;
      default: l.shared_memory = unit::Bytes{between(0, 1024 * part_.block_kib + 512)}; break;
    }
    if (between(0, 3) == 0) {
      l.cluster = between(1, 18);
      l.grid = between(0, 1) == 0 ? l.cluster * between(1, 50) : between(1, 500);
      l.portable = between(0, 3) == 0;
    }
    if (between(0, 3) == 0) { l.carveout = unit::Bytes{between(0, 1024 * part_.shared_kib)}; }
    return l;
  }

 private:
  // What n blocks can have at most, and a little beside it.
  std::int64_t share() {
    const std::int64_t n = between(1, 20);
    return std::max<std::int64_t>(
        0, part_.shared_kib * 1024 / n - part_.reserved + between(-130, 130));
  }

  std::int64_t between(std::int64_t low, std::int64_t high) {
    return low + static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(high - low + 1));
  }

  const Part& part_;
  std::mt19937_64 random_{11};
};

class OccupancyOracle : public testing::TestWithParam<Part> {};

TEST_P(OccupancyOracle, AgreesWithFillingAnSm) {
  const Part& part = GetParam();
  const gpu::Architecture* architecture = gpu::find_architecture(part.name);
  ASSERT_NE(architecture, nullptr);
  const gpu::GpuSpec gpu = gpu::rules_of(*architecture);
  Launches launches(part);
  int refused = 0, ties = 0;
  for (int n = 0; n < 100'000; ++n) {
    const Launch l = launches.next();
    const Answer wanted = fill(part, l);
    const Occupancy got = occupy(gpu, l);
    const std::set<std::string> limiters(got.limiters.begin(), got.limiters.end());
    ASSERT_TRUE(got.launchable == wanted.launchable && got.blocks_per_sm == wanted.blocks &&
                got.warps_per_sm == wanted.warps && limiters == wanted.limiters &&
                limiters.size() == got.limiters.size() && got.carveout == wanted.carveout)
        << part.name << ": " << l.block << " threads, " << l.registers << " registers, "
        << l.shared_memory.count() << " B, clusters of " << l.cluster << ", grid " << l.grid
        << "\n  filled: " << wanted.blocks << " by " << testing::PrintToString(wanted.limiters)
        << "\n  " << got.reason;
    refused += wanted.launchable ? 0 : 1;
    ties += wanted.launchable && wanted.limiters.size() > 1 ? 1 : 0;
  }
  EXPECT_GT(refused, 2'000);
  EXPECT_GT(ties, 2'000);
}

INSTANTIATE_TEST_SUITE_P(EveryCapability, OccupancyOracle, testing::ValuesIn(kParts),
                         [](const auto& test) { return std::string(test.param.name); });

// GPCs emptied cluster by cluster.
TEST(ClusterOracle, ReachAgreesWithTakingSmsOutOfTheGpcs) {
  std::mt19937_64 random(5);
  gpu::GpuSpec gpu = gpu::rules_of(*gpu::find_architecture("sm_90"));
  for (int n = 0; n < 20'000; ++n) {
    gpu.gpcs.clear();
    for (std::uint64_t left = 1 + random() % 9; left > 0; --left) {
      gpu.gpcs.push_back(static_cast<std::int64_t>(1 + random() % 20));
    }
    const Launch l{.block = 1024,
                   .registers = 64,
                   .cluster = static_cast<std::int64_t>(1 + random() % 16),
                   .grid = 16 * 15 * 7 * 11 * 13 * 9};
    std::int64_t clusters = 0;
    for (std::int64_t sms : gpu.gpcs) {
      for (; sms >= l.cluster; sms -= l.cluster) { ++clusters; }
    }
    const auto o = occupy(gpu, l);
    ASSERT_EQ(o.launchable, clusters > 0);
    if (clusters == 0) { continue; }
    ASSERT_EQ(o.reachable_sms, clusters * l.cluster);
    std::int64_t waves = 0;
    for (std::int64_t blocks = l.grid; blocks > 0; blocks -= clusters * l.cluster) { ++waves; }
    ASSERT_EQ(o.waves, waves);
  }
}

}  // namespace
}  // namespace wavetail::occupancy
