// SPDX-License-Identifier: Apache-2.0
#include "law/whole_gpu.h"

namespace wavetail::tests {
namespace {

TEST(WholeGpu, LawsHoldForRandomKernels) { expect_laws_on_whole_gpu(1, 60); }

}  // namespace
}  // namespace wavetail::tests
