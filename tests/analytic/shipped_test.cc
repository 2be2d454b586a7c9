// SPDX-License-Identifier: Apache-2.0
// The machines of the shipped GPU files answer as the files say: a chase through L1, L2 and DRAM,
// and a stream that keeps the pins busy.
#include <gtest/gtest.h>

#include "analytic/lab.h"
#include "gpu/catalog.h"

namespace wavetail::tests {
namespace {

const std::string kConfigs = std::string(WAVETAIL_SOURCE_DIR) + "/configs/gpu";

// The GPU of a file; its blocks start and end at once.
std::optional<gpu::GpuSpec> shipped(const std::string& name) {
  config::Diagnostics diagnostics;
  const gpu::Catalog catalog({kConfigs});
  const auto document = catalog.load(name, kConfigs, {}, diagnostics);
  auto spec = document ? gpu::read_gpu(*document, diagnostics) : std::nullopt;
  if (spec) {
    spec->launch = {};
    spec->launch.blocks_per_cycle = 1000;
  }
  return spec;
}

// One lane loads 4 bytes every `stride` bytes; each load waits for the one before.
unit::Duration chase(const gpu::GpuSpec& g, std::int64_t bytes, std::int64_t stride, bool bypass,
                     std::int64_t loads) {
  Op op = load(0, 4, 1, bypass);
  op.access.lanes = 1;
  op.access.walk = kernel::WalkKind::Strides;
  op.access.strides.loop = {stride};
  const auto k = kernel_of({repeat(loads, {op, wait()})}, 1, 32, {{"x", unit::Bytes{bytes}}});
  return run_alone(g, k).time();
}

// Nanoseconds per load, after `warm` of them.
double per_load(const gpu::GpuSpec& g, std::int64_t bytes, std::int64_t stride, bool bypass,
                std::int64_t warm) {
  constexpr std::int64_t kLoads = 256;
  const auto all = chase(g, bytes, stride, bypass, warm + kLoads);
  const auto before = warm == 0 ? unit::Duration{} : chase(g, bytes, stride, bypass, warm);
  return unit::nanoseconds(all - before) / static_cast<double>(kLoads);
}

TEST(Shipped, LatenciesAreThoseOfTheFile) {
  for (const gpu::CatalogEntry& entry : gpu::Catalog({kConfigs}).entries()) {
    SCOPED_TRACE(entry.name);
    const auto g = shipped(entry.name);
    ASSERT_TRUE(g);
    const double cycle = 1e9 / static_cast<double>(g->clock.sm.count());
    const auto l1 = static_cast<double>(g->l1.latency.count());
    EXPECT_NEAR(per_load(*g, 8192, 32, false, 256) / cycle, l1, 1);
    // Read before, so that far lines have a copy.
    const double near = unit::nanoseconds(g->l2.latency_near);
    const double half = (unit::nanoseconds(g->l2.latency_far) - near) / 2;
    EXPECT_NEAR(per_load(*g, 256 << 12, 1 << 12, true, 256), near, 2 * cycle);
    const double dram = unit::nanoseconds(g->hbm.latency);
    EXPECT_NEAR(per_load(*g, std::int64_t{1} << 30, 2 << 20, true, 0), dram, half / 4 + 2 * cycle);
  }
}

// Enough bytes under way: nearly what the file's efficiency leaves of the pins, and never more.
TEST(Shipped, AStreamFillsThePins) {
  for (const gpu::CatalogEntry& entry : gpu::Catalog({kConfigs}).entries()) {
    SCOPED_TRACE(entry.name);
    const auto g = shipped(entry.name);
    ASSERT_TRUE(g);
    const std::int64_t blocks = 128 * g->sms(), bytes = blocks * 256 * 16;
    Op op = load(0, 16, 1, true);
    op.access.strides = {.block_x = 256 * 16, .warp = g->sm.warp_size * 16};
    auto k = kernel_of({op, wait()}, blocks, 256, {{"x", unit::Bytes{bytes}}});
    k.roles[0].warps = 256 / g->sm.warp_size;
    const double seconds = unit::seconds(run_alone(*g, k).time() - g->hbm.latency);
    const auto most = static_cast<double>(g->sustained_bandwidth().count());
    EXPECT_LE(static_cast<double>(bytes) / seconds, 1.01 * most);
    EXPECT_GE(static_cast<double>(bytes) / seconds, 0.85 * most);
  }
}

}  // namespace
}  // namespace wavetail::tests
