// SPDX-License-Identifier: Apache-2.0
#include "law/shipped_laws.h"

namespace wavetail::tests {
namespace {

TEST_P(ShippedLaws, Hold) { expect_laws_of_file(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Small, ShippedLaws, testing::ValuesIn(shipped_files(false)), case_name);

}  // namespace
}  // namespace wavetail::tests
