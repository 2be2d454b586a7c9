// SPDX-License-Identifier: Apache-2.0
// Shared-memory operations as a file writes them.
#include "kernel/shared_access.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "support.h"

namespace wavetail::scenario {
namespace {

using kernel::OpKind;
using kernel::SharedPattern;
using kernel::Swizzle;
using ::testing::HasSubstr;

std::string with_program(const std::string& program, const std::string& shared = "32 KiB") {
  return kHead + "kernels:\n  k:\n    grid: 8\n    block: 256\n    registers: 32\n" +
         "    shared_memory: " + shared + "\n    program: " + program +
         "\ntimeline:\n  - launch: k\n";
}

kernel::Program program(const std::string& text) {
  const Study study = load(with_program(text));
  return study.base.kernels.empty() ? kernel::Program{} : study.base.kernels[0].roles.at(0).program;
}

TEST(SharedAccess, LoadsStoresAndWaits) {
  const auto p = program(
      "[{shared_store: {width: 16 B, count: 2, strides: {warp: 1 KiB, count: 512 B}}}, "
      "{shared_load: {width: 4 B, pattern: strided, stride: 8 B, offset: 64 B, lanes: 16}}, "
      "{wait_shared: 1}]");
  ASSERT_EQ(p.size(), 3U);
  EXPECT_EQ(p[0].kind, OpKind::SharedStore);
  EXPECT_EQ(p[0].count, 2);
  EXPECT_EQ(p[0].shared.width, 16);
  EXPECT_EQ(p[0].shared.pattern, SharedPattern::Contiguous);
  EXPECT_EQ(p[0].shared.warp, 1024);
  EXPECT_EQ(p[0].shared.count, 512);
  EXPECT_EQ(p[1].kind, OpKind::SharedLoad);
  EXPECT_EQ(p[1].shared.stride, 8);
  EXPECT_EQ(p[1].shared.offset, 64);
  EXPECT_EQ(p[1].shared.lanes, 16);
  EXPECT_EQ(p[2].kind, OpKind::WaitShared);
  EXPECT_EQ(p[2].count, 1);
}

TEST(SharedAccess, PatternsWithTheirOwnKeys) {
  const auto p = program(
      "[{shared_load: {width: 16 B, pattern: row, pitch: 144 B, lanes_per_row: 8}}, "
      "{shared_load: {width: 4 B, pattern: column, pitch: 132 B, lanes_per_column: 16}}, "
      "{shared_load: {width: 4 B, pattern: random, bytes: 4 KiB, seed: 7}}, "
      "{shared_load: {width: 4 B, pattern: listed, offsets: [0 B, 128 B]}}, "
      "{shared_load: {width: 4 B, pattern: broadcast}}]");
  ASSERT_EQ(p.size(), 5U);
  EXPECT_EQ(p[0].shared.pattern, SharedPattern::Row);
  EXPECT_EQ(p[0].shared.pitch, 144);
  EXPECT_EQ(p[0].shared.per_line, 8);
  EXPECT_EQ(p[1].shared.pattern, SharedPattern::Column);
  EXPECT_EQ(p[1].shared.per_line, 16);
  EXPECT_EQ(p[2].shared.bytes, 4096);
  EXPECT_EQ(p[2].shared.seed, 7U);
  EXPECT_EQ(p[3].shared.offsets, (std::vector<std::int64_t>{0, 128}));
  EXPECT_EQ(p[4].shared.pattern, SharedPattern::Broadcast);
}

TEST(SharedAccess, SwizzlesByModeOrByBits) {
  const auto p = program(
      "[{shared_load: {width: 16 B, swizzle: 128B}}, {shared_load: {width: 16 B, swizzle: 64B}}, "
      "{shared_load: {width: 16 B, swizzle: 32B}}, {shared_load: {width: 16 B, swizzle: none}}, "
      "{shared_load: {width: 4 B, swizzle: {bits: 5, base: 2, shift: 5}}}]");
  ASSERT_EQ(p.size(), 5U);
  EXPECT_EQ(p[0].shared.swizzle, (Swizzle{3, 4, 3}));
  EXPECT_EQ(p[1].shared.swizzle, (Swizzle{2, 4, 3}));
  EXPECT_EQ(p[2].shared.swizzle, (Swizzle{1, 4, 3}));
  EXPECT_EQ(p[3].shared.swizzle, Swizzle{});
  EXPECT_EQ(p[4].shared.swizzle, (Swizzle{5, 2, 5}));
}

// Eight warps of 512 B fill 4 KiB to the last byte; a trip more, or a swizzle's whole piece, is
// too much.
TEST(SharedAccess, MustStayInTheBlocksSharedMemory) {
  const std::string warps = "{shared_store: {width: 16 B, strides: {warp: 512 B}}}";
  load(with_program("[" + warps + "]", "4 KiB"));
  EXPECT_THAT(refusal(with_program("[" + warps + "]", "4095 B")), HasSubstr("it reaches 4 KiB"));
  const std::string trips =
      "[{repeat: 2, body: [{shared_store: {width: 16 B, strides: {warp: 512 B, loop: [16 B]}}}]}]";
  load(with_program(trips, "4112 B"));
  EXPECT_THAT(refusal(with_program(trips, "4 KiB")), HasSubstr("it reaches 4112 B"));
  const std::string swizzled = "[{shared_load: {width: 16 B, swizzle: 128B, lanes: 1}}]";
  load(with_program(swizzled, "128 B"));
  EXPECT_THAT(refusal(with_program(swizzled, "64 B")), HasSubstr("it reaches 128 B"));
}

TEST(SharedAccess, OtherSharedMemoryIsCheckedAgain) {
  const std::string text = with_program("[{shared_load: {width: 4 B}}]");
  load(text, options({"kernels.k.shared_memory=128 B"}));
  EXPECT_THAT(refusal(text, options({"kernels.k.shared_memory=64 B"})), HasSubstr("128 B"));
}

}  // namespace
}  // namespace wavetail::scenario
