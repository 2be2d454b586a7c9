// SPDX-License-Identifier: Apache-2.0
// One warp instruction's way into shared memory: where its lanes lie in the block's shared memory,
// as plain values. Addresses are bytes from the start of the block's shared memory.
//
//   column of float tile[32][32]:   Column, width 4, pitch 128
//   the same, rows padded by one:   Column, width 4, pitch 132
//   the same, XOR swizzle:          Column, width 4, pitch 128, swizzle {5, 2, 5}
#pragma once

#include <cstdint>
#include <vector>

namespace wavetail::kernel {

// How the lanes spread around the instruction's address.
enum class SharedPattern : std::uint8_t {
  Contiguous,  // lane i at i x width
  Strided,     // lane i at i x stride
  Row,         // lanes side by side along a row, `per_line` of them, then on the next row
  Column,      // lanes down a column, `per_line` of them, then down the next column
  Broadcast,   // all lanes at offset 0
  Random,      // each lane at a seeded random multiple of width within `bytes`
  Listed,      // lane i at offsets[i]; lanes beyond the end of the list are inactive
};

// An XOR swizzle of byte addresses, as CUTLASS writes it (Swizzle<B, M, S>): the `bits` bits that
// stand `shift` above bit `base` are XORed onto the `bits` bits from bit `base` on. TMA's modes are
// {1, 4, 3} (32 B), {2, 4, 3} (64 B) and {3, 4, 3} (128 B). No bits: addresses stay as they are.
struct Swizzle {
  int bits = 0, base = 0, shift = 0;

  [[nodiscard]] constexpr std::int64_t operator()(std::int64_t address) const {
    const std::int64_t mask = ((std::int64_t{1} << bits) - 1) << base;
    return address ^ ((address >> shift) & mask);
  }

  // Addresses that differ by a multiple of this are moved alike.
  [[nodiscard]] constexpr std::int64_t period() const {
    return bits == 0 ? 1 : std::int64_t{1} << (bits + base + shift);
  }

  bool operator==(const Swizzle&) const = default;
};

struct SharedAccess {
  int width = 4;  // bytes per lane: 1, 2, 4, 8 or 16
  SharedPattern pattern = SharedPattern::Contiguous;
  std::int64_t stride = 0;                 // bytes from lane to lane, for Strided
  std::int64_t pitch = 0;                  // bytes from row to row, for Row and Column
  int per_line = 0;                        // lanes of one row or column; 0: all
  std::vector<std::int64_t> offsets = {};  // bytes, for Listed
  std::uint64_t seed = 0;                  // for Random
  std::int64_t bytes = 0;                  // for Random: the range that is drawn from
  Swizzle swizzle = {};                    // applied last
  int lanes = 0;                           // active lanes; 0: the whole warp
  std::int64_t offset = 0;                 // bytes, added to every address
  // How the address moves, in bytes: per warp of the role, per instruction of one `count` run, per
  // trip of the enclosing loops (outermost first).
  std::int64_t warp = 0, count = 0;
  std::vector<std::int64_t> loop = {};

  bool operator==(const SharedAccess&) const = default;
};

}  // namespace wavetail::kernel
