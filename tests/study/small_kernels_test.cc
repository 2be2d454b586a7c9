// SPDX-License-Identifier: Apache-2.0
// Protocols of the small kernels of language models and of FP32 products: which launches a row
// becomes, and what they move.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "study/rows.h"

namespace wavetail::study {
namespace {

Ran between_events(const std::string& params) {
  return ran("a100-sxm-80gb", "norm_or_elementwise", params, "time", "us");
}

// The cleared buffer and its end, an event, the eight kernels of the chain, the second event.
TEST(SmallKernels, AnEagerNormIsEightKernelsBetweenEvents) {
  const Ran r = between_events(
      "op=rms_norm;impl=huggingface;mode=forward;H=1024;"
      "cfg=M: 64 dtype: torch.bfloat16 eps: 1e-06");
  EXPECT_EQ(r.happened.log.launches.size(), 12U);
  EXPECT_EQ(r.happened.kernels[3].counters.useful_load_bytes, 64 * 1024 * 2);
  const double gaps = 9 * unit::seconds(r.plan.scenario.gpu.launch.stream_gap) * 1e6;
  EXPECT_GT(r.figure("us"), gaps);
  EXPECT_LT(r.figure("us"), gaps + 60);
}

TEST(SmallKernels, AFusedNormTakesLessTimeThanItsChain) {
  const auto time = [](const char* impl) {
    return between_events(std::string("op=rms_norm;mode=forward;H=1024;impl=") + impl +
                          ";cfg=M: 64 dtype: torch.bfloat16 eps: 1e-06")
        .figure("us");
  };
  EXPECT_LT(3 * time("liger"), time("huggingface"));
}

// Liger waits for the number of targets on the host, between the third and the fourth kernel.
TEST(SmallKernels, ALossThatCountsItsTargetsWaitsForTheHost) {
  const Ran r = between_events("op=cross_entropy;impl=liger;mode=forward;V=4096;cfg=B: 1 T: 128");
  const auto& launches = r.happened.log.launches;
  ASSERT_EQ(launches.size(), 10U);
  const double gap = unit::seconds(launches[6].started - launches[5].ended) * 1e6;
  EXPECT_GT(gap, 35) << "a compiled kernel's call";
}

TEST(SmallKernels, TheEagerLossGathersAMicrosecondPerRound) {
  const Ran r = between_events(
      "op=cross_entropy;impl=huggingface;mode=forward;V=2048;"
      "cfg=B: 1 T: 640");
  const auto& launches = r.happened.log.launches;
  ASSERT_EQ(launches.size(), 6U);
  const double us = unit::seconds(launches[4].ended - launches[4].started) * 1e6;
  EXPECT_GT(us, 20 * 0.5);
  EXPECT_LT(us, 20 * 1.6);
}

// The kernel's own time comes on top of call, launch, submission and synchronisation.
TEST(SmallKernels, ACallFromTheHostHasAFloor) {
  const auto time = [](const char* kind, const char* params) {
    return ran("a100-sxm-80gb", kind, params, "time", "us").figure("us");
  };
  EXPECT_NEAR(time("eager_softmax", "m=64;n=64"), 13, 2);
  EXPECT_NEAR(time("eager_gelu", "m=4096"), 47.5, 3);
  EXPECT_NEAR(time("eager_layernorm", "m=64;n=64"), 52.5, 3);
}

TEST(SmallKernels, AProductIsReadFromItsGrid) {
  // 12 x 4 tiles of 64 x 32: D is 768 x 128, the 512 lie inside.
  const Ran r = ran(
      "a100-pcie-40gb", "gemm_fp32",
      "b=1;m=768;n=512;k=128;dtype=fp32(no TF32);"
      "kernel=ampere_sgemm_64x32_sliced1x4_tn;tile=64x32;stages=;grid=12x4x1;block=256",
      "time", "us");
  const kernel::Kernel& wave = r.plan.scenario.kernels.all().front();
  EXPECT_EQ(kernel::volume(wave.grid), 48);
  EXPECT_EQ(wave.block, 256);
  EXPECT_EQ(wave.arrays[2].bytes.count(), 768 * 128 * 4);
}

// A call between two events of an idle stream takes the host's way to the launch, too; launches
// that follow each other do not.
TEST(SmallKernels, AnIdleStreamWaitsForTheHost) {
  const auto time = [](const char* words) {
    return ran("h100-sxm", "gemm_fp32", std::string("m=128;n=128;k=64") + words, "time", "us")
        .figure("us");
  };
  EXPECT_NEAR(time("") - time(";kernel=cublas"), 20, 3);
}

// 400 tiles on 264 places: a wave and 136 blocks, none more and none fewer.
TEST(SmallKernels, TheLastWaveHasTheBlocksThatAreLeft) {
  const Plan plan = plan_of(
      row("H100-SXM-80GB", "gemm_fp32",
          "b=1;m=5120;n=1024;k=1280;tile=128x128x8;stages=3;grid=40x10x1;block=128", "time", "us"),
      shipped_gpu("h100-sxm"));
  std::vector<std::int64_t> blocks;
  for (const kernel::Kernel& k : plan.scenario.kernels.all()) {
    if (!k.duration) { blocks.push_back(kernel::volume(k.grid)); }
  }
  EXPECT_THAT(blocks, ::testing::ElementsAre(264, 264, 136, 136));
}

TEST(SmallKernels, TheFirstStepOfALadderHasAThreadPerElement) {
  const auto first = [](const char* kernel, const char* gpu) {
    const Plan plan = plan_of(
        row(gpu, "gemm_fp32", std::string("m=512;n=512;k=512;kernel=") + kernel, "gflops",
            "GFLOP/s"),
        shipped_gpu(gpu));
    return plan.scenario.kernels.all().front().block;
  };
  EXPECT_EQ(first("1 naive", "a6000"), 32 * 32);
  EXPECT_EQ(first("naive", "h100-sxm"), 16 * 16);
}

// v * a - b reads three registers where the register file gives two per cycle; no part of it is
// left on an A100, whose pipes take two cycles.
TEST(SmallKernels, ARooflineEndsAtTheRegisterFile) {
  const auto share = [](const char* gpu, int sms, double peak) {
    return ran(gpu, "roofline",
               "dtype=fp32;grid=" + std::to_string(8 * sms) +
                   ";block=256;elems_per_thread=4000;arrays=2;ilp=2;launches=1000;inner_iters=128",
               "gflops", "GFLOP/s")
               .figure("GFLOP/s") /
           peak;
  };
  EXPECT_NEAR(share("h200-sxm", 132, 132 * 256 * 1.98), 0.6, 0.05);
  EXPECT_GT(share("a100-sxm-80gb", 108, 108 * 128 * 1.41), 0.85);
}

TEST(SmallKernels, QuantisingAgainFindsItsDataInL2) {
  const auto time = [](const char* kind, int m) {
    return ran("h100-sxm", kind, "m=" + std::to_string(m) + ";k=4096", "time", "us").figure("us");
  };
  EXPECT_LT(time("elementwise_quantize", 128), 4);
  EXPECT_GT(time("elementwise_amax_scale", 128), 2 * time("elementwise_quantize", 1));
}

}  // namespace
}  // namespace wavetail::study
