// SPDX-License-Identifier: Apache-2.0
// Arithmetic: the pipes' throughput against warps and distances, branches, barriers.
#include "analytic/lab.h"
#include "isa/dpx.h"

namespace wavetail::tests {
namespace {

constexpr std::int64_t kCount = 1000;

// Cycles of one block that runs the program in `warps` warps.
double block_cycles(const gpu::GpuSpec& g, Program program, std::int64_t warps) {
  return cycles(run_alone(g, kernel_of(std::move(program), 1, 32 * warps)).time(), g);
}

// n instructions, each depending on the one `distance` before, in `sharing` warps of one
// sub-partition: the pipe takes `each` cycles per instruction; one warp issues every
// max(each, latency / distance) cycles; nobody waits for the last result.
double closed_form(const gpu::PipeSpec& pipe, std::int64_t distance, std::int64_t sharing) {
  const std::int64_t each = std::max<std::int64_t>(1, 32 / pipe.lanes);
  const std::int64_t dependent = (pipe.latency.count() + distance - 1) / distance;
  const std::int64_t interval = std::max({each * sharing, dependent, each});
  return static_cast<double>((kCount - 1) * interval + 1);
}

class Throughput : public testing::TestWithParam<std::int64_t> {};

TEST_P(Throughput, OfOneWarp) {
  const gpu::GpuSpec g = instant();
  EXPECT_NEAR(block_cycles(g, {fma(kCount, GetParam())}, 1),
              closed_form(g.pipes.fp32, GetParam(), 1), 2);
}

TEST_P(Throughput, OfOneWarpPerScheduler) {
  const gpu::GpuSpec g = instant();
  EXPECT_NEAR(block_cycles(g, {fma(kCount, GetParam())}, 4),
              closed_form(g.pipes.fp32, GetParam(), 1), 2);
}

// Two warps share a pipe: each fills the other's waits.
TEST_P(Throughput, OfTwoWarpsPerScheduler) {
  const gpu::GpuSpec g = instant();
  const double wanted = closed_form(g.pipes.fp32, GetParam(), 2);
  EXPECT_NEAR(block_cycles(g, {fma(kCount, GetParam())}, 8) / wanted, 1, 0.03);
}

TEST_P(Throughput, OfTheIntegerPipe) {
  const gpu::GpuSpec g = instant();
  EXPECT_NEAR(block_cycles(g, {arithmetic(kernel::Pipe::Int32, kCount, GetParam())}, 1),
              closed_form(g.pipes.int32, GetParam(), 1), 2);
}

TEST_P(Throughput, OfTheSpecialFunctions) {
  const gpu::GpuSpec g = instant();
  EXPECT_NEAR(block_cycles(g, {arithmetic(kernel::Pipe::Sfu, kCount, GetParam())}, 4),
              closed_form(g.pipes.sfu, GetParam(), 1), 2);
}

INSTANTIATE_TEST_SUITE_P(Distance, Throughput, testing::Values(1, 2, 3, 4, 6, 8));

// Two pipes work side by side: 4000 cycles of dependent FMAs leave room for 2000 of integer work.
TEST(Pipes, WorkSideBySide) {
  const gpu::GpuSpec g = instant();
  kernel::Kernel k = kernel_of({}, 1, 8 * 32);
  k.roles = {{.name = "float", .warps = 4, .registers = {}, .program = {fma(kCount, 1)}},
             {.name = "integer",
              .warps = 4,
              .registers = {},
              .program = {arithmetic(kernel::Pipe::Int32, kCount, 4)}}};
  const double took = cycles(run_alone(g, k).time(), g);
  EXPECT_NEAR(took, 4 * kCount, 0.02 * kCount);
}

// A result that another pipe made comes later by the crossing between them.
TEST(Pipes, CrossingBetweenThem) {
  gpu::GpuSpec g = instant();
  const Program pair{repeat(100, {fma(1), arithmetic(kernel::Pipe::Int32, 1, 1)})};
  EXPECT_NEAR(block_cycles(g, pair, 1), 100 * (4 + 4), 8);
  g.pipes.crossing = unit::Cycles{1};
  EXPECT_NEAR(block_cycles(g, pair, 1), 100 * (5 + 5), 10);
  EXPECT_NEAR(block_cycles(g, {repeat(100, {fma(2)})}, 1), 100 * (4 + 4), 8);
}

// HPMLL, cycles of a chain: viaddmax_s32 10 on both, vimax3_s32 8 on both, viaddmax_s16x2 4 on an
// H800 and 19 on an A100.
TEST(Pipes, DpxFunctionsAreAFewInstructions) {
  gpu::GpuSpec g = instant();
  g.pipes.crossing = unit::Cycles{1};
  const auto chain = [&](std::string_view function, std::string_view architecture) {
    Program body;
    const auto steps = isa::dpx_steps(function, architecture);
    for (const isa::DpxStep& step : steps.value()) {
      body.push_back(arithmetic(step.pipe, step.count, step.distance));
    }
    return block_cycles(g, {repeat(100, body)}, 1) / 100;
  };
  for (const std::string_view architecture : {"sm_80", "sm_90"}) {
    EXPECT_NEAR(chain("viaddmax_s32", architecture), 10, 0.2);
    EXPECT_NEAR(chain("vimin3_u32", architecture), 8, 0.2);
    EXPECT_NEAR(chain("vimax_s32", architecture), 4, 0.2);
  }
  EXPECT_NEAR(chain("viaddmax_s16x2", "sm_90"), 4, 0.2);
  EXPECT_NEAR(chain("viaddmax_s16x2", "sm_80"), 20, 0.2);
  EXPECT_FALSE(isa::dpx_steps("vibmax_s32_relu", "sm_90"));
  EXPECT_FALSE(isa::dpx_steps("viadd_s32", "sm_90"));
}

// Reductions over a warp: a quarter of the lanes of a sub-partition per result.
TEST(Pipes, ReductionsOverAWarp) {
  const gpu::GpuSpec g = instant();
  EXPECT_NEAR(block_cycles(g, {arithmetic(kernel::Pipe::Redux, kCount, 8)}, 4), 8 * kCount, 8);
}

// Each of the 2 ways of a branch between lanes issues all its instructions with half the lanes.
TEST(Divergence, HalvesThePipe) {
  const gpu::GpuSpec g = instant();
  const Program body = {fma(kCount, 4)};
  const DrivenLaunch whole = run_alone(g, kernel_of(body, 1, 256));
  const DrivenLaunch split = run_alone(
      g, kernel_of({diverge(kernel::DivergeBy::Lane, {body, body})}, 1, 256));
  const DrivenLaunch by_warp = run_alone(
      g, kernel_of({diverge(kernel::DivergeBy::Warp, {body, body})}, 1, 256));
  EXPECT_NEAR(unit::ratio(split.time(), whole.time()), 2, 0.01);
  EXPECT_EQ(split.counters.flops, whole.counters.flops);
  EXPECT_EQ(by_warp.time(), whole.time());
  // Loss by branch: lanes per instruction.
  EXPECT_NEAR(static_cast<double>(split.counters.thread_instructions) /
                  static_cast<double>(split.counters.warp_instructions),
              16, 0.01);
}

// The warp that computes longest decides when all go on.
TEST(Barrier, WaitsForTheSlowest) {
  const gpu::GpuSpec g = instant();
  kernel::Kernel k = kernel_of({}, 1, 8 * 32);
  k.roles = {{.name = "fast", .warps = 7, .registers = {}, .program = {fma(10, 4), barrier()}},
             {.name = "slow",
              .warps = 1,
              .registers = {},
              .program = {fma(kCount, 1), barrier(), fma(10, 4)}}};
  k.roles[0].program.push_back(fma(kCount, 4));
  const DrivenLaunch l = run_alone(g, k);
  const double slow = static_cast<double>(kCount - 1) * 4 + 4;
  EXPECT_NEAR(cycles(l.time(), g), slow + 2 * kCount, 40);  // two fast ones share a scheduler
  EXPECT_NEAR(static_cast<double>(l.counters.stalls.barrier), 7 * (slow - 20), 7.0 * 30);
}

}  // namespace
}  // namespace wavetail::tests
