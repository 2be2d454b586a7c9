// SPDX-License-Identifier: Apache-2.0
// Attention computes the blocks of keys that it must, and takes as long with turns of several
// products as with turns of single instructions.
#include <gtest/gtest.h>

#include <cmath>
#include <string_view>

#include "bound/work.h"
#include "gpu/catalog.h"
#include "library/template.h"
#include "run/simulate.h"
#include "support/specs.h"

namespace wavetail {
namespace {

double seconds_of(kernel::Kernel k, const gpu::GpuSpec& gpu, std::int64_t quantum = 16) {
  scenario::Scenario s;
  s.gpu = gpu;
  k.name = "forward";
  s.kernels = {std::move(k)};
  s.timeline.items = {{.kernel = 0}, {.kind = host::ItemKind::SyncDevice}};
  s.simulation.issue_quantum = quantum;
  const run::Stop never = [](std::int64_t, result::Outcome&) -> std::optional<std::string> {
    return std::nullopt;
  };
  const run::Happened h = run::simulate(s, never);
  EXPECT_EQ(h.outcome, result::Outcome::Complete) << h.message;
  return unit::seconds(h.kernels.front().time);
}

double seconds(std::int64_t quantum) {
  std::vector<kernel::Kernel> kernels;
  const auto mistakes = library::build(
      *library::find_template("attention"),
      {.numbers = {{"batch", 2}, {"q_heads", 8}, {"kv_heads", 8}, {"seqlen", 384}},
       .words = {{"mode", "prefill"}, {"kernel", "fa2"}}},
      specs::h100(), kernels);
  EXPECT_TRUE(mistakes.empty());
  return seconds_of(std::move(kernels.front()), specs::h100(), quantum);
}

library::Arguments prompt(std::int64_t heads, std::int64_t tokens) {
  return {.numbers = {{"q_heads", heads}, {"kv_heads", heads}, {"seqlen", tokens}},
          .words = {{"mode", "prefill"}}};
}

double tensor_flops(const library::Arguments& arguments, const gpu::GpuSpec& gpu = specs::h100()) {
  std::vector<kernel::Kernel> kernels;
  const auto mistakes = library::build(*library::find_template("attention"), arguments, gpu,
                                       kernels);
  EXPECT_TRUE(mistakes.empty());
  return bound::count_work(kernels.front(), gpu).tensor_flops;
}

// All roles agree on the number of blocks, and the products are those of the blocks computed.
TEST(Attention, MultipliesWholeBlocks) {
  for (const bool causal : {true, false}) {
    for (const char* kernel : {"fa2", "fa3"}) {
      library::Arguments n = prompt(2, 1024);
      n.numbers["causal"] = causal ? 1 : 0;
      n.words["kernel"] = kernel;
      const double cols = std::string_view(kernel) == "fa2" ? 64 : causal ? 128 : 176;
      double blocks = 0;  // of 128 queries, of both heads
      for (double tile = 1; tile <= 8; ++tile) {
        blocks += 2 * std::ceil((causal ? tile * 128 : 1024) / cols);
      }
      EXPECT_NEAR(tensor_flops(n), blocks * 128 * cols * 2 * (128 + 128), 1) << kernel << causal;
    }
  }
}

// Two tiles of 128 queries per block go through the same blocks of 128 keys.
TEST(Attention, MultipliesWholeBlocksInTensorMemory) {
  for (const bool causal : {true, false}) {
    library::Arguments n = prompt(2, 1024);
    n.numbers["causal"] = causal ? 1 : 0;
    const double blocks = 2 * 2 * (causal ? 2 + 4 + 6 + 8 : 4 * 8);
    EXPECT_NEAR(tensor_flops(n, specs::b200()), blocks * 128 * 128 * 2 * (128 + 128), 1) << causal;
  }
}

// Two tiles in turn leave tensor cores little to wait for: FlashAttention-4 reaches 80 % of the
// dense rate.
TEST(Attention, OverlapsProductsAndSoftmaxInTensorMemory) {
  std::vector<kernel::Kernel> kernels;
  library::Arguments n = prompt(1, 256);
  n.numbers["kv_prefix"] = 16128;
  EXPECT_TRUE(
      library::build(*library::find_template("attention"), n, specs::b200(), kernels).empty());
  const double products = 128 * 2.0 * 1024;  // blocks of keys, cycles of both tiles
  const double cycles = seconds_of(std::move(kernels.front()), specs::b200()) *
                        static_cast<double>(specs::b200().sm_clock().count());
  EXPECT_GT(cycles, products);
  EXPECT_LT(cycles, 1.45 * products);
}

TEST(Attention, ComputesEveryBlockIfItMaskElementByElement) {
  library::Arguments n = prompt(8, 2048);
  const double skipping = tensor_flops(n);
  n.numbers["skip_masked"] = 0;
  const double masking = tensor_flops(n);
  EXPECT_DOUBLE_EQ(masking / skipping, 16 * 16 / (16 * 17 / 2.0));
}

TEST(Attention, TakesAsLongWithTurnsOfSingleInstructions) {
  EXPECT_NEAR(seconds(16) / seconds(1), 1, 0.02);
}

}  // namespace
}  // namespace wavetail
