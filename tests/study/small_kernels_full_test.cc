// SPDX-License-Identifier: Apache-2.0
// Protocols of the small kernels of language models and of FP32 products: which launches a row
// becomes, and what they move.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "study/rows.h"

namespace wavetail::study {
namespace {

// Four waves and a rest: the rest is a launch of its own, the others count four times.
TEST(SmallKernels, WavesOfAProductFollowEachOther) {
  const auto time = [](int m) {
    return ran("a100-pcie-40gb", "gemm_fp32",
               "m=" + std::to_string(m) + ";n=512;k=256;kernel=x_tn;tile=128x64x8;block=128",
               "time", "us")
        .figure("us");
  };
  const double two = time(108 * 128 * 2), four = time(108 * 128 * 4);
  EXPECT_NEAR(four / two, 2, 0.1);
}

TEST(SmallKernels, TheLadderGetsFasterStepByStep) {
  const auto rate = [](const char* kernel) {
    return ran("a6000", "gemm_fp32",
               std::string("m=1024;n=1024;k=1024;dtype=fp32;kernel=") + kernel, "gflops", "GFLOP/s")
        .figure("GFLOP/s");
  };
  const double naive = rate("1 naive"), shared = rate("3 smem caching"),
               tiled = rate("6 vectorised");
  EXPECT_LT(2 * naive, shared);
  EXPECT_LT(1.5 * shared, tiled);
}

TEST(SmallKernels, ATensorBeyond32BitsIsHalved) {
  const Ran r = ran("a100-pcie-40gb", "elementwise_fp32",
                    "op=mulu;rows=524288;cols=2048;dtype=fp32;grid=1048576x1x1;block=128x1x1",
                    "time", "us");
  EXPECT_NEAR(r.figure("us"), 6200, 400);
}

}  // namespace
}  // namespace wavetail::study
