// SPDX-License-Identifier: Apache-2.0
// Cases that take some seconds to simulate: cases/full/*.yaml.
#include "simulated_cases.h"

namespace wavetail {
namespace {

class LongCase : public testing::TestWithParam<std::string> {};

TEST_P(LongCase, MeetsWhatItExpects) { meets_what_it_expects(GetParam()); }

INSTANTIATE_TEST_SUITE_P(Cases, LongCase, testing::ValuesIn(simulated_cases("cases/full")),
                         case_name);

}  // namespace
}  // namespace wavetail
