// SPDX-License-Identifier: Apache-2.0
// Unloaded latencies: one lane follows a chain of loads, and each takes what the GPU's description
// says for the level that holds the data.
#include "analytic/lab.h"

namespace wavetail::tests {
namespace {

constexpr std::int64_t kLoads = 512;

// One lane loads 4 bytes every `stride` bytes of an array of `bytes`, `rounds` times over.
kernel::Kernel chase(std::int64_t bytes, std::int64_t stride, bool bypass, std::int64_t loads) {
  Op op = load(0, 4, 1, bypass);
  op.access.lanes = 1;
  op.access.walk = kernel::WalkKind::Strides;
  op.access.strides.loop = {stride};
  return kernel_of({repeat(loads, {op, wait()})}, 1, 32, {{"x", unit::Bytes{bytes}}});
}

// Time per load of the last kLoads of a longer chase: what comes before warms the caches.
double cycles_per_load(const gpu::GpuSpec& g, std::int64_t bytes, std::int64_t stride, bool bypass,
                       std::int64_t warm) {
  const auto all = run_alone(g, chase(bytes, stride, bypass, warm + kLoads)).time();
  const auto before = warm == 0 ? unit::Duration{}
                                : run_alone(g, chase(bytes, stride, bypass, warm)).time();
  return cycles(all - before, g) / static_cast<double>(kLoads);
}

TEST(Latency, OfL1) {
  const gpu::GpuSpec g = instant();
  EXPECT_NEAR(cycles_per_load(g, 8192, 32, false, 256), static_cast<double>(g.l1.latency.count()),
              1);
}

// With one partition everything is near.
TEST(Latency, OfL2Near) {
  gpu::GpuSpec g = instant();
  g.l2.partitions = 1;
  const double wanted = cycles(g.l2.latency_near, g);
  EXPECT_NEAR(cycles_per_load(g, 65'536, 128, true, 512), wanted, 1);
}

// Cycles per load of a chain through one page that a store has put into L2, and a chain before it
// has read, or not.
double cycles_in_page(const gpu::GpuSpec& g, std::int64_t page, bool read_before) {
  constexpr std::int64_t kLines = 32;
  const std::vector<kernel::Array> arrays = {{"x", unit::Bytes{(page + 1) * 4096}}};
  Op write = store(0, 16, 8);
  write.access.offset = page * 4096;
  const auto through = [&](std::int64_t loads) {
    kernel::Kernel k = chase(4096, 128, true, loads);
    k.arrays = arrays;
    k.roles[0].program[0].bodies[0][0].access.offset = page * 4096;
    return k;
  };
  const auto time = [&](std::int64_t loads) {
    std::vector<host::Item> order{launch(0), launch(2)};
    if (read_before) { order.insert(order.begin() + 1, launch(1)); }
    const auto s = scenario_of(
        g, {kernel_of({write}, 1, 32, arrays), through(kLines), through(loads)}, order);
    return drive(s).launches.back().time();
  };
  return cycles(time(kLines) - time(1), g) / static_cast<double>(kLines - 1);
}

// With two partitions pages are at home in either of them by turns; a far one is near from the
// second read on.
TEST(Latency, OfL2NearAndFarByPage) {
  const gpu::GpuSpec g = instant();
  const double near_cycles = cycles(g.l2.latency_near, g), far_cycles = cycles(g.l2.latency_far, g);
  int near = 0;
  int far = 0;
  for (std::int64_t page = 0; page < 16; ++page) {
    const double first = cycles_in_page(g, page, false);
    near += std::abs(first - near_cycles) <= 1 ? 1 : 0;
    far += std::abs(first - far_cycles) <= 1 ? 1 : 0;
    EXPECT_NEAR(cycles_in_page(g, page, true), near_cycles, 1) << page;
  }
  EXPECT_EQ(near, 8);
  EXPECT_EQ(far, 8);
}

// Every load opens a row of its own; its page may be near or far, so the mean is what is specified.
TEST(Latency, OfDram) {
  const gpu::GpuSpec g = instant();
  const std::int64_t stride = 2 << 20;
  const double got = cycles_per_load(g, kLoads * stride, stride, true, 0);
  const double half_distance = cycles(g.l2.latency_far - g.l2.latency_near, g) / 2;
  EXPECT_NEAR(got, cycles(g.hbm.latency, g), half_distance / 5);
  gpu::GpuSpec one_sided = g;
  one_sided.l2.partitions = 1;
  EXPECT_NEAR(cycles_per_load(one_sided, kLoads * stride, stride, true, 0),
              cycles(one_sided.hbm.latency, g), 1);
}

// A row that is open answers in the time of a burst.
TEST(Latency, OfDramWithTheRowOpen) {
  gpu::GpuSpec g = instant();
  g.l2.partitions = 1;
  g.hbm.channels = 1;
  g.hbm.bandwidth = unit::Bandwidth{41'875'000'000};
  g.hbm.row_access = 40_ns;
  g.hbm.row = unit::Bytes{64 << 10};
  const double burst_ns = 64 / (41.875 * g.hbm.efficiency);
  const double got = cycles_per_load(g, 60 << 10, 64, true, 0) / 1.83;  // all in one row
  EXPECT_NEAR(got, unit::nanoseconds(g.hbm.latency) - 40 + burst_ns, 1);
}

}  // namespace
}  // namespace wavetail::tests
