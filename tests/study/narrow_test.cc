// SPDX-License-Identifier: Apache-2.0
// Rows of products with narrow operands, in groups, and of mixtures of experts.
#include <gtest/gtest.h>

#include "rows.h"

namespace wavetail::study {
namespace {

// Each operation is a kernel that makes the activations narrow and a product.
TEST(NarrowRows, ALayerQuantisesItsActivations) {
  for (const char* kind : {"library_gemm_fp8", "library_gemm_fp8_blockscale"}) {
    const Ran r = ran("h100-sxm", kind, "m=16;n=512;k=512", "time", "us");
    ASSERT_EQ(r.happened.kernels.size(), 2U) << kind;
    const std::int64_t x = 16 * 512 * 2;
    EXPECT_EQ(r.happened.kernels[0].launches, r.happened.kernels[1].launches);
    EXPECT_GE(r.counters(0).l2_read_sectors * 32, x * r.happened.kernels[0].launches);
    const double flops = 2.0 * 16 * 512 * 512;
    EXPECT_GE(r.counters(1).flops, flops * static_cast<double>(r.happened.kernels[1].launches));
  }
}

TEST(NarrowRows, BlocksBelowOneAreNotGuessed) {
  const Measurement m = row("h100-sxm", "library_gemm_fp8_blockscale", "m=16;n=64;k=512", "time",
                            "us");
  EXPECT_THROW((void)plan_of(m, shipped_gpu("h100-sxm")), Unmapped);
}

TEST(NarrowRows, GroupsReadTheirWeightsOnce) {
  const Ran r = ran("h100-sxm", "gemm_fp8_grouped_masked",
                    "groups=4;m_per_group_expected=20;n=512;k=1024", "time", "us");
  const std::int64_t weights = 4 * 512 * 1024;
  EXPECT_GE(r.counters().dram_read_bytes, weights);
  EXPECT_LE(r.counters().dram_read_bytes, 2 * weights);
}

// Balanced: 64 choices on 16 experts, of which a rank of four has a quarter.
TEST(NarrowRows, ARankHasItsShareOfTheExperts) {
  const Ran r = ran("h100-sxm", "library_moe",
                    "dtype=bfloat16;tokens=16;hidden=256;inter=128;topk=4;experts=16;moe_tp=1;"
                    "moe_ep=4;distribution=balanced",
                    "time", "us");
  double flops = 0;
  for (const kernel::Kernel& k : r.plan.scenario.kernels.all()) {
    if (k.template_name == "grouped_gemm" || k.note.find("groups with rows") != std::string::npos) {
      flops += k.flops;
    }
  }
  EXPECT_EQ(flops, 6.0 * 16 * 256 * 128);
  EXPECT_GT(r.figure("us"), 7 * unit::microseconds(r.plan.scenario.gpu.launch.graph_gap));
}

TEST(NarrowRows, APowerLawFillsOneRankMore) {
  const std::string shape =
      "dtype=bfloat16;tokens=64;hidden=256;inter=128;topk=4;experts=16;"
      "moe_tp=1;moe_ep=4;distribution=";
  const auto flops = [&](const std::string& distribution) {
    const auto plan = plan_of(row("h100-sxm", "library_moe", shape + distribution, "time", "us"),
                              shipped_gpu("h100-sxm"));
    double all = 0;
    for (const kernel::Kernel& k : plan.scenario.kernels.all()) {
      if (k.note.find("groups with rows") != std::string::npos) { all += k.flops; }
    }
    return all;
  };
  EXPECT_GT(flops("power_law_1.2"), flops("balanced"));
  EXPECT_THROW((void)flops("zipf"), Unmapped);
}

}  // namespace
}  // namespace wavetail::study
