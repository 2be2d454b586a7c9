// SPDX-License-Identifier: Apache-2.0
// Bandwidth of cp.async from DRAM against the bytes that every SM has under way (ldgsts_tput of
// microbench-blackwell): every thread copies one element per trip into a ring of stages, one group
// each, and waits for the oldest before it takes its place. Warps do not wait for each other. From
// trip to trip the grid moves on by as many rows of elements as there are stages, so that only the
// first of them is read.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "study/protocols/all.h"
#include "study/protocols/async.h"

namespace wavetail::study {

namespace {

constexpr double kLeadBytes = 16e6, kMeasuredBytes = 64e6;
constexpr std::int64_t kLeadTrips = 32, kMeasuredTrips = 96;
// __pipeline_wait_prior(N) of CUDA's headers leaves at most so many groups under way
// (_CUDA_PIPELINE_MAX_STAGES), whatever N is.
constexpr std::int64_t kMostLeft = 8;

struct Copies {
  std::int64_t blocks, block, stages, width;

  [[nodiscard]] std::int64_t row() const { return blocks * block * width; }
};

kernel::Kernel copiers(const gpu::GpuSpec& gpu, const Copies& c, std::int64_t trips) {
  library::Listing code, body;
  code.prologue(2);
  body.op(cp_async_wait(std::min(c.stages - 1, kMostLeft)));
  body.int32(kNextCopy, 1);
  body.op(cp_async(c.width, 1,
                   {.block_x = c.block * c.width,
                    .warp = gpu.sm.warp_size * c.width,
                    .loop = {c.stages * c.row()}}));
  body.op(cp_async_commit());
  code.repeat(trips, std::move(body));
  code.op(cp_async_wait(std::min(c.stages - 1, kMostLeft)));
  kernel::Kernel k = library::plain_kernel(gpu, {c.blocks, 1, 1}, c.block, 32, std::move(code));
  k.shared_memory = unit::Bytes{c.stages * c.block * c.width};
  k.arrays = {{"arr", unit::Bytes{trips * c.stages * c.row()}, false}};
  return k;
}

}  // namespace

Plan cpasync_dram_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"dram_bandwidth"});
  const std::int64_t per_sm = params.count("ctas_per_sm");
  const Copies c{.blocks = per_sm * gpu.sms(),
                 .block = params.count("block"),
                 .stages = params.count("stages"),
                 .width = params.count("load_bytes_per_thread")};
  params.must_be("total", "2GB");
  if (c.width != 4 && c.width != 8 && c.width != 16) {
    throw Unmapped(fmt::format("load_bytes_per_thread={}: cp.async copies 4, 8 or 16", c.width));
  }
  if (c.block % gpu.sm.warp_size != 0) { throw Unmapped("block must be whole warps"); }
  params.agrees("bytes_in_flight_per_sm", per_sm * c.stages * c.block * c.width);
  const auto row = static_cast<double>(c.row());
  const std::int64_t trips = (std::int64_t{2} << 30) / (c.stages * c.row());
  const Steady run = steady(gpu,
                            LongLoop{.rounds = trips,
                                     .lead = rounds_for(kLeadBytes, row, kLeadTrips),
                                     .between = rounds_for(kMeasuredBytes, row, kMeasuredTrips),
                                     .make = [=](std::int64_t n) { return copiers(gpu, c, n); }});
  const double bytes = row * static_cast<double>(trips);
  return {run.scenario, Quantity::DataRate,
          [=](const run::Happened& h) { return bytes / run.seconds(h); }};
}

}  // namespace wavetail::study
