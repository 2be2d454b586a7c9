// SPDX-License-Identifier: Apache-2.0
#include "memory/l1.h"

#include <algorithm>
#include <cmath>

namespace wavetail::memory {

namespace {

std::int64_t places(double share, std::int64_t lines) {
  return std::max<std::int64_t>(1, std::llround(share * static_cast<double>(lines)));
}

}  // namespace

L1::L1(std::int64_t lines, int ways, double pending, std::uint64_t seed)
    : sets_(static_cast<std::uint64_t>(std::max<std::int64_t>(1, lines / ways))),
      associativity_(static_cast<std::size_t>(ways)),
      pending_share_(pending),
      places_(places(pending, lines)),
      random_(mix(seed) | 1) {
  ways_.resize(sets_.divisor() * associativity_);
}

void L1::resize(std::int64_t lines) {
  const auto sets = static_cast<std::uint64_t>(
      std::max<std::int64_t>(1, lines / static_cast<std::int64_t>(associativity_)));
  if (sets != sets_.divisor()) { sets_ = Divider(std::min(sets, ways_.size() / associativity_)); }
  invalidate();
}

void L1::invalidate() {
  const auto lines = static_cast<std::int64_t>(sets_.divisor() * associativity_);
  places_.reset(places(pending_share_, lines));
  fills_.clear();
  free_fills_ = kNone;
  epoch_ = (epoch_ + 1) & kEpochMask;
  if (epoch_ == 0) {  // old marks would come round again
    std::fill(ways_.begin(), ways_.end(), Way{});
    epoch_ = 1;
  }
}

// Neighbouring lines go to neighbouring sets; the upper address bits rotate the start, so that
// power-of-two strides spread.
std::size_t L1::first_way(std::int64_t line) const {
  const auto n = static_cast<std::uint64_t>(line);
  const std::uint64_t q = sets_.quotient(n);
  return sets_.remainder(n + (q * 0x9e3779b97f4a7c15ULL >> 48)) * associativity_;
}

// Sectors whose time has come are there.
void L1::settle(std::size_t w, Time now) {
  Way& way = ways_[w];
  if (way.pending != 0 && way.due >= 0 && way.due <= now.picoseconds()) {
    way.valid = way.valid | way.pending;
    way.pending = 0;
  }
  if (way.more != 0) { settle_further(w, now); }
}

// The same for a line's further fills; one that is still on its way takes the place of the first if
// that is there.
void L1::settle_further(std::size_t w, Time now) {
  Way& way = ways_[w];
  std::uint32_t* link = &further_[w];
  while (*link != kNone) {
    Fill& fill = fills_[*link];
    const bool here = fill.due >= 0 && fill.due <= now.picoseconds();
    if (!here && way.pending != 0) {
      link = &fill.next;
      continue;
    }
    if (here) {
      way.valid = way.valid | (fill.sectors & 15U);
    } else {
      way.pending = fill.sectors & 15U;
      way.due = fill.due;
    }
    const std::uint32_t freed = *link;
    *link = fill.next;
    fills_[freed].next = free_fills_;
    free_fills_ = freed;
  }
  way.more = further_[w] != kNone ? 1 : 0;
}

std::int32_t L1::victim(std::size_t first, Time now) {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  const std::size_t start = (random_ >> 32) % associativity_;
  for (std::size_t i = 0; i < associativity_; ++i) {
    const std::size_t w = first + (start + i) % associativity_;
    if (ways_[w].epoch != epoch_) { return static_cast<std::int32_t>(w); }
    settle(w, now);
    if (ways_[w].pending == 0) { return static_cast<std::int32_t>(w); }
  }
  return -1;
}

// What the line that lives in way w has of the sectors. Missing ones may come to a line that waits
// already; one that does not needs a place among those that wait.
L1::Lookup L1::look_into(std::size_t w, std::uint8_t sectors, Time now,
                         std::vector<std::uint32_t>& fills) {
  settle(w, now);
  const Way& way = ways_[w];
  Lookup found;
  found.hit = static_cast<std::uint8_t>(sectors & way.valid);
  const auto wait = [&](std::uint8_t pending, Due due) {
    if ((sectors & pending) == 0) { return; }
    found.pending = static_cast<std::uint8_t>(found.pending | (sectors & pending));
    if (due >= 0) {
      found.ready = std::max(found.ready, Time{due});
    } else if (fills.empty() || fills.back() != static_cast<std::uint32_t>(~due)) {
      fills.push_back(static_cast<std::uint32_t>(~due));
    }
  };
  wait(way.pending & 15U, way.due);
  if (way.more != 0) {
    for (std::uint32_t f = further_[w]; f != kNone; f = fills_[f].next) {
      wait(fills_[f].sectors, fills_[f].due);
    }
  }
  found.miss = static_cast<std::uint8_t>(sectors & ~(found.hit | found.pending));
  const bool placed = found.miss != 0 && (way.pending != 0 || places_.free(now) > 0);
  found.way = placed ? static_cast<std::int32_t>(w) : -1;
  return found;
}

L1::Lookup L1::find(std::int64_t line, std::uint8_t sectors, Time now,
                    std::vector<std::uint32_t>& fills) {
  const std::size_t first = first_way(line);
  std::int32_t unused = -1;
  for (std::size_t w = first; w < first + associativity_; ++w) {
    if (holds(ways_[w], line)) { return look_into(w, sectors, now, fills); }
    if (ways_[w].epoch != epoch_) { unused = static_cast<std::int32_t>(w); }
  }
  Lookup missed;
  missed.miss = sectors;
  if (places_.free(now) <= 0) { return missed; }
  missed.way = unused >= 0 ? unused : victim(first, now);
  if (missed.way >= 0) {
    Way fresh;
    fresh.line = static_cast<std::uint64_t>(line) & kLineMask;
    fresh.epoch = epoch_ & kEpochMask;
    ways_[static_cast<std::size_t>(missed.way)] = fresh;
  }
  return missed;
}

std::uint32_t L1::new_fill(const Fill& fill) {
  std::uint32_t id = free_fills_;
  if (id == kNone) {
    id = static_cast<std::uint32_t>(fills_.size());
    fills_.push_back(fill);
  } else {
    free_fills_ = fills_[id].next;
    fills_[id] = fill;
  }
  return id;
}

void L1::await(const Lookup& at, std::uint32_t request) {
  if (at.way < 0) { return; }
  const auto w = static_cast<std::size_t>(at.way);
  Way& way = ways_[w];
  const Due due = ~static_cast<Due>(request);
  if (way.placed == 0) { places_.overdraw(1); }
  way.placed = 1;
  if (way.pending == 0) {
    way.pending = at.miss & 15U;
    way.due = due;
    return;
  }
  if (further_.empty()) { further_.resize(ways_.size(), kNone); }
  const std::uint32_t next = way.more != 0 ? further_[w] : kNone;
  further_[w] = new_fill({at.miss, due, next});
  way.more = 1;
}

void L1::due(std::int64_t line, std::uint32_t request, Time ready) {
  const std::size_t first = first_way(line);
  const Due unknown = ~static_cast<Due>(request);
  for (std::size_t w = first; w < first + associativity_; ++w) {
    Way& way = ways_[w];
    if (!holds(way, line) || way.pending == 0) { continue; }
    if (way.due == unknown) {
      way.due = ready.picoseconds();
      release(w);
      return;
    }
    for (std::uint32_t f = way.more != 0 ? further_[w] : kNone; f != kNone; f = fills_[f].next) {
      if (fills_[f].due == unknown) {
        fills_[f].due = ready.picoseconds();
        release(w);
        return;
      }
    }
  }
}

// The line's place among those that wait is free when its last fill is there, if all are known.
void L1::release(std::size_t w) {
  Way& way = ways_[w];
  Due last = way.due;
  Due first = way.due;
  for (std::uint32_t f = way.more != 0 ? further_[w] : kNone; f != kNone; f = fills_[f].next) {
    last = std::max(last, fills_[f].due);
    first = std::min(first, fills_[f].due);
  }
  if (first >= 0) {
    places_.give_back(Time{last}, 1, [](std::uint32_t, Time) {});
    way.placed = 0;
  }
}

}  // namespace wavetail::memory
