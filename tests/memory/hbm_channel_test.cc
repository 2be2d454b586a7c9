// SPDX-License-Identifier: Apache-2.0
// What opening rows costs a channel of DRAM.
#include "memory/hbm_channel.h"

#include <gtest/gtest.h>

namespace wavetail::memory {
namespace {

// Four bursts of 3 ns to an interleave unit, opening a row for one of them takes 4.5 ns in all.
ChannelTiming timing() {
  ChannelTiming t;
  t.burst = Duration{3000};
  t.row_access = Duration{4500};
  t.opening = Duration{1500};
  t.row_cycle = Duration{45000};
  t.banks = 16;
  return t;
}

Time after(std::int64_t ns) { return Time{} + Duration{ns * 1000}; }

TEST(HbmChannel, RowsThatAreReadWholeLoseNothing) {
  const ChannelTiming t = timing();
  HbmChannel channel(t);
  Time end;
  for (int unit = 0; unit < 64; ++unit) { end = channel.read(t, Time{}, unit / 4, 4); }
  EXPECT_EQ(end, after(64 * 12));
}

TEST(HbmChannel, RowsThatAreReadApartLoseTheirOpening) {
  const ChannelTiming t = timing();
  HbmChannel channel(t);
  Time end;
  for (int unit = 0; unit < 64; ++unit) { end = channel.read_apart(t, Time{}, 4); }
  EXPECT_EQ(end, after(64 * 12 + 96));
  EXPECT_EQ(channel.busy(), end - Time{});
}

// A single burst takes as long either way.
TEST(HbmChannel, ASingleBurstTakesItsRowAccess) {
  const ChannelTiming t = timing();
  HbmChannel together(t), apart(t);
  EXPECT_EQ(together.read(t, Time{}, 7, 1), apart.read_apart(t, Time{}, 1));
}

TEST(HbmChannel, TurnsRoundAheadOfARead) {
  ChannelTiming t = timing();
  t.drain_bursts = 4;
  t.read_to_write = Duration{20000};
  t.write_to_read = Duration{30000};
  HbmChannel channel(t);
  static_cast<void>(channel.write(t, Time{}, 1, 4));
  const Time drained = channel.busy_until();
  EXPECT_EQ(channel.read_apart(t, Time{}, 4), drained + Duration{30000 + 12000 + 1500});
}

}  // namespace
}  // namespace wavetail::memory
