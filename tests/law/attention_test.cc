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

double seconds(std::int64_t quantum) {
  std::vector<kernel::Kernel> kernels;
  const auto mistakes = library::build(
      *library::find_template("attention"),
      {.numbers = {{"batch", 2}, {"q_heads", 8}, {"kv_heads", 8}, {"seqlen", 384}},
       .words = {{"mode", "prefill"}, {"kernel", "fa2"}}},
      specs::h100(), kernels);
  EXPECT_TRUE(mistakes.empty());
  scenario::Scenario s;
  s.gpu = specs::h100();
  kernels.front().name = "forward";
  s.kernels = std::move(kernels);
  s.timeline.items = {{.kernel = 0}, {.kind = host::ItemKind::SyncDevice}};
  s.simulation.issue_quantum = quantum;
  const run::Stop never = [](std::int64_t, result::Outcome&) -> std::optional<std::string> {
    return std::nullopt;
  };
  const run::Happened h = run::simulate(s, never);
  return unit::seconds(h.kernels.front().time);
}

library::Arguments prompt(std::int64_t heads, std::int64_t tokens) {
  return {.numbers = {{"q_heads", heads}, {"kv_heads", heads}, {"seqlen", tokens}},
          .words = {{"mode", "prefill"}}};
}

double tensor_flops(const library::Arguments& arguments) {
  std::vector<kernel::Kernel> kernels;
  const auto mistakes = library::build(*library::find_template("attention"), arguments,
                                       specs::h100(), kernels);
  EXPECT_TRUE(mistakes.empty());
  return bound::count_work(kernels.front(), specs::h100()).tensor_flops;
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
