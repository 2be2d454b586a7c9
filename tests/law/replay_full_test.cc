// SPDX-License-Identifier: Apache-2.0
#include "law/replay.h"

#include "law/shipped.h"

namespace wavetail::tests {
namespace {

TEST(Replay, AgreesOnTheWholeDecodeStep) {
  const auto runs = runs_of("decode-step-llama-3.1-8b");
  ASSERT_FALSE(runs.empty());
  const ReplayPair pair(runs.front().scenario);
  pair.expect_agreement(0.5);
  EXPECT_GT(pair.replayed(), 200);
}

}  // namespace
}  // namespace wavetail::tests
