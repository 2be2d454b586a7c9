// SPDX-License-Identifier: Apache-2.0
// From DRAM to shared memory by cp.async or by the TMA, as a kernel uses them (memory_paths of
// gb300-microbench): one block of four warps per SM goes through its own part of the set again and
// again, tile by tile in a ring of stages; all warps wait for the oldest tile, read a word of it
// each and meet at a barrier. What a trip costs beside that is counted from the published machine
// code: the tile's index is a remainder of 64-bit numbers.
#include <fmt/format.h>

#include <array>
#include <charconv>

#include "study/protocols/all.h"
#include "study/protocols/async.h"

namespace wavetail::study {

namespace {

constexpr std::int64_t kKiB = 1024, kMiB = 1024 * kKiB;
constexpr std::int64_t kBlock = 128, kWidth = 16, kRow = 256;
constexpr double kLeadBytes = 24e6, kMeasuredBytes = 96e6;
constexpr std::int64_t kLeadTrips = 24, kMeasuredTrips = 64;

struct Path {
  std::int64_t stages, stage_bytes, tiles;  // tiles of a block

  [[nodiscard]] kernel::Strides strides(std::int64_t warp) const {
    return {.block_x = tiles * stage_bytes,
            .warp = warp * kWidth,
            .count = kBlock * kWidth,
            .loop = {stage_bytes}};
  }
};

// The remainder by way of a reciprocal: three conversions, then dependent integer operations.
void remainder(library::Listing& code) {
  code.arithmetic(kernel::Pipe::Sfu, 3, 1, 0);
  code.int32(29, 1);
}

// Every lane reads a word of the stage.
void touch(library::Listing& code, const gpu::GpuSpec& gpu) {
  code.shared_load({.width = 4, .warp = gpu.sm.warp_size * 4}, 1);
  code.wait_shared(0);
}

library::Listing by_cp_async(const gpu::GpuSpec& gpu, const Path& p, std::int64_t tiles) {
  const auto ask = [&](library::Listing& code, std::int64_t first) {
    remainder(code);
    code.int32(6, 1);  // address
    code.op(cp_async(kWidth, p.stage_bytes / (kBlock * kWidth), p.strides(gpu.sm.warp_size),
                     first * p.stage_bytes));
    code.op(cp_async_commit());
  };
  library::Listing code, fill, body;
  ask(fill, 0);
  ask(body, p.stages - 1);
  body.int32(9, 1);  // the stage to read: dependent 64-bit shifts
  body.op(cp_async_wait(p.stages - 1));
  body.barrier();
  touch(body, gpu);
  body.barrier();
  code.prologue(2);
  code.repeat(p.stages - 1, std::move(fill));
  code.repeat(tiles - p.stages + 1, std::move(body));
  code.op(cp_async_wait(0));
  code.barrier();
  return code;
}

library::Listing by_tma(const gpu::GpuSpec& gpu, const Path& p, std::int64_t tiles) {
  const auto ask = [&](library::Listing& code, std::int64_t first) {
    remainder(code);
    code.int32(20, 1);  // elected thread: coordinates, transaction
    kernel::Box b = box(p.stage_bytes / kRow, kRow, kRow,
                        {.block_x = p.tiles * p.stage_bytes, .loop = {p.stage_bytes}});
    b.offset = first * p.stage_bytes;
    code.op(tma_load({b}, 0));
  };
  library::Listing code, fill, body, drain;
  ask(fill, 0);
  ask(body, p.stages - 1);
  body.int32(12, 1);  // the stage to wait for
  // its parity lies in local memory, that is, in L1
  body.shared_load({.width = 4, .warp = gpu.sm.warp_size * 4}, 1);
  body.wait_shared(0);
  body.int32(2, 1);
  body.op(mbarrier_wait(0));
  touch(body, gpu);
  body.barrier();
  body.loop_step(0);
  drain.op(mbarrier_wait(0));
  touch(drain, gpu);
  code.prologue(2);
  code.repeat(p.stages - 1, std::move(fill));
  code.repeat(tiles - p.stages + 1, std::move(body));
  code.repeat(p.stages - 1, std::move(drain));
  code.barrier();
  return code;
}

// "512MiB".
std::int64_t mebibytes(const std::string& text) {
  std::int64_t value = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || std::string_view(rest) != "MiB" || value < 1 || value > kMiB) {
    throw Unmapped(fmt::format("working_set={}: a number of MiB is needed", text));
  }
  return value * kMiB;
}

}  // namespace

Plan memory_path_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"eff_bandwidth"});
  const bool tma = params.one_of("method", std::array<std::string_view, 2>{"ldgsts", "tma"}) ==
                   "tma";
  const std::int64_t stages = params.count("stages", 2),
                     under_way = params.count("bytes_in_flight_KiB_per_sm") * kKiB;
  (void)params.count("passes");  // alike, but for where they begin
  const std::int64_t set = library::round_up(mebibytes(params.word("working_set")),
                                             gpu.sms() * 32 * kKiB);
  Path p{.stages = stages, .stage_bytes = under_way / stages, .tiles = 0};
  if (under_way % stages != 0 || p.stage_bytes % (kBlock * kWidth) != 0) {
    throw Unmapped(fmt::format("a stage of {} B is no multiple of the {} B that a block copies",
                               p.stage_bytes, kBlock * kWidth));
  }
  if (set <= 2 * gpu.cached().count()) {
    throw Unmapped("working_set is no larger than twice L2: what of it stays there is not stated");
  }
  p.tiles = set / gpu.sms() / p.stage_bytes;
  const std::int64_t grid = gpu.sms();
  const auto make = [=](std::int64_t tiles) {
    kernel::Kernel k = library::plain_kernel(
        gpu, {grid, 1, 1}, kBlock, 64, tma ? by_tma(gpu, p, tiles) : by_cp_async(gpu, p, tiles));
    k.shared_memory = unit::Bytes{library::round_up(
        std::max(under_way + 8 * stages, gpu.sm.shared_memory.count() / 2 + 1), 128)};
    k.arrays = {{"src", unit::Bytes{set}, false}};
    if (tma) { k.mbarriers = {ring("bars", stages)}; }
    return k;
  };
  const auto round = static_cast<double>(grid * p.stage_bytes);
  const Steady run = steady(gpu,
                            LongLoop{.rounds = p.tiles,
                                     .lead = rounds_for(kLeadBytes, round, kLeadTrips),
                                     .between = rounds_for(kMeasuredBytes, round, kMeasuredTrips),
                                     .make = make});
  const double bytes = round * static_cast<double>(p.tiles);
  return {run.scenario, Quantity::DataRate,
          [=](const run::Happened& h) { return bytes / run.seconds(h); }};
}

}  // namespace wavetail::study
