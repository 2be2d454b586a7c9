// SPDX-License-Identifier: Apache-2.0
// The banks of shared memory: how many wavefronts one warp instruction takes, exactly, from its
// lane addresses. 32 banks of 4 bytes give 128 bytes per wavefront; in a wavefront every bank gives
// one 4-byte word, to any number of lanes (broadcast, multicast).
//
//   32 lanes x 4 B in a column of float tile[32][32]:  32 wavefronts, 31 of them conflicts
//   32 lanes x 16 B side by side:                      4 wavefronts, one per quarter-warp
//
// Lanes are served in passes of 128 bytes: a warp of 4-byte (or narrower) lanes at once, half-warps
// of 8-byte lanes, quarter-warps of 16-byte lanes. Each pass takes as many wavefronts as its
// fullest bank holds different words. Sources: CUDA C++ Programming Guide, shared memory (banks,
// multicast); Nsight Compute counts the wavefronts as l1tex__data_pipe_lsu_wavefronts_mem_shared.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <string_view>

namespace wavetail::memory {

inline constexpr int kBanks = 32;
inline constexpr int kBankBytes = 4;
inline constexpr int kWavefrontBytes = kBanks * kBankBytes;

// Address of a lane that takes no part.
inline constexpr std::int64_t kNoLane = std::numeric_limits<std::int64_t>::min();

struct BankAccess {
  int wavefronts = 0;
  int passes = 0;  // of them, what the same lanes would take without any conflict

  [[nodiscard]] int conflicts() const { return wavefronts - passes; }

  bool operator==(const BankAccess&) const = default;
};

// `lanes`: byte address of every lane of the warp, kNoLane where it is inactive, each a multiple of
// `width` (bytes per lane, 1 to 16). `merge_pairs`: two passes that follow each other are served as
// one if the lanes of every pair (i, i xor 1), or those of every pair (i, i xor 2), have one
// address; an inactive partner does not stand in the way.
[[nodiscard]] BankAccess bank_access(std::span<const std::int64_t> lanes, int width,
                                     bool merge_pairs);

// Whether loads of this architecture ("sm_75") merge passes. NVIDIA states the rule for compute
// capability 7.0 to 7.5 (developer forum, topic 77228). On an H200 a uniform 8-byte load through
// the same data stage keeps its two wavefronts (te42kyfo/gpu-benches, gpu-strides: 2.01 cycles).
[[nodiscard]] bool merges_pairs(std::string_view architecture);

}  // namespace wavetail::memory
