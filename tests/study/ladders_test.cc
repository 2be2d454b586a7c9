// SPDX-License-Identifier: Apache-2.0
// Rows of hand-written and profiled matrix products become the launches that their rows and sources
// state.
#include <gmock/gmock.h>

#include "study/rows.h"

namespace wavetail::study {
namespace {

using ::testing::HasSubstr;

constexpr const char* kH100 = "H100-SXM-80GB";

const kernel::Kernel& kernel_in(const Plan& plan) { return plan.scenario.kernels.all().front(); }

std::string refusal(const Measurement& r) {
  try {
    (void)plan_of(r, shipped_gpu("h100-sxm"));
  } catch (const Unmapped& why) { return why.what(); }
  return "";
}

TEST(Ladders, AStepOfTheWorklogIsLaunchedAsItsSourceSays) {
  const auto gpu = shipped_gpu("h100-sxm");
  const std::string shape = "m=4096;n=4096;k=4096;";
  const auto step = [&](const std::string& words) {
    return plan_of(row(kH100, "gemm_bf16", shape + words, "throughput", "TFLOP/s"), gpu);
  };
  const Plan first = step("kernel=k2 wgmma+TMA;tile=64x64x64;threads=128;stages=1");
  EXPECT_EQ(kernel_in(first).grid, (kernel::Dim3{64, 64, 1}));
  EXPECT_EQ(kernel_in(first).block, 128);
  const Plan persistent = step(
      "kernel=k6b;threads=384;stages=3;grid=128;schedule=16x8 tile groups");
  EXPECT_EQ(kernel::volume(kernel_in(persistent).grid), 128);
  EXPECT_EQ(kernel_in(persistent).shares->tiles, (kernel::Dim3{16, 32, 1}));
  EXPECT_EQ(kernel_in(persistent).band, 8);
  const Plan pair = step("kernel=k9 micro-opts;tile=128x256x64;threads=384;cluster=2");
  EXPECT_EQ(kernel_in(pair).cluster, (kernel::Dim3{1, 2, 1}));
  EXPECT_EQ(kernel_in(pair).registers, 168);
  EXPECT_THAT(refusal(row(kH100, "gemm_bf16", shape + "kernel=k5a one", "time", "us")),
              HasSubstr("local memory"));
  EXPECT_THAT(refusal(row(kH100, "gemm_bf16", shape + "kernel=own", "time", "us")),
              HasSubstr("how it is made is not known"));
}

TEST(Ladders, SplitsOfAnExampleAreSummedInPlace) {
  const Plan plan = plan_of(
      row(kH100, "gemm_fp16_mma_sync", "m=1024;n=1024;k=1024;kernel=CUTLASS example 47 splitk2",
          "time", "ms"),
      shipped_gpu("h100-sxm"));
  EXPECT_EQ(plan.scenario.kernels.size(), 1U);
  EXPECT_EQ(kernel_in(plan).grid[2], 2);
}

TEST(Ladders, TheFirstStepMultipliesOnTheFp32Pipe) {
  const Plan plan = plan_of(
      row(kH100, "gemm_bf16", "m=512;n=512;k=512;kernel=k1 warptile", "throughput", "TFLOP/s"),
      shipped_gpu("h100-sxm"));
  EXPECT_EQ(kernel_in(plan).block, 128);
  EXPECT_EQ(plan.quantity, Quantity::OpRate);
}

TEST(Ladders, AProfiledKernelHasItsLimits) {
  const std::string wmma =
      "kernel=gemm_wmma_t<128,128,3>;m=8192;n=8192;k=8192;dtype=fp16;tile=128x128;stages=3;"
      "block=512;grid=4096;regs=64;dyn_smem_KB=49.15;cluster=0";
  const std::string nvjet =
      "kernel=nvjet_sm90_hss_320x128_64x3_1x2;m=8192;n=8192;k=8192;dtype=fp16;tile=320x128x64;"
      "stages=3;block=384;grid=132;regs=168;dyn_smem_KB=188.64;cluster=2";
  const auto gpu = shipped_gpu("h100-sxm");
  const auto rule = [&](const std::string& kernel, const char* metric, const char* unit) {
    const Plan plan = plan_of(row(kH100, "ncu_profile", kernel, metric, unit), gpu);
    return plan.figure(run::Happened{});
  };
  EXPECT_EQ(rule(wmma, "theoretical_occupancy", "%"), 50);
  EXPECT_EQ(rule(wmma, "block_limit_warps", "blocks"), 4);
  EXPECT_NEAR(rule(wmma, "waves_per_sm", "waves"), 15.52, 0.005);
  EXPECT_EQ(rule(nvjet, "block_limit_registers", "blocks"), 1);
  EXPECT_EQ(rule(nvjet, "block_limit_smem", "blocks"), 1);
  EXPECT_EQ(rule(nvjet, "waves_per_sm", "waves"), 1);
  const Plan run = plan_of(row(kH100, "ncu_profile", nvjet, "elapsed_cycles", "cycles"), gpu);
  EXPECT_EQ(kernel_in(run).block, 384);
  EXPECT_EQ(kernel::volume(kernel_in(run).grid), 132);
}

// What a profiler reads of a small one: nothing was in L2, the producer's idle warps have left.
TEST(Ladders, CountersComeOutOfTheRun) {
  const std::string text =
      "kernel=CUTLASS3 small;m=1024;n=1024;k=512;dtype=fp16;tile=128x256x64;stages=4;block=384;"
      "grid=32;regs=168;cluster=2";
  const auto value = [&](const char* metric, const char* unit) {
    return ran("h100-sxm", "ncu_profile", text, metric, unit).figure(unit);
  };
  EXPECT_GT(value("dram_throughput", "%"), 1);
  EXPECT_LT(value("achieved_occupancy", "%"), 18.75);
  EXPECT_GT(value("executed_ipc_active", "inst/cycle"), 0.1);
}

}  // namespace
}  // namespace wavetail::study
