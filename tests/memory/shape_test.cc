// SPDX-License-Identifier: Apache-2.0
#include "memory/shape.h"

#include <gtest/gtest.h>

namespace wavetail::memory {
namespace {

// Lanes of one instruction may lie at both ends of the address space.
TEST(Shape, LinesFarApartStayApart) {
  const std::array<std::int64_t, 4> offsets{0, std::int64_t{1} << 39, std::int64_t{1} << 46,
                                            -(std::int64_t{1} << 48)};
  const Shape shape = coalesce(offsets, 16, 0);
  ASSERT_EQ(shape.lines, 4);
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    EXPECT_EQ(shape.delta[i], offsets[i] / kLineBytes);
    EXPECT_EQ(shape.mask[i], 1);
  }
  EXPECT_FALSE(shape.dense);
}

}  // namespace
}  // namespace wavetail::memory
