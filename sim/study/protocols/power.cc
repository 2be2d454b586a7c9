// SPDX-License-Identifier: Apache-2.0
// Clocks: the SM clock of a board that has been busy for long, and the memory clock that a GPU's
// bandwidth means.
#include <fmt/format.h>

#include <cmath>

#include "study/protocols/all.h"
#include "study/protocols/bench.h"

namespace wavetail::study {

namespace {

// Every SM reads a set that L2 holds, for so many passes.
kernel::Kernel l2_readers(const gpu::GpuSpec& gpu, std::int64_t trips) {
  constexpr std::int64_t kBlock = 1024, kWidth = 16, kCount = 4;
  const std::int64_t grid = gpu.sms() * (gpu.sm.max_warps * gpu.sm.warp_size / kBlock);
  const std::int64_t block = kBlock * kWidth, all = grid * block;
  library::Listing code, body;
  code.prologue(1);
  body.load({.array = 0,
             .width = kWidth,
             .count = kCount,
             .strides = {.block_x = block,
                         .warp = gpu.sm.warp_size * kWidth,
                         .count = all,
                         .loop = {kCount * all}},
             .streaming = true});
  body.wait(0);
  body.fp32(kCount * kWidth / 4, kWidth / 4, 1);
  code.repeat(trips, std::move(body));
  kernel::Kernel k = library::plain_kernel(gpu, {grid, 1, 1}, kBlock, 32, std::move(code));
  k.arrays = {{"b", unit::Bytes{library::round_up(gpu.l2.capacity.count() / 4, block)}, false}};
  return k;
}

}  // namespace

Plan clock_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"sm_clock", "sm_clock_min"});
  const std::string workload = params.word("workload");
  if (!workload.starts_with("microbenchmarks")) {
    throw Unmapped(fmt::format("workload={}: only microbenchmarks are known", workload));
  }
  params.agrees("power_limit_W", std::llround(gpu.power.limit_watts));
  if (!gpu.power.known() || gpu.clock.mode != gpu::ClockMode::Boost) {
    throw Unmapped(
        fmt::format("{}: its clock is held, or nothing is known of its power", gpu.name));
  }
  constexpr std::int64_t kTrips = 64;
  kernel::Kernel settle = l2_readers(gpu, kTrips), read = l2_readers(gpu, 2 * kTrips);
  settle.name = "settle";
  read.name = "read";
  Plan plan{
      scenario_of(gpu, {std::move(settle), std::move(read)}, {0, 1}), Quantity::Frequency, {}};
  plan.scenario.busy_board = true;
  plan.figure = [](const run::Happened& h) {
    const run::KernelAccount& reads = h.kernels[1];
    return static_cast<double>(reads.cycles) / unit::seconds(reads.time);
  };
  return plan;
}

// Double data rate over all stacks' pins.
Plan memory_clock_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"mem_clock"});
  params.must_be("reported_by", "nvidia-smi");
  constexpr double kPinsPerStack = 1024;
  const double hertz = static_cast<double>(gpu.hbm.bandwidth.count()) * 8 /
                       (2 * kPinsPerStack * static_cast<double>(gpu.hbm.stacks));
  return {{}, Quantity::Frequency, [=](const run::Happened&) { return hertz; }};
}

}  // namespace wavetail::study
