// SPDX-License-Identifier: Apache-2.0
// Operation rates of a GPU full of warps that multiply and add, each operation depending on the one
// before (OpenCL-Benchmark; two operations per instruction), and the cycles of one operation in a
// chain of a single warp.
#include <fmt/format.h>

#include <array>

#include "study/protocols/all.h"
#include "study/protocols/bench.h"

namespace wavetail::study {

namespace {

constexpr std::int64_t kBlock = 256, kPerTrip = 64;
constexpr std::int64_t kTrips = 8;  // of the short kernel; the long one has twice as many

kernel::Kernel chain(const gpu::GpuSpec& gpu, kernel::Pipe pipe, std::int64_t grid,
                     std::int64_t block, std::int64_t trips) {
  library::Listing code, body;
  code.prologue(1);
  body.arithmetic(pipe, kPerTrip, 1, 0);
  code.repeat(trips, std::move(body));
  return library::plain_kernel(gpu, {grid, 1, 1}, block, 16, std::move(code));
}

// Time of the long kernel less the short one's, both named.
struct Difference {
  scenario::Scenario scenario;
  std::function<double(const run::Happened&)> seconds;
};

Difference difference(const gpu::GpuSpec& gpu, kernel::Pipe pipe, std::int64_t grid,
                      std::int64_t block) {
  std::vector<kernel::Kernel> kernels{chain(gpu, pipe, grid, block, kTrips),
                                      chain(gpu, pipe, grid, block, 2 * kTrips)};
  kernels[0].name = "short";
  kernels[1].name = "long";
  return {scenario_of(gpu, std::move(kernels), {0, 1}),
          [](const run::Happened& h) { return seconds_of(h, 1) - seconds_of(h, 0); }};
}

}  // namespace

Plan op_rate_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"rate"});
  const std::string test = params.word("test");
  kernel::Pipe pipe = kernel::Pipe::Fp32;
  if (test == "int32 compute") {
    pipe = kernel::Pipe::Int32;
  } else if (test == "fp64 compute") {
    pipe = kernel::Pipe::Fp64;
  } else if (test != "fp32 compute") {
    throw Unmapped(
        fmt::format("test={}: there is fp32 compute, fp64 compute, int32 compute; other "
                    "types have no pipe, and the size of other tests is not stated",
                    test));
  }
  const std::int64_t grid = gpu.sms() * gpu.sm.max_warps * gpu.sm.warp_size / kBlock;
  const Difference d = difference(gpu, pipe, grid, kBlock);
  const double operations = 2.0 * static_cast<double>(grid * kBlock * kPerTrip * kTrips);
  return {d.scenario, Quantity::OpRate,
          [=](const run::Happened& h) { return operations / d.seconds(h); }, gpu.sms()};
}

Plan op_chain_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"clock_cycles"});
  params.must_be("method", "dependent chain in one XLA fusion");
  const std::string op = params.word("op"), type = params.word("type");
  const bool simple = op == "add" || op == "subtract" || op == "multiply";
  const kernel::Pipe pipe = type == "f64"   ? kernel::Pipe::Fp64
                            : type == "f32" ? kernel::Pipe::Fp32
                                            : kernel::Pipe::Int32;
  if (!simple || (type != "f32" && type != "f64" && type != "s32" && type != "u32")) {
    throw Unmapped(fmt::format(
        "op={} of type={}: how many instructions that is, and of which kind, is not stated", op,
        type));
  }
  const Difference d = difference(gpu, pipe, 1, gpu.sm.warp_size);
  return {
      d.scenario, Quantity::Time,
      [=](const run::Happened& h) { return d.seconds(h) / static_cast<double>(kPerTrip * kTrips); },
      1};
}

}  // namespace wavetail::study
