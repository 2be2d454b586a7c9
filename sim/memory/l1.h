// SPDX-License-Identifier: Apache-2.0
// The L1 data cache of one SM: sectored 128-byte lines in what the shared-memory carve-out leaves
// of the unified memory. A line that waits for its fill is pinned; later loads of a pending sector
// wait for the same fill. Replacement among the other ways is pseudo-random (measured hit rates
// beyond capacity follow random replacement, not LRU: GPU cache benchmarks of RRZE-HPC, L1B rows).
#pragma once

#include <cstdint>
#include <vector>

#include "memory/divider.h"
#include "memory/shape.h"
#include "unit/quantity.h"

namespace wavetail::memory {

using unit::Time;

inline constexpr std::uint32_t kNoRequest = 0xffffffffU;

class L1 {
 public:
  L1(std::int64_t lines, int ways, std::uint64_t seed);

  struct Lookup {
    std::uint8_t hit = 0;                // sectors present
    std::uint8_t pending = 0;            // sectors on their way
    std::uint8_t miss = 0;               // sectors to fetch
    std::uint32_t request = kNoRequest;  // the fill that brings the pending ones, if not known when
    Time ready;                          // when they are there, if that is known
    std::int32_t
        way = -1;  // where the line lives; -1: no way could be had, fetch without allocation
  };

  // Looks up `sectors` of `line` at `now`; allocates the line if it is absent and a way can be had.
  [[nodiscard]] Lookup find(std::int64_t line, std::uint8_t sectors, Time now);

  // The missing sectors of a looked-up line are on their way with `request`.
  void await(const Lookup& at, std::uint32_t request);

  // The fill for `line` that `request` brings will be there at `ready`.
  void due(std::int64_t line, std::uint32_t request, Time ready);

  // Forgets everything (a kernel starts); lines still pending are forgotten too.
  void invalidate();

  // From now on `lines` lines, not more than at construction; forgets everything.
  void resize(std::int64_t lines);

 private:
  static constexpr int kLineBits = kAddressBits - 7;  // a line has 128 bytes
  static constexpr int kEpochBits = 56 - kLineBits;
  static constexpr std::uint64_t kLineMask = (1ULL << kLineBits) - 1;
  static constexpr std::uint64_t kEpochMask = (1ULL << kEpochBits) - 1;

  // Sixteen bytes, so that four ways share a line of the host's cache.
  struct Way {
    std::uint64_t line : kLineBits = 0;
    std::uint64_t epoch : kEpochBits = 0;
    std::uint64_t valid : 4 = 0;
    std::uint64_t pending : 4 = 0;
    // Of the pending sectors: when they are there, in picoseconds, or ~request if not known yet.
    std::int64_t due = 0;

    [[nodiscard]] bool awaits_request() const { return due < 0; }
  };

  [[nodiscard]] std::size_t first_way(std::int64_t line) const;
  [[nodiscard]] std::int32_t victim(std::size_t first, Time now);
  static void settle(Way& way, Time now);

  [[nodiscard]] bool holds(const Way& way, std::int64_t line) const {
    return way.epoch == epoch_ && way.line == static_cast<std::uint64_t>(line);
  }

  std::vector<Way> ways_;
  Divider sets_;
  std::size_t associativity_;
  std::uint64_t epoch_ = 1;  // of the lines that count; kEpochBits
  std::uint64_t random_;
};

}  // namespace wavetail::memory
