// SPDX-License-Identifier: Apache-2.0
// Products of narrow operands with scales, products in groups, and mixtures of experts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "library/gemm.h"
#include "occupancy/occupancy.h"
#include "support/specs.h"

namespace wavetail::library {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<kernel::Kernel> made(const char* name, const Arguments& arguments,
                                 const gpu::GpuSpec& gpu) {
  std::vector<kernel::Kernel> kernels;
  const auto mistakes = build(*find_template(name), arguments, gpu, kernels);
  EXPECT_THAT(mistakes, IsEmpty()) << mistakes.front().parameter << ' ' << mistakes.front().message;
  return kernels;
}

std::string mistake(const char* name, const Arguments& arguments, const gpu::GpuSpec& gpu) {
  std::vector<kernel::Kernel> kernels;
  const auto mistakes = build(*find_template(name), arguments, gpu, kernels);
  return mistakes.empty() ? "" : mistakes.front().parameter + " " + mistakes.front().message;
}

void visit(const kernel::Program& program, const std::function<void(const kernel::Op&)>& see) {
  for (const kernel::Op& op : program) {
    see(op);
    for (const kernel::Program& body : op.bodies) { visit(body, see); }
  }
}

void visit(const kernel::Kernel& k, const std::function<void(const kernel::Op&)>& see) {
  for (const kernel::Role& role : k.roles) { visit(role.program, see); }
}

const Arguments kBlocks{.numbers = {{"m", 512}, {"n", 1024}, {"k", 2048}},
                        .words = {{"dtype", "fp8"}, {"scale", "block"}},
                        .lists = {{"tile", {128, 128, 128}}}};

// An FFMA per sum and 128 of K, of 128 x 128 sums on 256 threads.
TEST(Narrow, BlockScaledSumsArePromotedOnTheCudaCores) {
  const kernel::Kernel k = made("gemm", kBlocks, specs::h100()).front();
  std::int64_t ffma = 0;
  visit(k, [&](const kernel::Op& op) {
    if (op.kind == kernel::OpKind::Arithmetic && op.flops_per_lane == 2) { ffma += op.count; }
    if (op.kind == kernel::OpKind::WgmmaWait) { EXPECT_EQ(op.count, 0); }
  });
  EXPECT_EQ(ffma, 64);
  ASSERT_EQ(k.arrays.size(), 6U);
  EXPECT_EQ(k.arrays[4].bytes.count(), 512 * 4 * (2048 / 128));
  EXPECT_EQ(k.arrays[5].bytes.count(), 1024 / 128 * (2048 / 128) * 4);
  EXPECT_GE(k.compulsory_read->count(), (512 + 1024) * 2048 + 512 * 4 * 16);
  Arguments wide = kBlocks;
  wide.lists["tile"] = {128, 256, 128};
  EXPECT_THAT(mistake("gemm", wide, specs::h100()), HasSubstr("256 sums"));
}

TEST(Narrow, RefusesScalesThatATypeHasNot) {
  Arguments a = kBlocks;
  a.words["dtype"] = "bf16";
  EXPECT_THAT(mistake("gemm", a, specs::h100()), HasSubstr("scale is block; bf16 has none"));
  a.words = {{"dtype", "fp8"}, {"scale", "nv"}};
  EXPECT_THAT(mistake("gemm", a, specs::h100()), HasSubstr("scale"));
  a.words = {{"dtype", "fp4"}};
  EXPECT_THAT(mistake("gemm", a, specs::h100()), HasSubstr("dtype is fp4"));
}

// Two elements to a byte; a scale of a byte to sixteen of them, by way of tensor memory.
TEST(Narrow, NvFp4BringsItsScalesAlong) {
  gpu::GpuSpec b200 = specs::b200();
  b200.tensor.fp4 = 32768;
  const kernel::Kernel k = made("gemm",
                                {.numbers = {{"m", 1024}, {"n", 2048}, {"k", 4096}},
                                 .words = {{"dtype", "fp4"}, {"b_layout", "nk"}}},
                                b200)
                               .front();
  EXPECT_EQ(k.arrays[0].bytes.count(), 1024 * 4096 / 2);
  EXPECT_EQ(k.flops, 2.0 * 1024 * 2048 * 4096);
  EXPECT_EQ(k.arrays[k.arrays.size() - 2].bytes.count(), 1024 * 4096 / 16);
  EXPECT_EQ(k.arrays.back().bytes.count(), 2048 * 4096 / 16);
  EXPECT_LE(k.tmem_columns, 512);
  std::int64_t copied = 0, deep = 0;
  visit(k, [&](const kernel::Op& op) {
    if (op.kind == kernel::OpKind::Tcgen05Copy) { copied += op.bytes; }
    if (op.kind == kernel::OpKind::Tcgen05Mma) { deep = op.tensor.k; }
  });
  EXPECT_GT(copied, 0);
  EXPECT_EQ(copied % (128 * 16), 0);
  EXPECT_EQ(deep, 64);
}

TEST(Narrow, QuantizesByGroups) {
  const auto gpu = specs::h100();
  const Arguments a{.numbers = {{"rows", 64}, {"cols", 4096}}, .words = {{"scale", "block"}}};
  const kernel::Kernel k = made("quantize", a, gpu).front();
  EXPECT_EQ(k.compulsory_write->count(), 64 * 4096 + 64 * 4096 / 128 * 4);
  Arguments fp4 = a;
  fp4.words = {{"scale", "nv"}, {"out", "fp4"}};
  EXPECT_EQ(made("quantize", fp4, gpu).front().compulsory_write->count(),
            64 * 4096 / 2 + 64 * 4096 / 16);
  fp4.words = {{"out", "fp4"}};
  EXPECT_THAT(mistake("quantize", fp4, gpu), HasSubstr("out is fp4"));
  Arguments odd = a;
  odd.numbers["cols"] = 4000;
  EXPECT_THAT(mistake("quantize", odd, gpu), HasSubstr("128"));
}

// Boxes of every place lie in the rows and weights of its group.
TEST(Grouped, EveryTileTakesItsGroupsWeights) {
  const std::vector<std::int64_t> rows{200, 0, 130, 1};
  const std::int64_t n = 512, k = 256;
  for (const std::int64_t transposes : {0, 1}) {
    const kernel::Kernel made_kernel = made("grouped_gemm",
                                            {.numbers = {{"n", n},
                                                         {"k", k},
                                                         {"transposes", transposes}},
                                             .lists = {{"rows", rows}}},
                                            specs::h100())
                                           .front();
    const bool swapped = made_kernel.arrays[0].bytes.count() == 4 * n * k * 2;
    const int x = swapped ? 1 : 0, weights = swapped ? 0 : 1;
    const kernel::Dim3 tiles = made_kernel.shares ? made_kernel.shares->tiles : made_kernel.grid;
    std::vector<std::int64_t> of_x, of_weights;
    visit(made_kernel, [&](const kernel::Op& op) {
      if (op.kind != kernel::OpKind::TmaLoad) { return; }
      for (const kernel::Box& b : op.boxes) {
        if (b.array == x) { of_x = b.strides.at_z; }
        if (b.array == weights) { of_weights = b.strides.at_z; }
      }
    });
    ASSERT_EQ(static_cast<std::int64_t>(of_x.size()), tiles[2]);
    ASSERT_EQ(of_x.size(), of_weights.size());
    for (std::size_t z = 0; z < of_x.size(); ++z) {
      const std::int64_t row = of_x[z] / (k * 2);
      const std::int64_t group = row < 200 ? 0 : row < 330 ? 2 : 3;
      EXPECT_EQ(of_weights[z] / (n * k * 2), group) << z;
    }
    EXPECT_EQ(made_kernel.flops, 2.0 * 331 * n * k);
    EXPECT_EQ(made_kernel.compulsory_read->count(), (331 + 3 * n) * k * 2);
  }
}

TEST(Grouped, MaskedGroupsHaveRoom) {
  const Arguments a{.numbers = {{"n", 256}, {"k", 256}, {"room", 1024}, {"transposes", 0}},
                    .lists = {{"rows", {20, 20}}}};
  const kernel::Kernel k = made("grouped_gemm", a, specs::h100()).front();
  EXPECT_EQ(k.arrays[0].bytes.count(), 2 * 1024 * 256 * 2);
  Arguments full = a;
  full.lists["rows"] = {2000, 1};
  EXPECT_THAT(mistake("grouped_gemm", full, specs::h100()), HasSubstr("room is 1024"));
}

TEST(Grouped, RunsWhereverThereAreTensorCores) {
  for (const gpu::GpuSpec& gpu : {specs::h100(), specs::b200(), specs::sm86()}) {
    const kernel::Kernel k = made("grouped_gemm",
                                  {.numbers = {{"n", 512}, {"k", 512}},
                                   .lists = {{"rows", {300, 7, 0, 64}}}},
                                  gpu)
                                 .front();
    EXPECT_TRUE(occupancy::occupy(gpu, occupancy::launch_of(k)).launchable) << k.note;
  }
}

// Wavefronts of 64 lanes multiply every element once, out of steps that all have been put.
TEST(Mfma, MultipliesWhatWasCopied) {
  gpu::GpuSpec cdna = specs::h100();
  cdna.architecture = "gfx942";
  cdna.sm.warp_size = 64;
  cdna.sm.max_warps = 32;
  const kernel::Kernel k = made("gemm",
                                {.numbers = {{"m", 1024}, {"n", 1024}, {"k", 512}},
                                 .words = {{"b_layout", "nk"}}},
                                cdna)
                               .front();
  EXPECT_THAT(k.note, HasSubstr("v_mfma"));
  double flops = 0, put = 0, copied = 0;
  const std::function<void(const kernel::Program&, double)> count = [&](const kernel::Program& p,
                                                                        double times) {
    for (const kernel::Op& op : p) {
      const auto n = times * static_cast<double>(op.count);
      if (op.kind == kernel::OpKind::Mfma) { flops += n * op.tensor.flops(); }
      if (op.kind == kernel::OpKind::SharedStore) { put += n * 64 * 16; }
      if (op.kind == kernel::OpKind::Load) { copied += n * 64 * 16; }
      for (const kernel::Program& body : op.bodies) { count(body, n); }
    }
  };
  const auto warps = static_cast<double>(kernel::volume(k.grid) * k.block / 64);
  count(k.roles.front().program, warps);
  EXPECT_EQ(flops, k.flops);
  EXPECT_EQ(put, copied);
  EXPECT_THAT(
      mistake("gemm", {.numbers = {{"m", 64}, {"n", 64}, {"k", 64}}, .lists = {{"tile", {64, 64}}}},
              cdna),
      HasSubstr("tile is stated"));
}

TEST(Moe, LaunchesWhatFrameworksDo) {
  const Arguments a{
      .numbers = {{"tokens", 16}, {"hidden", 512}, {"inter", 256}, {"topk", 2}, {"experts", 8}},
      .words = {{"dtype", "fp8"}, {"scale", "block"}},
      .lists = {{"rows", {3, 0, 9, 4}}}};
  const auto kernels = made("moe", a, specs::h100());
  std::vector<std::string> names;
  double flops = 0;
  for (const kernel::Kernel& k : kernels) {
    names.push_back(k.name);
    if (k.name == "up" || k.name == "down") { flops += k.flops; }
  }
  EXPECT_THAT(names, ElementsAre("align", "sort", "quantize", "permute", "up", "activate",
                                 "quantize2", "down", "combine"));
  EXPECT_EQ(flops, 6.0 * 16 * 512 * 256);
  Arguments plain = a;
  plain.words = {};
  plain.numbers["router"] = 1;
  EXPECT_EQ(made("moe", plain, specs::h100()).front().name, "topk");
}

}  // namespace
}  // namespace wavetail::library
