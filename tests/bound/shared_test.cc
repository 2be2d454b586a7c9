// SPDX-License-Identifier: Apache-2.0
// The ceiling of shared memory's data path, and the chain of a block that reads it.
#include "bound/shared.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "bound/bound.h"
#include "bound/chain.h"
#include "support/specs.h"

namespace wavetail::bound {
namespace {

using namespace unit::literals;
using kernel::Op;
using kernel::OpKind;

Op column(std::int64_t pitch, std::int64_t count = 1) {
  Op op;
  op.kind = OpKind::SharedLoad;
  op.count = count;
  op.shared.pattern = kernel::SharedPattern::Column;
  op.shared.pitch = pitch;
  return op;
}

Op wait(std::int64_t left = 0) {
  Op op;
  op.kind = OpKind::WaitShared;
  op.count = left;
  return op;
}

kernel::Kernel kernel_of(kernel::Program program, std::int64_t grid, std::int64_t warps) {
  kernel::Kernel k;
  k.grid = {grid, 1, 1};
  k.block = 32 * warps;
  k.registers = 32;
  k.shared_memory = 4_KiB;
  k.roles = {{.name = "all", .warps = warps, .registers = {}, .program = std::move(program)}};
  return k;
}

result::Bound bound_for(const kernel::Kernel& k) {
  const auto g = specs::h100();
  return bound_of(k, g, occupancy::occupy(g, occupancy::launch_of(k)), {});
}

TEST(SharedRequest, CountsAsTheBanksDo) {
  const auto g = specs::h100();
  const SharedRequest plain = shared_request_of(column(128), {0, 32}, g);
  EXPECT_EQ(plain.wavefronts, 32);
  EXPECT_EQ(plain.passes, 1);
  EXPECT_TRUE(plain.exact);
  EXPECT_EQ(shared_request_of(column(128), {8, 4}, g).wavefronts, 4);
  EXPECT_EQ(shared_request_of(column(128), {0, 0}, g).lanes, 0);
}

// A swizzle whose address moves within a period may meet other banks: only the passes are certain.
TEST(SharedRequest, OnlyWhatIsCertainCounts) {
  const auto g = specs::h100();
  Op op = column(128);
  op.shared.swizzle = {3, 2, 5};
  EXPECT_EQ(shared_request_of(op, {0, 32}, g).wavefronts, 4);
  op.shared.warp = 128;
  EXPECT_FALSE(shared_request_of(op, {0, 32}, g).exact);
  EXPECT_EQ(shared_request_of(op, {0, 32}, g).wavefronts, 1);
  op.shared.warp = 1024;
  EXPECT_TRUE(shared_request_of(op, {0, 32}, g).exact);
}

// 1000 loads x 8 warps x 32 wavefronts on each SM, less the 64 cycles that the queue may hold.
TEST(SharedCeiling, IsWavefrontsOfTheFullestSm) {
  const auto b = bound_for(kernel_of({column(128, 1000), wait()}, 132, 8));
  EXPECT_EQ(b.name, "shared");
  EXPECT_NEAR(b.time_us, (1000 * 8 * 32 - 64) / 1830.0, 1e-9);
  const auto two = bound_for(kernel_of({column(128, 1000), wait()}, 133, 8));
  EXPECT_NEAR(two.time_us, (2 * 1000 * 8 * 32 - 64) / 1830.0, 1e-9);
}

// A chain of dependent loads: the latency and 31 further wavefronts each.
TEST(SharedChain, DependentLoadsTakeTheirLatency) {
  Op loop;
  loop.kind = OpKind::Repeat;
  loop.count = 500;
  loop.bodies = {{column(128), wait()}};
  const auto b = bound_for(kernel_of({loop}, 1, 1));
  EXPECT_EQ(b.name, "latency");
  EXPECT_NEAR(b.time_us, 500 * 60 / 1830.0, 0.01);
}

}  // namespace
}  // namespace wavetail::bound
