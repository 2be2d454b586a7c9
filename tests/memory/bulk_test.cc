// SPDX-License-Identifier: Apache-2.0
// Boxes of rows a pitch apart are looked up in pages of 32 x 128 bytes: however a matrix is cut
// into boxes, every byte of it is fetched once, and found again by boxes cut another way and by
// ranges.
#include <gtest/gtest.h>

#include "memory/system.h"
#include "support/specs.h"

namespace wavetail::memory {
namespace {

constexpr std::int64_t kRows = 96, kPitch = 1024, kBytes = kRows * kPitch;

class BulkTest : public testing::Test {
 protected:
  // Fetches the matrix box by box; the last columns and rows in smaller boxes.
  void fetch_all(std::int64_t rows, std::int64_t row_bytes) {
    for (std::int64_t r = 0; r < kRows; r += rows) {
      for (std::int64_t c = 0; c < kPitch; c += row_bytes) {
        fetch(r * kPitch + c, std::min(rows, kRows - r), std::min(row_bytes, kPitch - c), kPitch);
      }
    }
  }

  void fetch(std::int64_t address, std::int64_t rows, std::int64_t row_bytes, std::int64_t pitch) {
    BulkAccess a;
    a.array_bytes = kBytes;
    a.address = address;
    a.rows = rows;
    a.row_bytes = row_bytes;
    a.pitch = pitch;
    a.departs = wheel_.now();
    a.issued = wheel_.now();
    a.account = &account_;
    system_.fetch(a);
    event::Event e;
    const std::uint16_t receiver = 0;
    while (wheel_.pop(e)) {
      Time landed;
      EXPECT_EQ(system_.bulk_arrives(e.a, {&receiver, 1}, {&landed, 1}), rows * row_bytes);
      EXPECT_GE(landed, wheel_.now());
    }
  }

  gpu::GpuSpec gpu_ = specs::h100();
  Clocks clocks_{gpu_};
  event::Wheel wheel_;
  System system_{gpu_, clocks_, wheel_, 1};
  result::Counters counters_;
  Stores stores_;
  Account account_{&counters_, &stores_, {}};
};

TEST_F(BulkTest, EveryByteIsFetchedOnce) {
  fetch_all(40, 192);
  EXPECT_EQ(counters_.dram_read_bytes, kBytes);
  EXPECT_EQ(counters_.l2_hit_sectors, 0);
  std::int64_t held = 0;
  for (const L2::Census& c : system_.l2().census({{0, 1 << 20}})) { held += c.lines; }
  EXPECT_EQ(held * kLineBytes, kBytes);
}

TEST_F(BulkTest, BoxesCutAnotherWayFindIt) {
  fetch_all(32, 128);
  fetch_all(24, 96);
  fetch_all(5, 480);
  EXPECT_EQ(counters_.dram_read_bytes, kBytes);
  EXPECT_EQ(counters_.l2_hit_sectors, 2 * kBytes / kSectorBytes);
}

TEST_F(BulkTest, ARangeFindsIt) {
  fetch_all(32, 128);
  for (std::int64_t at = 0; at < kBytes; at += kBulkBytes) { fetch(at, 1, kBulkBytes, kBulkBytes); }
  EXPECT_EQ(counters_.dram_read_bytes, kBytes);
  EXPECT_EQ(counters_.l2_hit_sectors, kBytes / kSectorBytes);
}

TEST_F(BulkTest, InFlightAndLatencyAgree) {
  fetch_all(32, 128);
  EXPECT_EQ(counters_.latency_bytes, kBytes);
  EXPECT_NEAR(account_.in_flight.integral(wheel_.now()),
              static_cast<double>(counters_.latency_ps_sum),
              0.01 * static_cast<double>(counters_.latency_ps_sum));
}

}  // namespace
}  // namespace wavetail::memory
