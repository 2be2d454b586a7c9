// SPDX-License-Identifier: Apache-2.0
#include "laws.h"

namespace wavetail::run {
namespace {

TEST(BoundLaw, HoldsForRandomKernels) { EXPECT_GE(check_laws(1, 60), 40); }

}  // namespace
}  // namespace wavetail::run
