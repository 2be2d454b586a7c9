// SPDX-License-Identifier: Apache-2.0
// A kernel between memory and arithmetic (RRZE gpu-benches, gpu-roofline): every thread walks its
// column of two arrays, and v = v * a - b a stated number of times per pair of elements, a few
// pairs at once. The operands of that multiply-add are three registers, and warps take turns, so
// that nothing is left of them for the next instruction: each is read from the register file.
#include <fmt/format.h>

#include <algorithm>

#include "study/protocols/all.h"
#include "study/protocols/bench.h"

namespace wavetail::study {

namespace {

struct Roofline {
  std::int64_t grid = 0, block = 0, pairs = 0, ilp = 0, inner = 0;
};

// `trips` of a thread's loop, each with `ilp` pairs.
kernel::Kernel part(const Roofline& r, std::int64_t trips, const gpu::GpuSpec& gpu) {
  constexpr std::int64_t kElement = 4;
  constexpr double kOperands = 3;
  const std::int64_t row = r.block * kElement;
  library::Listing code, body;
  for (int array = 0; array < 2; ++array) {
    body.load({.array = array,
               .width = kElement,
               .count = r.ilp,
               .strides = {.block_x = trips * r.ilp * row,
                           .warp = gpu.sm.warp_size * kElement,
                           .count = row,
                           .loop = {r.ilp * row}}});
  }
  body.wait(0);
  body.fp32(r.ilp, r.ilp, 1);  // a - b
  body.fp32(r.ilp * r.inner, r.ilp, 2);
  const std::int64_t turns = library::register_turns(gpu, r.ilp * r.inner, kOperands);
  body.fp32(turns, std::max<std::int64_t>(1, turns), 0);  // nothing waits for them
  body.fp32(r.ilp, 1, 1);                                 // the sum
  body.loop_step(1);
  code.prologue(2);
  code.repeat(trips, std::move(body));
  kernel::Kernel k = library::plain_kernel(gpu, {r.grid, 1, 1}, r.block, 32, std::move(code));
  const unit::Bytes bytes{r.grid * trips * r.ilp * row};
  k.arrays = {{"a", bytes, false}, {"b", bytes, false}};
  return k;
}

}  // namespace

Plan roofline_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"gflops"});
  params.must_be("dtype", "fp32");
  params.must_be("arrays", "2");
  params.ignore({"launches", "flop_per_byte", "clock_mhz", "power_W"});
  const Roofline r{params.count("grid"), params.count("block"), params.count("elems_per_thread"),
                   params.count("ilp"), params.count("inner_iters", 0)};
  if (r.block % gpu.sm.warp_size != 0 || r.block > gpu.sm.max_threads_per_block) {
    throw Unmapped(fmt::format("block={}: whole warps of {} up to {} threads can be simulated",
                               r.block, gpu.sm.warp_size, gpu.sm.max_threads_per_block));
  }
  const Steady run = steady(gpu, {.rounds = library::ceil_div(r.pairs, r.ilp),
                                  .lead = 4,
                                  .between = 12,
                                  .make = [=](std::int64_t trips) { return part(r, trips, gpu); }});
  const double flops = 2.0 * static_cast<double>(r.grid * r.block * r.pairs) *
                       static_cast<double>(r.inner + 1);
  return {run.scenario, Quantity::OpRate,
          [=](const run::Happened& h) { return flops / run.seconds(h); }, gpu.sms()};
}

}  // namespace wavetail::study
