// SPDX-License-Identifier: Apache-2.0
#include "law/replay.h"

#include <vector>

#include "law/shipped.h"

namespace wavetail::tests {
namespace {

// Three of the 32 layers.
TEST(Replay, AgreesOnAFewLayersOfADecodeStep) {
  scenario::Scenario s = runs_of("decode-step-llama-3.1-8b").front().scenario;
  for (host::Item& item : s.timeline.items) {
    if (item.kind == host::ItemKind::Repeat) { item.repeat = 3; }
  }
  std::erase_if(s.timeline.items, [&](const host::Item& i) {
    return i.kind == host::ItemKind::Launch &&
           s.kernels[static_cast<std::size_t>(i.kernel)].name == "lm_head";
  });
  const ReplayPair pair(s);
  pair.expect_agreement(0.5);
  EXPECT_GT(pair.replayed(), 9);
}

TEST(Replay, AgreesOnTheWholeDecodeStep) {
  const auto runs = runs_of("decode-step-llama-3.1-8b");
  ASSERT_FALSE(runs.empty());
  const ReplayPair pair(runs.front().scenario);
  pair.expect_agreement(0.5);
  EXPECT_GT(pair.replayed(), 200);
}

}  // namespace
}  // namespace wavetail::tests
