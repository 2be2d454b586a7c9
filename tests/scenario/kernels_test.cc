// SPDX-License-Identifier: Apache-2.0
#include "kernel/kernel.h"

#include <gtest/gtest.h>

#include "support.h"
#include "unit/literals.h"

namespace wavetail::scenario {
namespace {

using namespace unit::literals;
using kernel::OpKind;
using kernel::Pattern;
using kernel::WalkKind;

// A scenario with one kernel `k` and this program.
std::string with_program(const std::string& program, const std::string& block = "256") {
  return kHead + "kernels:\n  k:\n    grid: [8, 4]\n    block: " + block +
         "\n    registers: 32\n    arrays: {x: 1 MiB, y: {bytes: 2 MiB, per_launch: true}}\n"
         "    program: " +
         program + "\ntimeline:\n  - launch: k\n";
}

kernel::Program program(const std::string& text) {
  const Study study = load(with_program(text));
  return study.base.kernels.empty() ? kernel::Program{} : study.base.kernels[0].roles.at(0).program;
}

TEST(Kernels, LaunchShapeAndArrays) {
  const auto k = load(with_program("[{fp32: 1}]", "96")).base.kernels.at(0);
  EXPECT_EQ(k.name, "k");
  EXPECT_EQ(k.grid, (kernel::Dim3{8, 4, 1}));
  EXPECT_EQ(k.block, 96);
  EXPECT_EQ(k.registers, 32);
  EXPECT_EQ(k.shared_memory, 0_B);
  ASSERT_EQ(k.arrays.size(), 2U);
  EXPECT_EQ(k.arrays[0].bytes, 1_MiB);
  EXPECT_FALSE(k.arrays[0].per_launch);
  EXPECT_TRUE(k.arrays[1].per_launch);
  ASSERT_EQ(k.roles.size(), 1U);
  EXPECT_EQ(k.roles[0].warps, 3);
}

TEST(Kernels, ABlockThatIsNoMultipleOfAWarpRoundsUp) {
  EXPECT_EQ(load(with_program("[{fp32: 1}]", "100")).base.kernels.at(0).roles.at(0).warps, 4);
}

TEST(Kernels, LoadsAndStores) {
  const auto p = program(
      "[{load: {array: y, width: 16 B, count: 2, walk: block, cache: streaming, offset: 32 B}}, "
      "{store: {array: x, width: 4 B, pattern: strided, stride: 128 B, lanes: 16}}, {wait_loads: "
      "1}]");
  ASSERT_EQ(p.size(), 3U);
  EXPECT_EQ(p[0].kind, OpKind::Load);
  EXPECT_EQ(p[0].count, 2);
  EXPECT_EQ(p[0].access.array, 1);
  EXPECT_EQ(p[0].access.width, 16);
  EXPECT_EQ(p[0].access.walk, WalkKind::Block);
  EXPECT_EQ(p[0].access.offset, 32);
  EXPECT_TRUE(p[0].access.bypass_l1);
  EXPECT_EQ(p[1].kind, OpKind::Store);
  EXPECT_EQ(p[1].access.pattern, Pattern::Strided);
  EXPECT_EQ(p[1].access.stride, 128);
  EXPECT_EQ(p[1].access.lanes, 16);
  EXPECT_EQ(p[1].access.walk, WalkKind::Grid);
  EXPECT_FALSE(p[1].access.bypass_l1);
  EXPECT_EQ(p[2].kind, OpKind::WaitLoads);
  EXPECT_EQ(p[2].count, 1);
}

TEST(Kernels, PatternsWithTheirOwnKeys) {
  const auto p = program(
      "[{load: {array: x, width: 4 B, pattern: random, seed: 7}}, "
      "{load: {array: x, width: 4 B, pattern: listed, offsets: [0 B, 8 B, -4 B]}}, "
      "{load: {array: x, width: 4 B, pattern: row_per_lane, stride: 8 KiB}}, "
      "{load: {array: x, width: 4 B, pattern: broadcast}}]");
  ASSERT_EQ(p.size(), 4U);
  EXPECT_EQ(p[0].access.seed, 7U);
  EXPECT_EQ(p[1].access.offsets, (std::vector<std::int64_t>{0, 8, -4}));
  EXPECT_EQ(p[2].access.pattern, Pattern::RowPerLane);
  EXPECT_EQ(p[2].access.stride, 8192);
  EXPECT_EQ(p[3].access.pattern, Pattern::Broadcast);
}

TEST(Kernels, TripsMayFollowTheBlockIndex) {
  const auto p = program(
      "[{repeat: {most: 9, offset: 17, block: [0, -4], divisor: 2, least: 1}, body: [{fp32: 1}]}]");
  ASSERT_EQ(p.size(), 1U);
  EXPECT_EQ(p[0].over, kernel::Over::Index);
  EXPECT_EQ(p[0].count, 9);
  EXPECT_EQ(p[0].trips, (kernel::Trips{17, 0, -4, 0, 2, 1}));
}

TEST(Kernels, StridesFollowTheEnclosingLoops) {
  const auto p = program(
      "[{repeat: 4, body: [{repeat: 2, body: [{load: {array: x, width: 4 B, "
      "strides: {block: [1 KiB, 4 KiB], warp: 128 B, count: 16 B, loop: [64 KiB, 32 B]}}}]}]}]");
  ASSERT_EQ(p.size(), 1U);
  EXPECT_EQ(p[0].count, 4);
  const auto& access = p[0].bodies.at(0).at(0).bodies.at(0).at(0).access;
  EXPECT_EQ(access.walk, WalkKind::Strides);
  EXPECT_EQ(access.strides.block_x, 1024);
  EXPECT_EQ(access.strides.block_y, 4096);
  EXPECT_EQ(access.strides.warp, 128);
  EXPECT_EQ(access.strides.count, 16);
  EXPECT_EQ(access.strides.loop, (std::vector<std::int64_t>{65536, 32}));
}

TEST(Kernels, ArithmeticShortAndLong) {
  const auto p = program(
      "[{fp32: 16}, {int32: {count: 3, distance: 4}}, {sfu: {count: 1, flops: 5}}]");
  ASSERT_EQ(p.size(), 3U);
  EXPECT_EQ(p[0].count, 16);
  EXPECT_EQ(p[0].distance, 1);
  EXPECT_EQ(p[0].flops_per_lane, 2);
  EXPECT_EQ(p[1].pipe, kernel::Pipe::Int32);
  EXPECT_EQ(p[1].distance, 4);
  EXPECT_EQ(p[1].flops_per_lane, 0);
  EXPECT_EQ(p[2].flops_per_lane, 5);
}

TEST(Kernels, BranchesByWaysAndByPaths) {
  const auto p = program(
      "[{diverge: {by: lane, ways: 4, body: [{fp32: 1}]}}, "
      "{diverge: {by: warp, paths: [[{fp32: 1}], []]}}]");
  ASSERT_EQ(p.size(), 2U);
  EXPECT_EQ(p[0].bodies.size(), 4U);
  EXPECT_EQ(p[0].diverge_by, kernel::DivergeBy::Lane);
  ASSERT_EQ(p[1].bodies.size(), 2U);
  EXPECT_EQ(p[1].diverge_by, kernel::DivergeBy::Warp);
  EXPECT_TRUE(p[1].bodies[1].empty());
}

TEST(Kernels, FlopsAreCountedOverTheLaunch) {
  // 32 blocks x 8 warps x 32 lanes x (10 x 3 FMA; a branch of four ways adds one FMA in a quarter
  // each).
  const auto k = load(with_program("[{repeat: 10, body: [{fp32: 3}]}, "
                                   "{diverge: {by: lane, ways: 4, body: [{fp32: 1}]}}]"))
                     .base.kernels.at(0);
  EXPECT_EQ(k.flops, 32.0 * 256 * (60 + 2));
}

TEST(Kernels, RolesShareTheBlock) {
  const auto k = load(kHead +
                      "kernels:\n  k:\n    grid: 4\n    block: 384\n    registers: 168\n"
                      "    shared_memory: 200 KiB\n    roles:\n"
                      "      producer: {warps: 4, registers: 40, program: [{fp32: 1}]}\n"
                      "      consumer: {warps: 8, registers: 232, program: [{fp32: 2}]}\n"
                      "timeline:\n  - launch: k\n")
                     .base.kernels.at(0);
  ASSERT_EQ(k.roles.size(), 2U);
  EXPECT_EQ(k.roles[0].name, "producer");
  EXPECT_EQ(k.roles[0].registers, 40);
  EXPECT_EQ(k.roles[1].warps, 8);
}

TEST(Kernels, ATemplateTakesTheScenariosName) {
  const auto study = load(kHead +
                          "kernels:\n  c: {template: copy, bytes: 64 MiB, role: memory}\n"
                          "timeline:\n  - launch: c\n");
  ASSERT_EQ(study.base.kernels.size(), 1U);
  EXPECT_EQ(study.base.kernels[0].name, "c");
  EXPECT_EQ(study.base.kernels[0].role, "memory");
  EXPECT_EQ(study.base.kernels[0].template_name, "copy");
}

TEST(Kernels, AStandInHasADuration) {
  const auto k = load(kHead + "kernels:\n  k: {duration: 16 us}\ntimeline:\n  - launch: k\n")
                     .base.kernels.at(0);
  ASSERT_TRUE(k.duration);
  EXPECT_EQ(*k.duration, 16_us);
}

}  // namespace
}  // namespace wavetail::scenario
