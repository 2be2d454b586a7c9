// SPDX-License-Identifier: Apache-2.0
// The L1 data cache of one SM: sectored 128-byte lines in what the shared-memory carve-out leaves
// of the unified memory. A line that waits for a fill is pinned; later loads of a sector on its way
// wait for the same fill, and further sectors of the line come by fills of their own. Only so many
// lines may wait; a load that finds no place then goes to L2 without one, and nothing can wait for
// what it fetches.
//
// Lines lie in hashed sets. The one that was used least recently leaves, but times of use are told
// apart only if they are some microseconds apart; among equals chance decides. So a set larger than
// L1 that is read at full speed keeps hitting in part, as under random replacement, while a pointer
// chase through it misses almost always (GPU cache benchmarks of RRZE-HPC: L1B and LAT rows).
#pragma once

#include <cstdint>
#include <vector>

#include "event/credit.h"
#include "memory/divider.h"
#include "memory/shape.h"
#include "unit/quantity.h"

namespace wavetail::memory {

using unit::Duration;
using unit::Time;

class L1 {
 public:
  struct Form {
    std::int64_t lines = 0, ways = 0;
    Duration age;        // times of use that are less apart are the same
    double pending = 1;  // share of the lines that may wait for a fill at once
  };

  L1(const Form& form, std::uint64_t seed);

  struct Lookup {
    std::uint8_t hit = 0;      // sectors present
    std::uint8_t pending = 0;  // sectors on their way
    std::uint8_t miss = 0;     // sectors to fetch
    Time ready;                // when the pending ones are there, as far as that is known
    std::int32_t way = -1;     // where the missing ones will go; -1: nowhere, fetch without a line
  };

  // Looks up `sectors` of `line` at `now`; makes place for those that are missing if one can be
  // had. Appends to `fills` the requests that bring pending sectors at a time not known yet.
  [[nodiscard]] Lookup find(std::int64_t line, std::uint8_t sectors, Time now,
                            std::vector<std::uint32_t>& fills);

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
  static constexpr std::uint32_t kNone = 0xffffffffU;

  // A time in picoseconds, or ~request while that is not known.
  using Due = std::int64_t;

  // Sixteen bytes, so that four ways share a line of the host's cache.
  struct Way {
    std::uint64_t line : kLineBits = 0;
    std::uint64_t valid : 4 = 0;
    std::uint64_t pending : 4 = 0;  // 0: the line waits for nothing
    std::uint64_t more : 1 = 0;     // further fills are on their way, see fills_
    std::uint64_t placed : 1 = 0;   // has a place of places_, and does not know until when
    Due due = 0;  // when the pending sectors will be there; if there are none, the last use
  };

  // A further fill of a line that waits for one already.
  struct Fill {
    std::uint8_t sectors;
    Due due;
    std::uint32_t next;
  };

  // Where a line may live, and the mark that its way has then.
  struct Home {
    std::size_t set;
    std::uint8_t mark;
  };

  [[nodiscard]] Home home_of(std::int64_t line) const;
  [[nodiscard]] std::int32_t way_of(std::int64_t line, const Home& home) const;
  [[nodiscard]] std::int32_t unused_way(std::size_t set) const;
  [[nodiscard]] std::int32_t victim(std::size_t set, Time now);
  Lookup look_into(std::size_t w, std::uint8_t sectors, Time now,
                   std::vector<std::uint32_t>& fills);
  void settle(std::size_t w, Time now);
  void settle_further(std::size_t w, Time now);
  void release(std::size_t w);
  std::uint32_t new_fill(const Fill& fill);

  // Ways of a set are numbered in `stride_` steps, of which the last ones may be no ways.
  [[nodiscard]] std::size_t first_way(std::size_t set) const { return set * stride_; }

  std::int64_t most_ways_, ways_per_set_ = 0;
  std::size_t stride_ = 0;
  int age_bits_;
  double pending_share_;
  std::uint64_t random_;
  Divider sets_{1};
  std::vector<std::uint8_t> marks_;  // by way; kEmpty: unused
  std::vector<Way> ways_;
  event::Credit places_;  // for lines that wait
  std::vector<std::uint32_t>
      further_;  // by way, the first of its further fills; empty until needed
  std::vector<Fill> fills_;
  std::uint32_t free_fills_ = kNone;
};

}  // namespace wavetail::memory
