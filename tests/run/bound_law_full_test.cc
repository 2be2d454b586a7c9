// SPDX-License-Identifier: Apache-2.0
#include "laws.h"

namespace wavetail::run {
namespace {

constexpr std::uint64_t kSeeds = 200;  // per case, so that cases run side by side

class BoundLaw : public testing::TestWithParam<std::uint64_t> {};

TEST_P(BoundLaw, HoldsForRandomKernels) {
  const auto first = 61 + kSeeds * GetParam();
  EXPECT_GE(check_laws(first, first + kSeeds - 1), 150);
}

INSTANTIATE_TEST_SUITE_P(Seeds, BoundLaw, testing::Range<std::uint64_t>(0, 7));

}  // namespace
}  // namespace wavetail::run
