// SPDX-License-Identifier: Apache-2.0
// What must hold where the SM clock follows the power: energies add up, the limit is kept, what
// waits for DRAM keeps its bandwidth, short kernels keep their clock, zeros are faster only where
// power is short, and replayed launches take the time that simulated ones take.
#include <gtest/gtest.h>

#include <thread>

#include "law/replay.h"
#include "library/parts.h"
#include "run/collect.h"
#include "run/simulate.h"
#include "support/specs.h"

namespace wavetail::tests {
namespace {

using namespace unit::literals;
using library::Listing;

// Eight SMs; `limit` watts beside 5 that it always takes. Windows are short, so that runs are.
gpu::GpuSpec small_gpu(double limit) {
  gpu::GpuSpec gpu = specs::h100_with_power();
  gpu.gpcs = {4, 4};
  gpu.clock.mode = gpu::ClockMode::Boost;
  gpu.power.limit_watts = 5 + limit;
  gpu.power.energy.static_watts = 5;
  gpu.power.control.window = 100_us;
  gpu.power.control.peak_window = 8_us;
  gpu.power.control.peak = 2;
  return gpu;
}

// Multiply-adds on all pipes of all SMs: 22 W at 1980 MHz.
kernel::Kernel arithmetic(const gpu::GpuSpec& gpu, std::int64_t trips) {
  Listing code, body;
  code.prologue(1);
  body.fp32(64, 4, 2);
  code.repeat(trips, std::move(body));
  kernel::Kernel k = library::plain_kernel(gpu, {gpu.sms(), 1, 1}, 256, 32, std::move(code));
  k.name = "arithmetic";
  return k;
}

// Reads `bytes` from DRAM.
kernel::Kernel reader(const gpu::GpuSpec& gpu, std::int64_t bytes, std::int64_t fmas) {
  constexpr std::int64_t kBlock = 256, kCount = 4, kWidth = 16;
  const std::int64_t per_block = kBlock * kCount * kWidth;
  Listing code;
  code.prologue(1);
  code.load({.array = 0,
             .width = kWidth,
             .count = kCount,
             .strides = {.block_x = per_block, .warp = 512, .count = kBlock * kWidth},
             .streaming = true});
  code.wait(0);
  code.fp32(fmas, 4, 2);
  kernel::Kernel k = library::plain_kernel(gpu, {bytes / per_block, 1, 1}, kBlock, 32,
                                           std::move(code));
  k.name = "reader";
  k.arrays = {{"x", unit::Bytes{bytes}, true}};
  return k;
}

scenario::Scenario scenario_of(gpu::GpuSpec gpu, kernel::Kernel kernel, std::int64_t launches,
                               bool busy = false) {
  scenario::Scenario s;
  s.gpu = std::move(gpu);
  s.kernels = std::vector<kernel::Kernel>{std::move(kernel)};
  s.busy_board = busy;
  host::Item launch;
  launch.kind = host::ItemKind::Launch;
  launch.kernel = 0;
  launch.repeat = launches;
  s.timeline.items.push_back(launch);
  return s;
}

run::Happened simulated(const scenario::Scenario& s) {
  return run::simulate(s, [](std::int64_t, result::Outcome&) { return std::nullopt; });
}

result::RunResult run_of(const scenario::Scenario& s) {
  return run::collect(s, simulated(s), false);
}

double parts(const result::KernelResult& k) {
  double sum = 0;
  for (const auto& [name, pct] : k.energy_pct) { sum += pct; }
  return sum;
}

TEST(PowerLaws, PartsAddUpToPowerTimesTime) {
  for (const auto mode : {gpu::ClockMode::Spec, gpu::ClockMode::Boost}) {
    gpu::GpuSpec gpu = small_gpu(8);
    gpu.clock.mode = mode;
    const result::RunResult r = run_of(scenario_of(gpu, reader(gpu, 4 << 20, 256), 3));
    const result::KernelResult& k = r.kernels.at(0);
    EXPECT_NEAR(parts(k), 100, 1e-9);
    EXPECT_NEAR(*k.power_w * k.time_us, *k.energy_mj * 1e3, 1e-9 * *k.energy_mj * 1e3);
    EXPECT_GT(k.energy_pct.at("dram"), 0);
    EXPECT_GT(k.energy_pct.at("arithmetic"), 0);
    EXPECT_EQ(k.energy_pct.at("tensor"), 0);
    // Bytes x what one costs.
    const double dram = static_cast<double>(k.counters.dram_read_bytes +
                                            k.counters.dram_write_bytes) *
                        60e-12 / static_cast<double>(k.launches) * 1e3;
    EXPECT_NEAR(*k.energy_mj * k.energy_pct.at("dram") / 100, dram, 1e-6 * dram);
  }
}

TEST(PowerLaws, TheLimitIsKeptOnAverage) {
  const gpu::GpuSpec gpu = small_gpu(11);
  const result::RunResult r = run_of(scenario_of(gpu, arithmetic(gpu, 8000), 1, true));
  const result::KernelResult& k = r.kernels.at(0);
  EXPECT_LE(*k.power_w, gpu.power.limit_watts * 1.01);
  EXPECT_GE(*k.power_w, gpu.power.limit_watts * 0.97);
  EXPECT_LT(k.clock_mhz, 1600);
  EXPECT_NE(r.regime.find("throttled"), std::string::npos) << r.regime;
  // It computes: its time is its cycles.
  const result::RunResult held = [&] {
    gpu::GpuSpec unlimited = gpu;
    unlimited.power.limit_watts = 100;
    return run_of(scenario_of(unlimited, arithmetic(unlimited, 8000), 1, true));
  }();
  EXPECT_DOUBLE_EQ(held.kernels.at(0).clock_mhz, 1980);
  EXPECT_NEAR(k.time_us * k.clock_mhz / (held.kernels.at(0).time_us * 1980), 1, 0.005);
}

TEST(PowerLaws, ShortKernelsKeepTheirClock) {
  const gpu::GpuSpec gpu = small_gpu(11);
  const result::RunResult brief = run_of(scenario_of(gpu, arithmetic(gpu, 110), 1));
  const result::RunResult lasting = run_of(scenario_of(gpu, arithmetic(gpu, 8000), 1));
  EXPECT_GT(brief.kernels.at(0).time_us, 5);
  EXPECT_LT(brief.kernels.at(0).time_us, 15);
  EXPECT_DOUBLE_EQ(brief.kernels.at(0).clock_mhz, 1980);
  EXPECT_LT(lasting.kernels.at(0).clock_mhz, 1800);
}

TEST(PowerLaws, WhatWaitsForDramKeepsItsBandwidth) {
  gpu::GpuSpec gpu = small_gpu(100);
  gpu.hbm.bandwidth = unit::Bandwidth{100'000'000'000};
  gpu.power.energy.l2 = 400e3;  // 40 W at 100 GB/s
  const scenario::Scenario free = scenario_of(gpu, reader(gpu, 32 << 20, 16), 1, true);
  scenario::Scenario tight = free;
  tight.gpu.power.limit_watts = 35;
  const result::KernelResult a = run_of(free).kernels.at(0), b = run_of(tight).kernels.at(0);
  EXPECT_DOUBLE_EQ(a.clock_mhz, 1980);
  EXPECT_LT(b.clock_mhz, 1600);
  EXPECT_NEAR(*b.dram_gbps / *a.dram_gbps, 1, 0.01);
  EXPECT_LT(*b.power_w, *a.power_w);
}

TEST(PowerLaws, ZerosAreFasterOnlyWherePowerIsShort) {
  const auto times = [](double limit) {
    const gpu::GpuSpec gpu = small_gpu(limit);
    kernel::Kernel zeros = arithmetic(gpu, 4000);
    zeros.randomness = 0;
    return std::pair{run_of(scenario_of(gpu, arithmetic(gpu, 4000), 1, true)).kernel_time_us,
                     run_of(scenario_of(gpu, zeros, 1, true)).kernel_time_us};
  };
  const auto [plenty_random, plenty_zeros] = times(100);
  EXPECT_DOUBLE_EQ(plenty_random, plenty_zeros);
  const auto [short_random, short_zeros] = times(11);
  EXPECT_LT(short_zeros, 0.95 * short_random);
}

TEST(PowerLaws, TheSameInputGivesTheSameRunOnEveryThread) {
  const gpu::GpuSpec gpu = small_gpu(11);
  const scenario::Scenario s = scenario_of(gpu, arithmetic(gpu, 1000), 4);
  const run::Happened once = simulated(s);
  run::Happened here, there;
  {
    const std::jthread other([&] { there = simulated(s); });
    here = simulated(s);
  }
  for (const run::Happened* h : {&here, &there}) {
    EXPECT_EQ(h->end, once.end);
    EXPECT_EQ(h->events, once.events);
    EXPECT_EQ(h->kernels.at(0).cycles, once.kernels.at(0).cycles);
    EXPECT_EQ(h->kernels.at(0).energy.total(), once.kernels.at(0).energy.total());
  }
}

// The control's own events are few, and without boost there are none.
TEST(PowerLaws, TheControlTakesFewEvents) {
  gpu::GpuSpec gpu = small_gpu(100);
  const std::int64_t with = simulated(scenario_of(gpu, reader(gpu, 8 << 20, 64), 1)).events;
  gpu.power.energy = {};
  const std::int64_t without = simulated(scenario_of(gpu, reader(gpu, 8 << 20, 64), 1)).events;
  EXPECT_GT(with, without);
  EXPECT_LT(with, without + without * 3 / 100);
}

// The clock sinks from launch to launch; some are simulated, the rest follow from them.
TEST(PowerReplay, AgreesWithSimulatingEveryLaunch) {
  for (const std::int64_t fmas : {0, 300, 1200}) {  // by DRAM, by both, by arithmetic
    gpu::GpuSpec gpu = small_gpu(9);
    gpu.hbm.bandwidth = unit::Bandwidth{200'000'000'000};
    // A launch lasts for a part of what lies between two decisions, as on a real board.
    gpu.power.control.window = 1_ms;
    gpu.power.control.peak_window = 160_us;
    const ReplayPair pair(scenario_of(gpu, reader(gpu, 2 << 20, fmas), 50));
    EXPECT_GT(pair.replayed(), 10);
    pair.expect_agreement(0.5);
  }
}

TEST(PowerReplay, AgreesOnLaunchesThatOutlastTheWindow) {
  const gpu::GpuSpec gpu = small_gpu(11);
  const ReplayPair pair(scenario_of(gpu, arithmetic(gpu, 2000), 8));
  EXPECT_GE(pair.replayed(), 6);
  pair.expect_agreement(0.5);
}

}  // namespace
}  // namespace wavetail::tests
