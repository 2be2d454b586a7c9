// SPDX-License-Identifier: Apache-2.0
// The coalescer: which 128-byte lines and 32-byte sectors one warp instruction touches, exactly,
// from its lane addresses. A Shape is relative to the line that holds the instruction's base
// address, so that a loop over an array computes it once.
//
//   32 lanes x 16 B contiguous, aligned:   4 lines, 16 sectors, all full
//   32 lanes x 4 B, 32 B apart:            8 lines, 32 sectors, 12.5 % of their bytes used
#pragma once

#include <array>
#include <cstdint>
#include <span>

namespace wavetail::memory {

// Global addresses have 49 bits, as the virtual addresses of NVIDIA GPUs since compute capability
// 6.0 (CUDA C++ Programming Guide, unified memory). Whoever hands out addresses keeps below.
inline constexpr int kAddressBits = 49;
inline constexpr int kLineBytes = 128;
inline constexpr int kSectorBytes = 32;
inline constexpr int
    kMaxLines = 64;  // one per lane of the widest warp: accesses are aligned to their width

// The bytes of the lines that hold an array: no other array has a part of them, and lanes wrap at
// their end.
[[nodiscard]] constexpr std::int64_t whole_lines(std::int64_t bytes) {
  return (bytes + kLineBytes - 1) / kLineBytes * kLineBytes;
}

struct Shape {
  int lines = 0;
  int sectors = 0;
  int useful_bytes = 0;    // lanes x width
  int distinct_bytes = 0;  // of these, each byte once
  int lanes = 0;           // active lanes
  bool dense = false;      // consecutive lines from the first one on, every sector of each
  bool partial = false;    // some sector is not covered completely (matters to stores)
  std::array<std::int64_t, kMaxLines> delta{};    // line number relative to the base address' line
  std::array<std::uint8_t, kMaxLines> mask{};     // sectors of that line, bit 0 = lowest address
  std::array<std::uint8_t, kMaxLines> covered{};  // those whose 32 bytes are all asked for
  std::array<std::uint32_t, kMaxLines> words{};   // the same of its 4-byte words
  // Of an atomic: operations that follow each other on the line's busiest address.
  std::array<std::uint8_t, kMaxLines> operations{};
};

// `offsets`: byte offset of each active lane from the base address; `misalignment`: base address
// modulo 128; width: bytes per lane, 1 to 16.
[[nodiscard]] Shape coalesce(std::span<const std::int64_t> offsets, int width, int misalignment);

}  // namespace wavetail::memory
