// SPDX-License-Identifier: Apache-2.0
// The tag stage of L1: how many cycles the lines of one warp instruction take to be looked up,
// exactly, from its line numbers. The tags lie in banks that look up one line per cycle each; a
// line's bank is the exclusive or of all digits of its number to the base of the banks' number, so
// that neither a run of lines nor a power-of-two stride stays in one bank.
//
//   lines 0, 1, 2, 3: one wavefront;  0, 16, 32, 48: one;  0, 5, 10, 15: four, all in bank 0
//
// Found on an H200 (te42kyfo/gpu-benches, gpu-strides: strided and two-dimensional patterns), where
// four such banks give the measured cycles of 31 patterns within 2.1 % in the mean; the four lines
// that follow each other anywhere, or lines modulo 4, miss them by 5 % and 16 %. Nsight Compute
// counts the wavefronts as l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.
#pragma once

#include <array>
#include <cstdint>

#include "memory/shape.h"

namespace wavetail::memory {

class TagBanks {
 public:
  static constexpr int kMostBanks = 64;

  // `banks`: a power of two up to kMostBanks.
  explicit TagBanks(std::int64_t banks);

  [[nodiscard]] int bank(std::int64_t line) const {
    auto n = static_cast<std::uint64_t>(line);
    for (int shift = first_shift_; shift > 0 && shift >= digit_; shift /= 2) { n ^= n >> shift; }
    return static_cast<int>(n & mask_);
  }

  // Of the lines of a shape whose instruction's base address lies in line `base`; 0 if it has none.
  [[nodiscard]] int wavefronts(const Shape& shape, std::int64_t base) const;

 private:
  [[nodiscard]] int count(const Shape& shape, std::int64_t base) const;

  int digit_;        // bits of a bank's number
  int first_shift_;  // half of the digits of a line number, in bits
  std::uint64_t mask_;
  // Of runs of lines within an aligned piece of kPiece lines: by where they begin and how many.
  static constexpr int kPiece = 32;
  std::array<std::array<std::uint8_t, kPiece + 1>, kPiece> runs_{};
};

}  // namespace wavetail::memory
