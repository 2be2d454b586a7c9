// SPDX-License-Identifier: Apache-2.0
#include "law/whole_gpu.h"

namespace wavetail::tests {
namespace {

constexpr std::uint64_t kSeeds = 200;  // per case, so that cases run side by side

class WholeGpu : public testing::TestWithParam<std::uint64_t> {};

TEST_P(WholeGpu, LawsHoldForRandomKernels) {
  const std::uint64_t first = 61 + kSeeds * GetParam();
  expect_laws_on_whole_gpu(first, first + kSeeds - 1);
}

INSTANTIATE_TEST_SUITE_P(Seeds, WholeGpu, testing::Range<std::uint64_t>(0, 7));

}  // namespace
}  // namespace wavetail::tests
