// SPDX-License-Identifier: Apache-2.0
#include "laws.h"

namespace wavetail::run {
namespace {

TEST(BoundLaw, HoldsForRandomKernels) { EXPECT_GE(check_laws(61, 1400), 1000); }

}  // namespace
}  // namespace wavetail::run
