// SPDX-License-Identifier: Apache-2.0
#include "memory/l1.h"

#include <algorithm>

namespace wavetail::memory {

L1::L1(std::int64_t lines, int ways, std::uint64_t seed)
    : sets_(static_cast<std::uint64_t>(std::max<std::int64_t>(1, lines / ways))),
      associativity_(static_cast<std::size_t>(ways)),
      random_(mix(seed) | 1) {
  ways_.resize(sets_.divisor() * associativity_);
}

void L1::resize(std::int64_t lines) {
  const auto sets = static_cast<std::uint64_t>(
      std::max<std::int64_t>(1, lines / static_cast<std::int64_t>(associativity_)));
  if (sets != sets_.divisor()) { sets_ = Divider(std::min(sets, ways_.size() / associativity_)); }
  invalidate();
}

// Neighbouring lines go to neighbouring sets; the upper address bits rotate the start, so that
// power-of-two strides spread.
std::size_t L1::first_way(std::int64_t line) const {
  const auto n = static_cast<std::uint64_t>(line);
  const std::uint64_t q = sets_.quotient(n);
  return sets_.remainder(n + (q * 0x9e3779b97f4a7c15ULL >> 48)) * associativity_;
}

// Sectors whose time has come are there.
void L1::settle(Way& way, Time now) {
  if (way.pending != 0 && !way.awaits_request() && way.due <= now.picoseconds()) {
    way.valid = way.valid | way.pending;
    way.pending = 0;
  }
}

std::int32_t L1::victim(std::size_t first, Time now) {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  const std::size_t start = (random_ >> 32) % associativity_;
  for (std::size_t i = 0; i < associativity_; ++i) {
    const std::size_t w = first + (start + i) % associativity_;
    settle(ways_[w], now);
    if (ways_[w].epoch != epoch_ || ways_[w].pending == 0) { return static_cast<std::int32_t>(w); }
  }
  return -1;
}

void L1::invalidate() {
  epoch_ = (epoch_ + 1) & kEpochMask;
  if (epoch_ == 0) {  // old marks would come round again
    std::fill(ways_.begin(), ways_.end(), Way{});
    epoch_ = 1;
  }
}

L1::Lookup L1::find(std::int64_t line, std::uint8_t sectors, Time now) {
  const std::size_t first = first_way(line);
  std::int32_t chosen = -1;
  for (std::size_t w = first; w < first + associativity_; ++w) {
    Way& way = ways_[w];
    if (holds(way, line)) {
      settle(way, now);
      Lookup found;
      found.hit = static_cast<std::uint8_t>(sectors & way.valid);
      found.pending = static_cast<std::uint8_t>(sectors & way.pending);
      found.miss = static_cast<std::uint8_t>(sectors & ~(way.valid | way.pending));
      if (way.awaits_request()) {
        found.request = static_cast<std::uint32_t>(~way.due);
      } else {
        found.ready = Time{way.due};
      }
      // One fill at a time is remembered per line; further missing sectors travel unallocated.
      found.way = way.pending == 0 ? static_cast<std::int32_t>(w) : -1;
      return found;
    }
    if (way.epoch != epoch_) { chosen = static_cast<std::int32_t>(w); }
  }
  if (chosen < 0) { chosen = victim(first, now); }
  if (chosen >= 0) {
    Way fresh;
    fresh.line = static_cast<std::uint64_t>(line) & kLineMask;
    fresh.epoch = epoch_ & kEpochMask;
    ways_[static_cast<std::size_t>(chosen)] = fresh;
  }
  Lookup missed;
  missed.miss = sectors;
  missed.way = chosen;
  return missed;
}

void L1::await(const Lookup& at, std::uint32_t request) {
  if (at.way >= 0) {
    Way& way = ways_[static_cast<std::size_t>(at.way)];
    way.pending = at.miss & 15U;
    way.due = ~static_cast<std::int64_t>(request);
  }
}

void L1::due(std::int64_t line, std::uint32_t request, Time ready) {
  const std::size_t first = first_way(line);
  for (std::size_t w = first; w < first + associativity_; ++w) {
    Way& way = ways_[w];
    if (holds(way, line) && way.due == ~static_cast<std::int64_t>(request)) {
      way.due = ready.picoseconds();
      return;
    }
  }
}

}  // namespace wavetail::memory
