// SPDX-License-Identifier: Apache-2.0
#include "memory/l1.h"

#include <gtest/gtest.h>

namespace wavetail::memory {
namespace {

// A line is found again wherever in the address space it lies, and taken for no other.
TEST(L1, TellsTheWholeAddressSpaceApart) {
  L1 l1(4, 4, 1);  // one set
  for (int bit = 0; bit < kAddressBits - 7; ++bit) {
    l1.invalidate();
    const std::int64_t line = std::int64_t{1} << bit;
    const L1::Lookup first = l1.find(line, 15, Time{0});
    EXPECT_EQ(first.miss, 15);
    l1.await(first, 7);
    l1.due(line, 7, Time{100});
    EXPECT_EQ(l1.find(line, 15, Time{200}).hit, 15) << "bit " << bit;
    EXPECT_EQ(l1.find(0, 15, Time{200}).miss, 15) << "bit " << bit;
  }
}

// What was there before an L1 was emptied never comes back, however often that happens.
TEST(L1, ForgetsForEver) {
  L1 l1(4, 4, 1);
  const L1::Lookup first = l1.find(3, 15, Time{0});
  l1.await(first, 7);
  l1.due(3, 7, Time{100});
  for (int n = 0; n < 1 << 17; ++n) {
    l1.invalidate();
    ASSERT_EQ(l1.find(5, 1, Time{200}).hit, 0);
  }
}

}  // namespace
}  // namespace wavetail::memory
