// SPDX-License-Identifier: Apache-2.0
#include "memory/l1.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>

namespace wavetail::memory {

namespace {

// A way's mark: unused, the mark of one of its lines (1 to 128), or no way at all.
constexpr std::uint8_t kEmpty = 0, kNoWay = 0xff;
constexpr std::size_t kMarksPerWord = 8;
constexpr std::uint64_t kOnes = 0x0101010101010101ULL, kHighBits = 0x8080808080808080ULL;

// Calls f(n) for the nth of eight marks that equals `mark`, until f returns true; beyond the first
// that does it may be called for others as well.
template <class F>
bool any_of_marks(const std::uint8_t* marks, std::uint8_t mark, F&& f) {
  std::uint64_t word;
  std::memcpy(&word, marks, sizeof word);
  const std::uint64_t differs = word ^ kOnes * mark;
  std::uint64_t same = (differs - kOnes) & ~differs & kHighBits;
  for (; same != 0; same &= same - 1) {
    if (f(static_cast<std::size_t>(std::countr_zero(same)) / kMarksPerWord)) { return true; }
  }
  return false;
}

}  // namespace

L1::L1(const Form& form, std::uint64_t seed)
    : most_ways_(form.ways),
      age_bits_(static_cast<int>(std::bit_width(static_cast<std::uint64_t>(form.age.count()))) - 1),
      pending_share_(form.pending),
      random_(mix(seed) | 1) {
  resize(form.lines);
}

void L1::resize(std::int64_t lines) {
  const std::int64_t ways = std::clamp<std::int64_t>(lines, 1, most_ways_);
  const auto sets = static_cast<std::uint64_t>(std::max<std::int64_t>(1, lines / ways));
  if (sets != sets_.divisor() || ways != ways_per_set_) {
    sets_ = Divider(sets);
    ways_per_set_ = ways;
    stride_ = (static_cast<std::size_t>(ways) + kMarksPerWord - 1) / kMarksPerWord * kMarksPerWord;
    marks_.resize(sets * stride_);
    ways_.resize(sets * stride_);
    if (!further_.empty()) { further_.resize(ways_.size(), kNone); }
  }
  invalidate();
}

void L1::invalidate() {
  const auto lines = static_cast<std::int64_t>(sets_.divisor()) * ways_per_set_;
  places_.reset(
      std::max<std::int64_t>(1, std::llround(pending_share_ * static_cast<double>(lines))));
  fills_.clear();
  free_fills_ = kNone;
  std::fill(marks_.begin(), marks_.end(), kEmpty);
  const auto ways = static_cast<std::size_t>(ways_per_set_);
  for (std::size_t w = ways; ways < stride_ && w < marks_.size(); w += stride_) {
    std::fill_n(marks_.begin() + static_cast<std::ptrdiff_t>(w), stride_ - ways, kNoWay);
  }
}

L1::Home L1::home_of(std::int64_t line) const {
  const std::uint64_t hash = mix(static_cast<std::uint64_t>(line));
  return {sets_.remainder(hash >> 24), static_cast<std::uint8_t>(1 + (hash & 127))};
}

// -1 if the line is not here.
std::int32_t L1::way_of(std::int64_t line, const Home& home) const {
  const std::size_t first = first_way(home.set);
  for (std::size_t w = first; w < first + stride_; w += kMarksPerWord) {
    std::size_t found = 0;
    const bool here = any_of_marks(&marks_[w], home.mark, [&](std::size_t n) {
      found = w + n;
      return marks_[found] == home.mark && ways_[found].line == static_cast<std::uint64_t>(line);
    });
    if (here) { return static_cast<std::int32_t>(found); }
  }
  return -1;
}

std::int32_t L1::unused_way(std::size_t set) const {
  const std::size_t first = first_way(set);
  for (std::size_t w = first; w < first + stride_; w += kMarksPerWord) {
    std::size_t found = 0;
    const bool here = any_of_marks(&marks_[w], kEmpty, [&](std::size_t n) {
      found = w + n;
      return true;
    });
    if (here) { return static_cast<std::int32_t>(found); }
  }
  return -1;
}

// Sectors whose time has come are there.
void L1::settle(std::size_t w, Time now) {
  Way& way = ways_[w];
  if (way.pending != 0 && way.due >= 0 && way.due <= now.picoseconds()) {
    way.valid = (way.valid | way.pending) & 15U;
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
    const auto sectors = static_cast<std::uint64_t>(fill.sectors);
    if (here) {
      way.valid = (way.valid | sectors) & 15U;
    } else {
      way.pending = sectors & 15U;
      way.due = fill.due;
    }
    const std::uint32_t freed = *link;
    *link = fill.next;
    fills_[freed].next = free_fills_;
    free_fills_ = freed;
  }
  way.more = further_[w] != kNone ? 1 : 0;
}

// The oldest way of a full set that waits for nothing; -1: there is none.
std::int32_t L1::victim(std::size_t set, Time now) {
  random_ ^= random_ << 13;
  random_ ^= random_ >> 7;
  random_ ^= random_ << 17;
  const auto ways = static_cast<std::size_t>(ways_per_set_);
  const std::size_t first = first_way(set), start = (random_ >> 32) % ways;
  std::int32_t oldest = -1;
  std::int64_t age = INT64_MAX;
  for (std::size_t i = 0; i < ways; ++i) {
    const std::size_t w = first + (start + i < ways ? start + i : start + i - ways);
    if (ways_[w].pending != 0) { settle(w, now); }
    if (ways_[w].pending != 0 || ways_[w].due >> age_bits_ >= age) { continue; }
    age = ways_[w].due >> age_bits_;
    oldest = static_cast<std::int32_t>(w);
  }
  return oldest;
}

// What the line that lives in way w has of the sectors. Missing ones may come to a line that waits
// already; one that does not needs a place among those that wait.
L1::Lookup L1::look_into(std::size_t w, std::uint8_t sectors, Time now,
                         std::vector<std::uint32_t>& fills) {
  settle(w, now);
  Way& way = ways_[w];
  if (way.pending == 0) { way.due = now.picoseconds(); }
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
  const Home home = home_of(line);
  if (const std::int32_t w = way_of(line, home); w >= 0) {
    return look_into(static_cast<std::size_t>(w), sectors, now, fills);
  }
  Lookup missed;
  missed.miss = sectors;
  if (places_.free(now) <= 0) { return missed; }
  missed.way = unused_way(home.set);
  if (missed.way < 0) { missed.way = victim(home.set, now); }
  if (missed.way >= 0) {
    const auto w = static_cast<std::size_t>(missed.way);
    marks_[w] = home.mark;
    ways_[w] = Way{};
    ways_[w].line = static_cast<std::uint64_t>(line) & ((1ULL << kLineBits) - 1);
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
  const std::int32_t found = way_of(line, home_of(line));
  if (found < 0) { return; }
  const auto w = static_cast<std::size_t>(found);
  const Due unknown = ~static_cast<Due>(request);
  if (ways_[w].pending != 0 && ways_[w].due == unknown) {
    ways_[w].due = ready.picoseconds();
    release(w);
    return;
  }
  for (std::uint32_t f = ways_[w].more != 0 ? further_[w] : kNone; f != kNone; f = fills_[f].next) {
    if (fills_[f].due == unknown) {
      fills_[f].due = ready.picoseconds();
      release(w);
      return;
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
