// SPDX-License-Identifier: Apache-2.0
// Where every sector is stored once, every one of them is either dirty in L2 at the end or has been
// written to DRAM: none is lost and none is written twice.
#include <gtest/gtest.h>

#include "support/drive.h"
#include "support/random_gpu.h"

namespace wavetail::tests {
namespace {

scenario::Scenario stores_once(std::uint64_t seed) {
  Dice dice(seed);
  scenario::Scenario s;
  s.gpu = random_gpu(dice, GpuKind::Odd);
  s.simulation.replay = false;
  kernel::Op store;
  store.kind = kernel::OpKind::Store;
  store.count = dice.between(1, 4);
  store.access.array = 0;
  store.access.width = 1 << dice.between(0, 4);
  store.access.walk = dice.pick(
      {kernel::WalkKind::Grid, kernel::WalkKind::Block, kernel::WalkKind::Warp});
  kernel::Op loop;
  loop.kind = kernel::OpKind::Repeat;
  loop.count = dice.between(1, 4);
  loop.bodies = {{store}};
  kernel::Kernel k;
  k.name = "store";
  k.grid = {dice.between(1, 40), 1, 1};
  const std::int64_t warps = dice.between(1, 4);
  k.block = warps * s.gpu.sm.warp_size;
  k.registers = 16;
  k.roles = {{.name = "all", .warps = warps, .registers = {}, .program = {loop}}};
  const std::int64_t bytes = k.grid[0] * k.block * loop.count * store.count * store.access.width;
  k.arrays = {{"y", unit::Bytes{bytes}, true}};
  s.kernels = {k};
  host::Item launch;
  launch.kernel = 0;
  launch.repeat = dice.between(1, 3);
  s.timeline.items = {launch};
  return s;
}

TEST(Stores, EverySectorIsDirtyOrWritten) {
  std::int64_t written = 0;
  std::int64_t kept = 0;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    const scenario::Scenario s = stores_once(seed);
    const Driven d = drive(s);
    ASSERT_TRUE(d.finished);
    const result::Counters all = d.total();
    EXPECT_EQ(d.l2_dirty_sectors * memory::kSectorBytes + all.l2_writeback_bytes,
              all.useful_store_bytes)
        << "seed " << seed;
    EXPECT_EQ(all.useful_store_bytes,
              s.kernels[0].arrays[0].bytes.count() * static_cast<std::int64_t>(d.launches.size()));
    EXPECT_EQ(all.dram_read_bytes, 0) << "whole sectors need no fetch, seed " << seed;
    written += all.l2_writeback_bytes;
    kept += d.l2_dirty_sectors;
  }
  EXPECT_GT(written, 0);
  EXPECT_GT(kept, 0);
}

}  // namespace
}  // namespace wavetail::tests
