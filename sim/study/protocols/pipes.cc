// SPDX-License-Identifier: Apache-2.0
// Rates of the pipes of an SM, alone and mixed, and facts about its pipeline that a run can show:
// shared memory, shuffles and reductions over a warp, DPX functions, the issue slot.
#include <fmt/format.h>

#include "isa/dpx.h"
#include "study/protocols/all.h"
#include "study/protocols/bench.h"

namespace wavetail::study {

namespace {

constexpr std::int64_t kTrips = 64;  // of the short kernel; the long one has twice as many

struct Pair {
  scenario::Scenario scenario;
  std::function<double(const run::Happened&)> seconds;
};

Pair pair_of(const gpu::GpuSpec& gpu, std::int64_t grid, std::int64_t block,
             const kernel::Program& body) {
  const auto make = [&](std::int64_t trips) {
    library::Listing code, inner;
    for (const kernel::Op& op : body) { inner.op(op); }
    code.prologue(1);
    code.repeat(trips, std::move(inner));
    kernel::Kernel k = library::plain_kernel(gpu, {grid, 1, 1}, block, 32, std::move(code));
    k.shared_memory = unit::Bytes{block * 16};
    return k;
  };
  std::vector<kernel::Kernel> kernels{make(kTrips), make(2 * kTrips)};
  kernels[0].name = "short";
  kernels[1].name = "long";
  return {scenario_of(gpu, std::move(kernels), {0, 1}),
          [](const run::Happened& h) { return seconds_of(h, 1) - seconds_of(h, 0); }};
}

// What `per_trip` of something on every SM are per second.
Plan rate(const gpu::GpuSpec& gpu, std::int64_t block, const kernel::Program& body, double per_trip,
          Quantity quantity) {
  Pair p = pair_of(gpu, gpu.sms(), block, body);
  const double amount = per_trip * static_cast<double>(gpu.sms() * kTrips);
  return {std::move(p.scenario), quantity,
          [=, seconds = p.seconds](const run::Happened& h) { return amount / seconds(h); },
          gpu.sms()};
}

// So many calls side by side, each depending on one of the round before.
kernel::Program dpx_calls(Params& params, const gpu::GpuSpec& gpu, std::int64_t calls) {
  const std::string name = params.word("instr");
  const auto steps = isa::dpx_steps(name, gpu.architecture);
  if (!steps) { throw Unmapped(fmt::format("instr={}: there is no such DPX function", name)); }
  library::Listing call;
  for (const isa::DpxStep& step : *steps) {
    call.arithmetic(step.pipe, calls * step.count, calls * step.distance, 0);
  }
  return call.take();
}

kernel::SharedAccess lanes_of(const gpu::GpuSpec& gpu, int width) {
  return {.width = width, .warp = gpu.sm.warp_size * width};
}

}  // namespace

Plan dpx_latency_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"latency"});
  Pair p = pair_of(gpu, 1, gpu.sm.warp_size, dpx_calls(params, gpu, 1));
  return {std::move(p.scenario), Quantity::Time,
          [seconds = p.seconds](const run::Happened& h) { return seconds(h) / kTrips; }};
}

Plan dpx_throughput_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"throughput"});
  constexpr std::int64_t kBlock = 1024, kCalls = 4;
  return rate(gpu, kBlock, dpx_calls(params, gpu, kCalls), kCalls * static_cast<double>(kBlock),
              Quantity::OpRate);
}

// Whether this case is one of these: shuffles and reductions, four at a time.
std::optional<Plan> warp_exchange_plan(const std::string& test, std::int64_t block,
                                       const gpu::GpuSpec& gpu) {
  constexpr std::int64_t kUnroll = 4;
  library::Listing body;
  if (test.starts_with("SHFL.")) {
    body.shared_load(lanes_of(gpu, 4), kUnroll);
    body.wait_shared(0);
  } else if (test.starts_with("REDUX.")) {
    if (gpu.pipes.redux.lanes == 0) { throw Unmapped(gpu.name + " has no pipe for reductions"); }
    body.arithmetic(kernel::Pipe::Redux, kUnroll, kUnroll, 0);
  } else {
    return std::nullopt;
  }
  const double warps = static_cast<double>(block / gpu.sm.warp_size);
  return rate(gpu, block, body.take(), kUnroll * warps, Quantity::OpRate);
}

// Loads from shared memory and shuffles in turn: bytes of both.
Plan sm_pipe_mixed_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"throughput"});
  params.must_be("case", "1 smem uint4 read + 4 SHFL32 interleaved");
  constexpr std::int64_t kBlock = 256;  // as its other cases
  const std::int64_t block = params.has("block") ? params.count("block") : kBlock;
  if (params.has("blocks_per_sm")) { params.must_be("blocks_per_sm", "1"); }
  library::Listing body;
  body.shared_load(lanes_of(gpu, 16), 1);
  body.shared_load(lanes_of(gpu, 4), 4);
  body.wait_shared(0);
  return rate(gpu, block, body.take(), static_cast<double>(block * (16 + 4 * 4)),
              Quantity::DataRate);
}

Plan core_plan(Params& params, const gpu::GpuSpec& gpu) {
  const std::string& metric = params.row().metric;
  if (metric == "lds_raw_latency") {
    params.must_be("op", "LDS");
    return shared_latency(gpu);
  }
  if (metric == "issue_rate") {
    params.ignore({"policy"});  // the GPU's file has it
    constexpr std::int64_t kBlock = 512, kUnroll = 32;
    library::Listing body;
    body.fp32(kUnroll, kUnroll, 2);
    Plan p = rate(gpu, kBlock, body.take(),
                  static_cast<double>(kUnroll * kBlock / gpu.sm.warp_size), Quantity::OpRate);
    p.sms *= gpu.sm.schedulers;
    return p;
  }
  throw Unmapped(
      fmt::format("{}: a fact about the pipeline that no part of the machine has", metric));
}

}  // namespace wavetail::study
