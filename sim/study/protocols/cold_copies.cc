// SPDX-License-Identifier: Apache-2.0
// How long a single asynchronous copy takes when every SM asks for one at the same time
// (tma2d_lat, ldgsts_lat of microbench-blackwell). In front of each launch a memset of the size of
// L2 left it full of dirty lines; the copies' data are in DRAM. The figure is the mean wait of a
// warp, where the benchmark gives the median of what its threads measured.
#include <fmt/format.h>

#include "study/protocols/all.h"
#include "study/protocols/async.h"

namespace wavetail::study {

namespace {

// Cycles from the copy's issue to the first instruction behind it, mean over warps.
Plan waits_of(const gpu::GpuSpec& gpu, kernel::Kernel k) {
  Plan plan{scenario_of(gpu, {std::move(k)}, {0}), Quantity::Time, {}};
  plan.scenario.initial_l2 = scenario::InitialL2::Dirty;
  const auto hertz = static_cast<double>(gpu.sm_clock().count());
  plan.figure = [=](const run::Happened& h) {
    const result::Counters& c = h.kernels[0].counters;
    const auto waited = c.stalls.long_scoreboard + c.stalls.short_scoreboard;
    return static_cast<double>(waited) / static_cast<double>(c.warps) / hertz;
  };
  return plan;
}

}  // namespace

Plan tma_cold_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"latency_median"});
  params.must_be("pattern", "every SM issues one cold load");
  const std::int64_t per_sm = params.count("ctas_per_sm");
  const auto [width, height] = sides_of("box", params.word("box"), " fp32");
  const std::int64_t row = width * 4, tile = row * height;
  params.agrees("tile_bytes", tile);
  library::Listing code;
  code.prologue(1);
  code.op(tma_load({box(height, row, row, {.block_x = tile})}, 0));
  code.op(mbarrier_wait(0));
  kernel::Kernel k = library::plain_kernel(gpu, {per_sm * gpu.sms(), 1, 1}, gpu.sm.warp_size, 32,
                                           std::move(code));
  k.shared_memory = unit::Bytes{tile + 8};
  k.arrays = {{"data", unit::Bytes{per_sm * gpu.sms() * tile}, false}};
  k.mbarriers = {ring("bar", 1)};
  return waits_of(gpu, std::move(k));
}

Plan cpasync_cold_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"latency_median"});
  const std::int64_t per_sm = params.count("ctas_per_sm"), block = params.count("block"),
                     width = params.count("load_bytes_per_thread");
  if (block % gpu.sm.warp_size != 0) { throw Unmapped("block must be whole warps"); }
  if (width != 4 && width != 8 && width != 16) {
    throw Unmapped(fmt::format("load_bytes_per_thread={}: cp.async copies 4, 8 or 16", width));
  }
  library::Listing code;
  code.prologue(1);
  code.op(cp_async(width, 1, {.block_x = block * width, .warp = gpu.sm.warp_size * width}));
  code.op(cp_async_commit());
  code.op(cp_async_wait(0));
  code.shared_load({.width = 4, .warp = gpu.sm.warp_size * width}, 1);
  code.wait_shared(0);
  kernel::Kernel k = library::plain_kernel(gpu, {per_sm * gpu.sms(), 1, 1}, block, 32,
                                           std::move(code));
  k.shared_memory = unit::Bytes{block * width};
  k.arrays = {{"arr", unit::Bytes{per_sm * gpu.sms() * block * width}, false}};
  return waits_of(gpu, std::move(k));
}

}  // namespace wavetail::study
