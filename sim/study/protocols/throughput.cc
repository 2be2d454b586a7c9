// SPDX-License-Identifier: Apache-2.0
// Bytes per cycle of one level of memory: every SM is full of warps that read, each lane a stated
// width, from a set that this level holds and no level above does.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "study/protocols/all.h"
#include "study/protocols/bench.h"

namespace wavetail::study {

namespace {

constexpr std::int64_t kBlock = 1024;
constexpr std::int64_t kUnroll = 4;
constexpr std::int64_t kTrips = 64;  // of the short kernel; the long one has twice as many

// Time of the long kernel less the short one's.
Plan rate_of(const gpu::GpuSpec& gpu, double amount, kernel::Kernel few, kernel::Kernel many,
             std::int64_t sms, Quantity quantity) {
  few.name = "short";
  many.name = "long";
  Plan plan{scenario_of(gpu, {std::move(few), std::move(many)}, {0, 0, 1}), quantity, {}, sms};
  plan.figure = [=](const run::Happened& h) { return amount / seconds_more(h, 2, 1); };
  return plan;
}

// Blocks walk through the array one after the other and begin again at its end.
kernel::Kernel global_readers(const gpu::GpuSpec& gpu, std::int64_t width, std::int64_t bytes,
                              bool same, std::int64_t trips) {
  const std::int64_t warp = gpu.sm.warp_size * width, block = kBlock * width;
  const std::int64_t per_sm = gpu.sm.max_warps * gpu.sm.warp_size / kBlock;
  const std::int64_t grid = gpu.sms() * per_sm, all = grid * block;
  library::Listing code, body;
  code.prologue(1);
  body.load({.array = 0,
             .width = width,
             .count = kUnroll,
             .strides = {.block_x = same ? 0 : block,
                         .warp = warp,
                         .count = same ? block : all,
                         .loop = {kUnroll * (same ? block : all)}},
             .streaming = !same});
  body.wait(0);
  body.fp32(kUnroll * width / 4, width / 4, 1);
  code.repeat(trips, std::move(body));
  kernel::Kernel k = library::plain_kernel(gpu, {grid, 1, 1}, kBlock, 32, std::move(code));
  k.arrays = {{"b", unit::Bytes{library::round_up(bytes, block)}, false}};
  return k;
}

// `bytes`: of the set; `same`: all blocks read the same of it, out of L1.
Plan level_rate(const gpu::GpuSpec& gpu, std::int64_t width, std::int64_t bytes, bool same) {
  const kernel::Kernel few = global_readers(gpu, width, bytes, same, kTrips),
                       many = global_readers(gpu, width, bytes, same, 2 * kTrips);
  const double amount = static_cast<double>(kernel::volume(few.grid) * kBlock * width * kUnroll *
                                            kTrips);
  return rate_of(gpu, amount, few, many, gpu.sms(), Quantity::DataRate);
}

Plan shared_rate(const gpu::GpuSpec& gpu, std::int64_t block, bool store, std::int64_t width) {
  const auto make = [&](std::int64_t trips) {
    library::Listing code, body;
    code.prologue(1);
    const kernel::SharedAccess access{.width = static_cast<int>(width),
                                      .warp = gpu.sm.warp_size * width};
    if (store) {
      body.shared_store(access, kUnroll);
    } else {
      body.shared_load(access, kUnroll);
      body.wait_shared(0);
    }
    code.repeat(trips, std::move(body));
    kernel::Kernel k = library::plain_kernel(gpu, {gpu.sms(), 1, 1}, block, 32, std::move(code));
    k.shared_memory = unit::Bytes{block * width};
    return k;
  };
  const double amount = static_cast<double>(gpu.sms() * block * width * kUnroll * kTrips);
  return rate_of(gpu, amount, make(kTrips), make(2 * kTrips), gpu.sms(), Quantity::DataRate);
}

std::int64_t width_of(Params& params) {
  const std::string access = params.one_of(
      "access", std::array<std::string_view, 2>{"FP32.v4", "FP32 scalar"});
  return access == "FP32.v4" ? 16 : 4;
}

}  // namespace

Plan level_throughput_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"throughput", "bandwidth"});
  const std::string& kind = params.row().kind;
  const std::int64_t width = params.has("access") ? width_of(params) : 16;
  if (kind == "smem_throughput") { return shared_rate(gpu, kBlock, false, width); }
  if (kind == "l1_throughput") {
    return level_rate(gpu, width, gpu.sm.unified_l1.count() / 4, true);
  }
  const std::int64_t l2 = gpu.l2.capacity.count();
  return level_rate(gpu, width, kind == "l2_throughput" ? l2 / 4 : std::int64_t{1} << 32, false);
}

Plan sm_pipe_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"throughput"});
  const std::string test = params.word("case");
  const std::int64_t block = params.count("block");
  params.must_be("blocks_per_sm", "1");
  if (test.starts_with("SMEM read")) { return shared_rate(gpu, block, false, 16); }
  if (test.starts_with("SMEM write")) { return shared_rate(gpu, block, true, 16); }
  if (auto plan = warp_exchange_plan(test, block, gpu)) { return *std::move(plan); }
  throw Unmapped(fmt::format("case={}: programs have no such instruction", test));
}

}  // namespace wavetail::study
