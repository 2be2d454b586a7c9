// SPDX-License-Identifier: Apache-2.0
#include "memory/shape.h"

#include <algorithm>
#include <bit>

namespace wavetail::memory {

namespace {

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// One bit per 4-byte word of a sector, of whose bytes all bits are set.
std::uint32_t whole_words(std::uint32_t bytes) {
  std::uint32_t words = 0;
  for (unsigned w = 0; w < 8; ++w) { words |= (bytes >> (4 * w) & 15U) == 15U ? 1U << w : 0U; }
  return words;
}

// The lines of a shape in the making with a mask of touched bytes each.
struct Builder {
  Shape shape;
  std::array<std::array<std::uint32_t, 4>, kMaxLines> bytes{};  // per sector, one bit per byte

  int line(std::int64_t delta) {
    for (int i = 0; i < shape.lines; ++i) {
      if (shape.delta[static_cast<std::size_t>(i)] == delta) { return i; }
    }
    shape.delta[static_cast<std::size_t>(shape.lines)] = delta;
    return shape.lines++;
  }

  void touch(std::int64_t first, int count) {
    const std::int64_t end = first + count;
    for (std::int64_t at = first; at < end;) {  // sector by sector
      const std::int64_t delta = floor_div(at, kLineBytes);
      const auto l = static_cast<std::size_t>(line(delta));
      const std::int64_t within = at - delta * kLineBytes;
      const auto bit = static_cast<unsigned>(within % kSectorBytes);
      const auto here = static_cast<unsigned>(std::min<std::int64_t>(end - at, kSectorBytes - bit));
      bytes[l][static_cast<std::size_t>(within / kSectorBytes)] |= (~0U >> (32 - here)) << bit;
      at += here;
    }
  }

  Shape finish() {
    for (std::size_t l = 0; l < static_cast<std::size_t>(shape.lines); ++l) {
      for (unsigned s = 0; s < 4; ++s) {
        if (bytes[l][s] == 0) { continue; }
        shape.distinct_bytes += std::popcount(bytes[l][s]);
        shape.mask[l] = static_cast<std::uint8_t>(shape.mask[l] | (1U << s));
        shape.words[l] |= whole_words(bytes[l][s]) << (8 * s);
        if (bytes[l][s] == ~0U) {
          shape.covered[l] = static_cast<std::uint8_t>(shape.covered[l] | (1U << s));
        }
      }
      shape.sectors += std::popcount(shape.mask[l]);
      shape.partial = shape.partial || shape.covered[l] != shape.mask[l];
    }
    shape.dense = true;
    for (std::size_t l = 0; l < static_cast<std::size_t>(shape.lines); ++l) {
      shape.dense = shape.dense && shape.covered[l] == 15 &&
                    shape.delta[l] == shape.delta[0] + static_cast<std::int64_t>(l);
    }
    return shape;
  }
};

}  // namespace

Shape coalesce(std::span<const std::int64_t> offsets, int width, int misalignment) {
  Builder builder;
  for (const std::int64_t offset : offsets) { builder.touch(misalignment + offset, width); }
  builder.shape.lanes = static_cast<int>(offsets.size());
  builder.shape.useful_bytes = builder.shape.lanes * width;
  return builder.finish();
}

}  // namespace wavetail::memory
