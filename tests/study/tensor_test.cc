// SPDX-License-Identifier: Apache-2.0
// Protocols of tensor instructions, pipes and DPX functions: what runs is what the row names, and
// the figures are those of closed forms (tests/analytic has these).
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "rows.h"

namespace wavetail::study {
namespace {

using testing::HasSubstr;

// Why a row is skipped; empty if it is not.
std::string why(const std::string& gpu, const std::string& kind, const std::string& params,
                const std::string& metric, const std::string& unit) {
  try {
    static_cast<void>(plan_of(row(gpu, kind, params, metric, unit), shipped_gpu(gpu)));
  } catch (const Unmapped& e) { return e.what(); }
  return {};
}

// SemiAnalysis: 48 cycles for m128n64k16, 64 for m128n128k16 and per SM of a pair m256n128k16.
TEST(TensorProtocol, UmmaIntervals) {
  const auto interval = [](const char* shape) {
    return ran("b200", "umma_initiation_interval", std::string("operands=SS;") + shape, "interval",
               "cycles/MMA")
        .figure("cycles/MMA");
  };
  EXPECT_NEAR(interval("fmt=BF16;cta_group=1;M=128;N=64;K=16"), 48, 0.1);
  EXPECT_NEAR(interval("fmt=E4M3;cta_group=1;M=128;N=128;K=32"), 64, 0.1);
  EXPECT_NEAR(interval("fmt=F4;cta_group=2;M=256;N=128;K=64"), 64, 0.1);
}

TEST(TensorProtocol, UmmaThroughputHasTheRoundsEndInIt) {
  const Ran r = ran("b200", "umma_throughput",
                    "fmt=BF16;operands=SS;cta_group=1;M=128;N=256;K=16;depth=256",
                    "flops_per_cycle", "FLOP/clk per CTA group");
  const double flops = 2.0 * 128 * 256 * 16 * 256;
  EXPECT_NEAR(flops / r.figure("FLOP/clk per CTA group"), 256 * 128 + 136, 10);
  EXPECT_NEAR(r.counters().tensor_flops, 16 * flops, 1);
}

// On an H800 a dense m16n8k16 and a sparse m16n8k32 are limited by their operands: six and eight
// cycles.
TEST(TensorProtocol, MmaSyncRates) {
  gpu::GpuSpec gpu = shipped_gpu("h800-pcie");
  gpu.gpcs = {2};
  const auto rate = [&](const char* instr, const char* type) {
    constexpr const char* kUnit = "TFLOP/s or TOP/s";
    const std::string params = fmt::format("instr={};type={}", instr, type);
    return ran(row("h800-pcie", "mma_sync", params, "throughput", kUnit), gpu).figure(kUnit);
  };
  const double dense = rate("mma.sync m16n8k16", "fp16->fp16 dense");
  EXPECT_NEAR(dense, 2 * 4 * 4096 / 6.0 * 1755e6 / 1e12, 0.05);
  EXPECT_NEAR(rate("mma.sp m16n8k32", "fp16 sparse") / dense, 1.5, 0.01);
  EXPECT_NEAR(rate("mma.sync m16n8k32", "int8 dense") / dense, 2, 0.01);
}

TEST(TensorProtocol, WhatIsNoInstructionIsSkipped) {
  EXPECT_THAT(
      why("h100-sxm", "wgmma", "instr=m64n260k16;type=fp16;operands=SS", "throughput", "TFLOP/s"),
      HasSubstr("wgmma of this type is m64nNk16"));
  EXPECT_THAT(why("h100-sxm", "umma_latency", "fmt=BF16;operands=SS;cta_group=1;M=128;N=128;K=16",
                  "latency", "cycles"),
              HasSubstr("tcgen05.mma does not exist on sm_90"));
  EXPECT_THAT(why("b200", "umma_latency", "fmt=BF16;operands=SS;cta_group=1;M=256;N=128;K=16",
                  "latency", "cycles"),
              HasSubstr("64 or 128 rows"));
  EXPECT_THAT(why("a100-sxm-80gb", "dpx_latency", "instr=viaddmax_s64", "latency", "cycles"),
              HasSubstr("no such DPX function"));
}

// One warp shuffle is a wavefront of the load/store unit; a reduction takes eight cycles of its
// pipe, of which an SM has four.
TEST(PipeProtocol, ExchangesBetweenLanes) {
  const auto rate = [](const char* test) {
    return ran("h100-sxm", "sm_pipe_throughput",
               std::string("block=256;blocks_per_sm=1;case=") + test, "throughput",
               "warp-inst/clk/SM")
        .figure("warp-inst/clk/SM");
  };
  EXPECT_NEAR(rate("SHFL.BFLY.B32"), 1, 0.02);
  EXPECT_NEAR(rate("REDUX.SUM.S32"), 0.5, 0.01);
}

}  // namespace
}  // namespace wavetail::study
