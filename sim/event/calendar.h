// SPDX-License-Identifier: Apache-2.0
// A port whose users are known ahead of time: bytes that leave DRAM now will cross the SM's port
// when they get there, and nothing can change that any more. Its time is divided into bins of
// 8.192 ns, each with that much service to give; whoever books takes what is left from the moment
// it arrives there on. Bookings need not come in the order of their arrival: within a bin order
// does not matter, and beyond it capacity is never given twice.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "unit/quantity.h"

namespace wavetail::event {

class Calendar {
 public:
  Calendar() : bins_(kBins) {}

  // Books `amount` of service, as soon as possible from `at` on; returns when it ends. Bookings
  // more than kBins bins ahead of others may be forgotten.
  unit::Time reserve(unit::Time at, unit::Duration amount) {
    const std::int64_t t = at.picoseconds();
    std::int64_t left = amount.count();
    std::int64_t n = t >> kBinBits;
    if (n >= full_from_ && n < full_to_) { n = full_to_; }
    for (;; ++n) {
      const std::int64_t start = n << kBinBits;
      Bin& bin = bins_[static_cast<std::size_t>(n) & (kBins - 1)];
      const auto lap = static_cast<std::uint32_t>(n >> kRingBits) & kLapMask;
      if (bin.lap != lap) {
        if (((lap - bin.lap) & kLapMask) > kLapMask / 2) {  // booked by somebody a lap ahead
          return unit::Time{std::max(t, start) + left};
        }
        bin.lap = lap & kLapMask;
        bin.used = 0;
      }
      const std::int64_t from = std::max(t, start + bin.used);
      const std::int64_t taken = std::min(start + kBinWidth - from, left);
      if (taken <= 0) { continue; }
      bin.used = static_cast<std::uint32_t>(bin.used + taken) & ((1U << kUsedBits) - 1);
      left -= taken;
      if (bin.used == kBinWidth) { note_full(n, t >> kBinBits); }
      if (left == 0) { return unit::Time{from + taken}; }
    }
  }

 private:
  static constexpr int kBinBits = 13;
  static constexpr std::int64_t kBinWidth = 1 << kBinBits;  // picoseconds
  static constexpr int kRingBits = 10;
  static constexpr std::size_t kBins = 1U << kRingBits;  // 8.4 us
  static constexpr int kUsedBits = kBinBits + 1, kLapBits = 32 - kUsedBits;
  static constexpr std::uint32_t kLapMask = (1U << kLapBits) - 1;

  // Small, as there is one ring per SM and the host's cache has to hold what is near now.
  struct Bin {
    std::uint32_t lap : kLapBits = 0;
    std::uint32_t used : kUsedBits = 0;  // picoseconds
  };

  // Keeps one run of full bins, so that a long queue need not be walked through.
  void note_full(std::int64_t n, std::int64_t now) {
    if (n == full_to_) {
      ++full_to_;
    } else if (full_to_ <= now) {
      full_from_ = n;
      full_to_ = n + 1;
    }
  }

  std::vector<Bin> bins_;
  std::int64_t full_from_ = 0, full_to_ = 0;
};

}  // namespace wavetail::event
