// SPDX-License-Identifier: Apache-2.0
// Loops whose trips the block's index says: what they count to, what the machine executes, what the
// bounds take them for.
#include "analytic/lab.h"

#include "bound/work.h"
#include "kernel/trips.h"

namespace wavetail::tests {
namespace {

Op by_index(std::int64_t most, kernel::Trips trips, Program body) {
  Op op = repeat(most, std::move(body));
  op.over = kernel::Over::Index;
  op.trips = trips;
  return op;
}

TEST(Trips, RoundDownAndStayWithinTheirLimits) {
  const kernel::Trips t{.offset = -3, .block_x = 2, .block_y = 10, .divisor = 4, .least = 1};
  EXPECT_EQ(trips_of(t, 6, {0, 0, 0}), 1);  // -3 / 4 is below the least
  EXPECT_EQ(trips_of(t, 6, {5, 0, 0}), 1);  // 7 / 4
  EXPECT_EQ(trips_of(t, 6, {6, 0, 9}), 2);  // 9 / 4
  EXPECT_EQ(trips_of(t, 6, {6, 2, 0}), 6);  // 29 / 4 is above the most
  const kernel::TripCount n = count_trips(t, 6, {7, 1, 5});
  EXPECT_EQ(n.most, 2);
  EXPECT_DOUBLE_EQ(n.mean, 8.0 / 7);
}

// Tile t of a causal attention has t + 1 blocks of keys; some blocks have no trip of a loop at all.
TEST(Trips, AreExecutedBlockByBlock) {
  const gpu::GpuSpec g = instant();
  constexpr std::int64_t kBlocks = 5, kEach = 10;
  const kernel::Kernel k = kernel_of({by_index(3, {.offset = -1, .block_x = 1}, {fma(kEach, 8)})},
                                     kBlocks, 32);
  const auto ran = run_alone(g, k);  // 0, 0, 1, 2, 3 trips
  EXPECT_EQ(ran.counters.warp_instructions, 6 * kEach);
  const bound::Work work = bound::count_work(k, g);
  EXPECT_DOUBLE_EQ(work.warp_instructions, 6 * kEach);
}

// The loop's trip is where its strides are taken from, and it starts anew in the next loop.
TEST(Trips, OfABlockAreThoseOfItsTileInALoopOverTiles) {
  const gpu::GpuSpec g = instant();
  kernel::Kernel k = kernel_of({}, 2, 32);
  k.shares = kernel::Shares{.tiles = {4, 1, 1}};
  Op tiles = repeat(2, {by_index(8, {.offset = 1, .block_x = 1}, {fma(1)})});
  tiles.over = kernel::Over::Tiles;
  k.roles.front().program = {tiles};
  EXPECT_EQ(run_alone(g, k).counters.warp_instructions, 1 + 2 + 3 + 4);
}

}  // namespace
}  // namespace wavetail::tests
