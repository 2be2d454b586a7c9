// SPDX-License-Identifier: Apache-2.0
// The power control alone, fed with stated loads, and the pace of remembered launches under it.
#include "device/power.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdlib>

#include "device/energy.h"
#include "device/pace.h"
#include "support/specs.h"

namespace wavetail::device {
namespace {

using namespace unit::literals;

gpu::GpuSpec boosted() {
  gpu::GpuSpec gpu = specs::h100_with_power();
  gpu.clock.mode = gpu::ClockMode::Boost;
  return gpu;
}

// A load of so many watts at sm_max, of which the core's part follows the clock.
struct Load {
  double core = 0, dram = 0;
};

struct Course {
  double seconds = 0, cycles = 0, joules = 0;

  [[nodiscard]] double watts() const { return joules / seconds; }

  [[nodiscard]] double mhz() const { return cycles / seconds * 1e-6; }
};

// Feeds the load for a time, interval by interval.
Course feed(PowerControl& control, const Load& load, Duration time) {
  Course c;
  const double top = 1980e6;
  for (Duration done; done < time;) {
    const Duration dt = std::min(control.until_decision(), time - done);
    const double s = unit::seconds(dt), clock = static_cast<double>(control.clock().count());
    const double core = load.core * control.scale() * clock / top;
    control.spend(dt, core * s * 1e15, load.dram * s * 1e15);
    c.seconds += s;
    c.cycles += s * clock;
    c.joules += s * (control.static_watts() + core + load.dram);
    done += dt;
  }
  return c;
}

TEST(PowerControl, IsOffWithoutBoostAndWithoutEnergies) {
  EXPECT_FALSE(PowerControl(specs::h100_with_power(), false).active());  // clock.sm is held
  gpu::GpuSpec silent = boosted();
  silent.power.energy = {};
  EXPECT_FALSE(PowerControl(silent, false).active());
  EXPECT_TRUE(PowerControl(boosted(), false).active());
}

TEST(PowerControl, LoadBelowTheLimitsKeepsTheHighestClock) {
  PowerControl control(boosted(), true);
  const Course c = feed(control, {.core = 590 - 1, .dram = 0}, 50_ms);
  EXPECT_NEAR(c.mhz(), 1980, 1e-6);
  EXPECT_EQ(control.held_by_limit().count() + control.held_by_peak().count(), 0);
}

TEST(PowerControl, TenMicrosecondsKeepTheirClock) {
  PowerControl control(boosted(), false);
  EXPECT_DOUBLE_EQ(feed(control, {.core = 1100}, 10_us).mhz(), 1980);
}

// 1100 W of core power at 1980 MHz: the short average allows 890 W beside the static 110, the long
// one 590. Energies go as clock^1.5, power as clock^2.5.
TEST(PowerControl, SettlesAtThePeakLimitAndThenAtTheLongOne) {
  PowerControl control(boosted(), false);
  (void)feed(control, {.core = 1100}, 100_us);
  const Course first = feed(control, {.core = 1100}, 1_ms);
  EXPECT_NEAR(first.mhz(), 1980 * std::pow(890.0 / 1100, 0.4), 20);
  EXPECT_GT(control.held_by_peak().count(), 0);
  (void)feed(control, {.core = 1100}, 100_ms);
  const Course later = feed(control, {.core = 1100}, 20_ms);
  EXPECT_NEAR(later.mhz(), 1980 * std::pow(590.0 / 1100, 0.4), 20);
  EXPECT_LE(later.watts(), 700);
  EXPECT_GT(control.held_by_limit().count(), 0);
}

// Whatever comes, and however it changes, the long average stays at the limit but for what one
// interval can add.
TEST(PowerControl, TheLongAverageNeverExceedsTheLimit) {
  const gpu::GpuSpec gpu = boosted();
  PowerControl control(gpu, true);
  std::uint64_t seed = 1;
  for (int n = 0; n < 20'000; ++n) {
    seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
    const double core = static_cast<double>(seed >> 40) / (1 << 24) * 1500;
    (void)feed(control, {.core = core, .dram = 100}, Duration{1'000'000 + 7'000 * (n % 900)});
    ASSERT_LT(control.average_watts(), 700 * 1.003) << n;
  }
}

TEST(PowerControl, MemoryPowerIsNotGivenBackByTheClock) {
  PowerControl control(boosted(), true);
  const Course c = feed(control, {.core = 300, .dram = 400}, 20_ms);  // 110 W static: 190 left
  EXPECT_NEAR(c.mhz(), 1980 * std::pow(190.0 / 300, 0.4), 20);
}

TEST(PowerControl, AnIdleBoardRecovers) {
  PowerControl control(boosted(), true);
  (void)feed(control, {.core = 1100}, 5_ms);
  EXPECT_LT(control.clock(), 1600_MHz);
  control.spend(100_ms, 0, 0);
  EXPECT_EQ(control.clock(), 1980_MHz);
  EXPECT_LT(control.average_watts(), 120);
}

TEST(PowerControl, TheClockStaysBetweenItsEnds) {
  PowerControl control(boosted(), true);
  (void)feed(control, {.core = 100'000}, 1_ms);
  EXPECT_EQ(control.clock(), boosted().power.control.lowest);
}

// Energy -----------------------------------------------------------------------------------------

TEST(Energy, IsCountsTimesWhatEachCosts) {
  const gpu::GpuSpec gpu = boosted();
  result::Counters c;
  c.warp_instructions = 1000;
  c.fp32_busy = 10;           // pipe cycles of 32 lanes
  c.tensor_energy = 123'456;  // as the instructions state it
  c.bank_wavefronts = 3;
  c.data_wavefronts = 2;
  c.ingress_bytes = 640;
  c.egress_bytes = 320;
  c.dram_read_bytes = 512;
  const result::Work w = work_of(gpu, c, 1);
  EXPECT_EQ(w.instructions, 1000 * 100'000);
  EXPECT_EQ(w.arithmetic, 320 * 8'000);
  EXPECT_EQ(w.tensor, 123'456);
  EXPECT_EQ(w.shared, 5 * 128 * 10'000);
  EXPECT_EQ(w.l2, 960 * 40'000);
  EXPECT_EQ(w.dram, 512 * 60'000);
  // Zeros need no energy for the data themselves.
  const result::Work zeros = work_of(gpu, c, 0);
  EXPECT_EQ(zeros.instructions, w.instructions);
  EXPECT_NEAR(static_cast<double>(zeros.dram), 0.7 * static_cast<double>(w.dram), 1);
  EXPECT_NEAR(static_cast<double>(zeros.tensor), 0.7 * static_cast<double>(w.tensor), 1);
}

TEST(Energy, FallsWithTheClock) {
  EXPECT_NEAR(energy_scale(boosted(), 990_MHz), std::pow(0.5, 1.5), 1e-6);
  EXPECT_EQ(energy_scale(boosted(), 1980_MHz), 1);
}

// Pace -------------------------------------------------------------------------------------------

Replay::Point point(Hertz clock, Duration duration) { return {clock, {duration, Duration{}}, {}}; }

TEST(Pace, TimeIsLinearInThePeriod) {
  const std::vector<Replay::Point> points{point(1800_MHz, 100_us), point(1500_MHz, 120_us)};
  EXPECT_NEAR(time_at(points, 1650_MHz), 109.0909e6, 1e3);
  EXPECT_NEAR(time_at(points, 1200_MHz), 150e6, 1e3);  // it computes all the time
}

TEST(Pace, HalfAtOneClockAndHalfAtAnother) {
  gpu::GpuSpec gpu = boosted();
  PowerControl control(gpu, false);
  const std::vector<Replay::Point> points{point(1980_MHz, 100_us), point(990_MHz, 200_us)};
  // Too little to be held back.
  const Pace p = pace(control, {.tensor = 1'000'000}, {{100_us, 1'000'000, 0}}, points);
  EXPECT_EQ(p.duration, 100_us);
  EXPECT_NEAR(p.cycles, 198'000, 1);
  EXPECT_NEAR(p.energy.tensor, 1e-9, 1e-14);
}

TEST(Pace, AThrottledLaunchTakesAsLongAsItsCyclesDo) {
  gpu::GpuSpec gpu = boosted();
  PowerControl control(gpu, true);
  const std::vector<Replay::Point> points{point(1980_MHz, 1_ms), point(990_MHz, 2_ms)};
  const auto femtojoules = static_cast<std::int64_t>(1100 * 1e-3 * 1e15);  // 1100 W for 1 ms
  const Pace p = pace(control, {.tensor = femtojoules}, {{1_ms, femtojoules, 0}}, points);
  EXPECT_NEAR(p.cycles, 1.98e6, 2e3);
  EXPECT_GT(p.duration, 1200_us);
  EXPECT_LT(p.lowest, 1600_MHz);
}

TEST(Pace, AsksForClocksOutsideThoseItKnows) {
  const std::vector<Replay::Point> one{point(1800_MHz, 100_us)};
  EXPECT_FALSE(missing_clock(one, 1790_MHz, 1810_MHz));
  EXPECT_EQ(missing_clock(one, 1500_MHz, 1800_MHz), 1500_MHz);
  // Two that are close say little about the slope.
  EXPECT_EQ(missing_clock(one, 1700_MHz, 1800_MHz), 1530_MHz);
  EXPECT_EQ(missing_clock(one, 1800_MHz, 1980_MHz), 2070_MHz);
}

// A launch that waits for DRAM at one clock and computes at the other has a corner in between.
TEST(Pace, AsksForTheMiddleWhereTheTimeMayHaveACorner) {
  const std::vector<Replay::Point> corner{point(1800_MHz, 100_us), point(1400_MHz, 112_us)};
  EXPECT_EQ(missing_clock(corner, 1450_MHz, 1700_MHz), 1600_MHz);
  const std::vector<Replay::Point> computes{point(1800_MHz, 100_us), point(1400_MHz, 128_us)};
  EXPECT_FALSE(missing_clock(computes, 1450_MHz, 1700_MHz));
  const std::vector<Replay::Point> waits{point(1800_MHz, 100_us), point(1400_MHz, 100_us)};
  EXPECT_FALSE(missing_clock(waits, 1450_MHz, 1700_MHz));
}

}  // namespace
}  // namespace wavetail::device
