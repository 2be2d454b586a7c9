// SPDX-License-Identifier: Apache-2.0
#include "run/warnings.h"

#include <gtest/gtest.h>

#include "support/specs.h"

namespace wavetail::run {
namespace {

using kernel::WalkKind;

// 8 blocks of 256 threads that load 16 B per lane: 32 KiB side by side.
scenario::Scenario loads(std::int64_t array_bytes) {
  kernel::Op load;
  load.kind = kernel::OpKind::Load;
  load.access.array = 0;
  load.access.width = 16;
  load.access.walk = WalkKind::Strides;
  load.access.strides.block_x = 4096;
  load.access.strides.warp = 512;
  kernel::Kernel k;
  k.name = "k";
  k.grid = {8, 1, 1};
  k.block = 256;
  k.registers = 32;
  k.arrays.push_back({.name = "x", .bytes = unit::Bytes{array_bytes}});
  k.roles.push_back({.name = "", .warps = 8, .registers = {}, .program = {load}});
  scenario::Scenario s;
  s.gpu = specs::h100();
  s.kernels = {k};
  host::Item launch;
  launch.kernel = 0;
  s.timeline.items = {launch};
  return s;
}

// The scenario with its kernels changed.
template <class F>
void change(scenario::Scenario& s, F&& f) {
  std::vector<kernel::Kernel> kernels = s.kernels;
  f(kernels);
  s.kernels = kernels;
}

template <class F>
void change_access(scenario::Scenario& s, F&& f) {
  change(s, [&](auto& kernels) { f(kernels[0].roles[0].program[0].access); });
}

TEST(Warnings, AProgramThatFitsItsArrayHasNone) {
  EXPECT_TRUE(warnings_of(loads(32768)).empty());
  auto partial = loads(32768 - 28 * 16);  // the last warp of a block has 4 lanes
  change(partial, [](auto& kernels) { kernels[0].block = 228; });
  EXPECT_TRUE(warnings_of(partial).empty());
}

TEST(Warnings, AGridBeyondTheArrayWraps) {
  const auto found = warnings_of(loads(32768 - 16));
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0],
            "kernel 'k': a load of 'x' reaches to 32.8 kB of an array of 32.8 kB: its addresses "
            "wrap; the array would need 32.8 kB");
}

TEST(Warnings, StridesOfLoopsAndRunsCount) {
  auto s = loads(1 << 20);
  kernel::Op body = s.kernels[0].roles[0].program[0];
  body.count = 2;
  body.access.strides.count = 1 << 19;
  body.access.strides.loop = {1 << 20};
  kernel::Op repeat;
  repeat.kind = kernel::OpKind::Repeat;
  repeat.count = 3;
  repeat.bodies = {{body}};
  change(s, [&](auto& kernels) { kernels[0].roles[0].program = {repeat}; });
  const auto found = warnings_of(s);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_NE(found[0].find("would need 2.65 MB"), std::string::npos) << found[0];
}

TEST(Warnings, OffsetsBelowAndBeyond) {
  auto s = loads(32768);
  change_access(s, [](auto& a) { a.offset = -512; });
  ASSERT_EQ(warnings_of(s).size(), 1U);
  EXPECT_NE(warnings_of(s)[0].find("from 512 B below its start"), std::string::npos);
  change_access(s, [](auto& a) {
    a.walk = WalkKind::Grid;  // wraps by design, but for where it begins
    a.offset = 0;
  });
  EXPECT_TRUE(warnings_of(s).empty());
  change_access(s, [](auto& a) { a.offset = 65536; });
  EXPECT_EQ(warnings_of(s).size(), 1U);
}

TEST(Warnings, AKernelThatIsNeverLaunched) {
  auto s = loads(32768);
  change(s, [](auto& kernels) {
    kernels.push_back(kernels[0]);
    kernels[1].name = "spare";
  });
  const auto found = warnings_of(s);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0], "kernel 'spare' is never launched");
}

}  // namespace
}  // namespace wavetail::run
