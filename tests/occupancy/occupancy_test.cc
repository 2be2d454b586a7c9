// SPDX-License-Identifier: Apache-2.0
#include "occupancy/occupancy.h"

#include <gtest/gtest.h>

#include "support/specs.h"

namespace wavetail::occupancy {
namespace {

using namespace unit::literals;
using Names = std::vector<std::string>;

TEST(Occupancy, RegistersBindBeforeSharedMemory) {
  const auto o = occupy(specs::h100(), {.block = 256, .registers = 128, .shared_memory = 48_KiB});
  EXPECT_TRUE(o.launchable);
  EXPECT_EQ(o.limits.registers, 2);
  EXPECT_EQ(o.limits.shared_memory, 4);
  EXPECT_EQ(o.limits.warps, 8);
  EXPECT_EQ(o.blocks_per_sm, 2);
  EXPECT_EQ(o.warps_per_sm, 16);
  EXPECT_DOUBLE_EQ(o.theoretical_pct, 25.0);
  EXPECT_EQ(o.limiters, Names{"registers"});
  EXPECT_EQ(
      o.reason,
      "2 blocks per SM (16 of 64 warps), limited by registers: a block takes 8 warps x 4096 "
      "registers, and 4 sub-partitions of 16384 hold 16 such warps; shared_memory would allow "
      "4, warps 8, blocks 32");
}

TEST(Occupancy, EveryResourceAtTheMinimumIsALimiter) {
  const auto o = occupy(specs::h100(), {.block = 256, .registers = 64, .shared_memory = 48_KiB});
  EXPECT_DOUBLE_EQ(o.theoretical_pct, 50.0);
  EXPECT_EQ(o.limiters, (Names{"registers", "shared_memory"}));
  EXPECT_EQ(o.reason,
            "4 blocks per SM (32 of 64 warps), limited by registers: a block takes 8 warps x 2048 "
            "registers, and 4 sub-partitions of 16384 hold 32 such warps; and by shared_memory: a "
            "block takes 49 KiB, 1 KiB of it reserved, of 228 KiB; warps would allow 8, blocks 32");
}

TEST(Occupancy, WarpsByRegistersPerThread) {
  for (const auto& [registers, warps] : {std::pair{32, 64}, {64, 32}, {128, 16}, {255, 8}}) {
    EXPECT_EQ(occupy(specs::h100(), {.block = 32 * 8, .registers = registers}).warps_per_sm, warps)
        << registers;
  }
}

TEST(Occupancy, TheReservePerBlockCounts) {
  const auto blocks = [](unit::Bytes b) {
    return occupy(specs::h100(), {.block = 128, .registers = 32, .shared_memory = b}).blocks_per_sm;
  };
  EXPECT_EQ(blocks(64_KiB), 3);
  EXPECT_EQ(blocks(32_KiB), 6);
  EXPECT_EQ(blocks(113_KiB), 2);
  EXPECT_EQ(blocks(114_KiB), 1);
  EXPECT_EQ(blocks(227_KiB), 1);
}

// 512 columns of tensor memory: two blocks that hold 256, whatever their registers.
TEST(Occupancy, TensorMemoryLimits) {
  const Launch l{.block = 192, .registers = 80, .shared_memory = 32_KiB, .tmem_columns = 256};
  const auto o = occupy(specs::b200(), l);
  EXPECT_EQ(o.limits.tmem, 2);
  EXPECT_EQ(o.blocks_per_sm, 2);
  EXPECT_EQ(o.limiters, Names{"tmem"});
  EXPECT_NE(o.reason.find("limited by tmem: a block takes 256 of 512 columns of tensor memory"),
            std::string::npos)
      << o.reason;
  EXPECT_FALSE(occupy(specs::b200(), {.block = 192, .registers = 104}).limits.tmem);
}

TEST(Occupancy, TensorMemoryIsHandedOutInPowersOfTwo) {
  const auto reason = [](std::int64_t columns) {
    return occupy(specs::b200(), {.block = 128, .registers = 32, .tmem_columns = columns}).reason;
  };
  for (const std::int64_t columns : {16, 48, 1024}) {
    EXPECT_EQ(reason(columns), "tmem: " + std::to_string(columns) +
                                   " columns per block; allowed are powers of two from 32 to 512");
  }
  const auto o = occupy(specs::h100(), {.block = 128, .registers = 32, .tmem_columns = 64});
  EXPECT_FALSE(o.launchable);
  EXPECT_EQ(o.limiters, Names{"tmem"});
  EXPECT_EQ(o.reason, "tmem: sm_90 has no tensor memory");
}

TEST(Occupancy, SharedMemoryAboveTheBlockLimitIsRefused) {
  const auto o = occupy(specs::h100(), {.block = 128, .registers = 32, .shared_memory = 228_KiB});
  EXPECT_FALSE(o.launchable);
  EXPECT_EQ(o.blocks_per_sm, 0);
  EXPECT_EQ(o.limiters, Names{"shared_memory"});
  EXPECT_EQ(o.reason, "shared_memory: 228 KiB per block; a block may have up to 227 KiB");
}

TEST(Occupancy, WarpSpecialisedGemmKeepsItsLaunchValue) {
  const auto o = occupy(specs::h100(), {.block = 384, .registers = 168, .shared_memory = 200_KiB});
  EXPECT_EQ(o.blocks_per_sm, 1);
  EXPECT_DOUBLE_EQ(o.theoretical_pct, 18.75);
  EXPECT_EQ(o.limiters, (Names{"registers", "shared_memory"}));
  EXPECT_DOUBLE_EQ(occupy(specs::sm86(), {.block = 384, .registers = 168}).theoretical_pct, 25.0);
}

TEST(Occupancy, WarpsRoundDownPerSubPartition) {
  const auto o = occupy(specs::h100(), {.block = 224, .registers = 92});
  EXPECT_EQ(o.blocks_per_sm, 2);
  EXPECT_EQ(o.warps_per_sm, 14);
  EXPECT_EQ(o.limiters, Names{"registers"});
}

TEST(Occupancy, RegistersRoundUpToEight) {
  for (const std::int64_t registers : {41, 43, 48}) {
    EXPECT_EQ(occupy(specs::h100(), {.block = 128, .registers = registers}).blocks_per_sm, 10)
        << registers;
  }
  EXPECT_EQ(occupy(specs::h100(), {.block = 128, .registers = 85}).blocks_per_sm, 5);
}

TEST(Occupancy, LargeBlocksLeaveRegistersUnused) {
  EXPECT_EQ(occupy(specs::h100(), {.block = 1024, .registers = 40}).blocks_per_sm, 1);
  EXPECT_EQ(occupy(specs::h100(), {.block = 256, .registers = 40}).blocks_per_sm, 6);
  EXPECT_EQ(occupy(specs::h100(), {.block = 128, .registers = 69}).blocks_per_sm, 7);
  EXPECT_EQ(occupy(specs::h100(), {.block = 128, .registers = 40}).blocks_per_sm, 12);
}

TEST(Occupancy, BlockSlotsBindForSmallBlocks) {
  const auto big = occupy(specs::h100(), {.block = 32, .registers = 32});
  EXPECT_DOUBLE_EQ(big.theoretical_pct, 50.0);
  EXPECT_EQ(big.limiters, Names{"blocks"});
  EXPECT_EQ(big.reason,
            "32 blocks per SM (32 of 64 warps), limited by blocks: an SM has 32 block slots; "
            "registers would allow 64, shared_memory 228, warps 64");
  const auto small = occupy(specs::sm86(), {.block = 64, .registers = 40});
  EXPECT_EQ(small.blocks_per_sm, 16);
  EXPECT_NEAR(small.theoretical_pct, 66.67, 0.01);
  EXPECT_EQ(small.limiters, Names{"blocks"});
}

TEST(Occupancy, WarpAndRegisterLimitsMayTie) {
  EXPECT_EQ(occupy(specs::h100(), {.block = 768, .registers = 36}).limiters,
            (Names{"registers", "warps"}));
  EXPECT_DOUBLE_EQ(occupy(specs::h100(), {.block = 640, .registers = 48}).theoretical_pct, 62.5);
}

TEST(Occupancy, TheLaunchCheckRoundsWarpsUp) {
  // 19 warps count as 20: 20 x 3328 registers do not fit, although 19 x 3328 = 63,232 would.
  const auto o = occupy(specs::h100(), {.block = 608, .registers = 104});
  EXPECT_FALSE(o.launchable);
  EXPECT_EQ(o.limiters, Names{"registers"});
  EXPECT_EQ(o.reason,
            "registers: 20 warps (in units of 4) x 3328 per warp = 66560; an SM has 65536");
}

TEST(Occupancy, IdleLanesAreNoLimiter) {
  const auto o = occupy(specs::h100(), {.block = 100, .registers = 32});
  EXPECT_EQ(o.blocks_per_sm, 16);
  EXPECT_DOUBLE_EQ(o.theoretical_pct, 100.0);
  EXPECT_DOUBLE_EQ(o.lane_pct, 78.125);
}

TEST(Occupancy, CarveOutIsTheSmallestStepThatHoldsTheBlocks) {
  const auto o = occupy(specs::h100(), {.block = 256, .registers = 128, .shared_memory = 48_KiB});
  EXPECT_EQ(o.carveout, 100_KiB);  // 2 x 49 KiB
  EXPECT_EQ(o.l1, 156_KiB);
  EXPECT_EQ(occupy(specs::h100(), {.block = 128, .registers = 32, .shared_memory = 227_KiB}).l1,
            28_KiB);
}

TEST(Occupancy, ClustersLiveInsideAGpc) {
  EXPECT_EQ(reachable_sms(specs::h100(), 1), 132);
  EXPECT_EQ(reachable_sms(specs::h100(), 2), 132);
  EXPECT_EQ(reachable_sms(specs::h100(), 8), 120);
  EXPECT_EQ(reachable_sms(specs::h100(), 16), 112);
  const auto o = occupy(specs::sm86(), {.block = 128, .registers = 32, .cluster = 2});
  EXPECT_FALSE(o.launchable);
  EXPECT_EQ(o.reason, "cluster: 2 blocks; sm_86 has no clusters");
}

TEST(Occupancy, LargeClustersNeedTheOptIn) {
  Launch l{.block = 128, .registers = 32, .cluster = 16};
  EXPECT_TRUE(occupy(specs::h100(), l).launchable);
  EXPECT_NE(occupy(specs::h100(), l).reason.find("need the non-portable opt-in"),
            std::string::npos);
  l.portable = true;
  const auto o = occupy(specs::h100(), l);
  EXPECT_FALSE(o.launchable);
  EXPECT_EQ(o.limiters, Names{"cluster"});
  EXPECT_EQ(o.reason,
            "cluster: 16 blocks; portable are up to 8, up to 16 with the non-portable opt-in");
  l.cluster = 8;
  EXPECT_TRUE(occupy(specs::h100(), l).launchable);
}

// The registers that roles have after setmaxnreg are no part of the launch.
TEST(Occupancy, SetmaxnregLeavesResidencyAlone) {
  kernel::Kernel k;
  k.block = 384;
  k.registers = 168;
  k.roles = {{.name = "producer", .warps = 4, .registers = {}, .program = {}},
             {.name = "consumer", .warps = 8, .registers = {}, .program = {}}};
  const auto before = occupy(specs::h100(), launch_of(k));
  k.roles[0].registers = 40;
  k.roles[1].registers = 232;
  const auto after = occupy(specs::h100(), launch_of(k));
  EXPECT_EQ(after.blocks_per_sm, 1);
  EXPECT_EQ(after.reason, before.reason);
  EXPECT_EQ(after.limiters, before.limiters);
}

TEST(Occupancy, EveryRuleThatIsBrokenIsNamed) {
  const auto o = occupy(specs::sm86(),
                        {.block = 608, .registers = 104, .shared_memory = 100_KiB, .cluster = 2});
  EXPECT_EQ(o.limiters, (Names{"registers", "shared_memory", "cluster"}));
  EXPECT_EQ(o.reason,
            "registers: 20 warps (in units of 4) x 3328 per warp = 66560; an SM has 65536. "
            "shared_memory: 100 KiB per block; a block may have up to 99 KiB. "
            "cluster: 2 blocks; sm_86 has no clusters");
}

// Without GPCs (a compute capability alone) nothing is said about SMs and waves.
TEST(Occupancy, RulesDoNotNeedTheSms) {
  auto g = specs::h100();
  g.gpcs.clear();
  const auto o = occupy(g, {.block = 256, .registers = 128, .cluster = 8, .grid = 64});
  EXPECT_EQ(o.blocks_per_sm, 2);
  EXPECT_EQ(o.reachable_sms, 0);
  EXPECT_EQ(o.waves, 0);
}

TEST(Occupancy, WavesCountWholeRounds) {
  const Launch tiles{
      .block = 384, .registers = 168, .shared_memory = 200_KiB, .cluster = 2, .grid = 140};
  const auto o = occupy(specs::h100(), tiles);
  EXPECT_EQ(o.waves, 2);
  EXPECT_NEAR(o.wave_efficiency_pct, 53.03, 0.01);
  auto cluster_of_eight = tiles;
  cluster_of_eight.cluster = 8;
  cluster_of_eight.grid = 120;
  EXPECT_EQ(occupy(specs::h100(), cluster_of_eight).waves, 1);
  cluster_of_eight.grid = 128;
  EXPECT_EQ(occupy(specs::h100(), cluster_of_eight).waves, 2);
}

TEST(Occupancy, AMalformedBlockIsRefused) {
  EXPECT_EQ(occupy(specs::h100(), {.block = 1025, .registers = 32}).reason,
            "threads: 1025 per block; allowed 1 to 1024");
  EXPECT_EQ(occupy(specs::h100(), {.block = 128, .registers = 256}).reason,
            "registers: 256 per thread; allowed up to 255");
  EXPECT_EQ(occupy(specs::h100(), {.block = 128, .registers = 32, .cluster = 2, .grid = 3}).reason,
            "cluster: 2 blocks do not divide a grid of 3 blocks");
}

}  // namespace
}  // namespace wavetail::occupancy
