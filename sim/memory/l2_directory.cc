// SPDX-License-Identifier: Apache-2.0
#include "memory/l2_directory.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace wavetail::memory {

namespace {

constexpr std::int64_t kStrangerPage = std::int64_t{1} << 42;
constexpr int kKindShift = 32;  // more pages than any cache has
constexpr std::int64_t kPagesPerSet = 16;

}  // namespace

std::int64_t lines_of(const Sectors& s) {
  return std::popcount(any_of_line(s[0])) + std::popcount(any_of_line(s[1]));
}

std::int64_t sectors_of(const Sectors& s) { return std::popcount(s[0]) + std::popcount(s[1]); }

L2Directory::L2Directory(std::int64_t capacity_lines, std::int64_t partitions, Sets sets)
    : capacity_(capacity_lines),
      scattered_(sets == Sets::Scattered),
      table_(static_cast<std::size_t>(capacity_lines / kLinesPerPage) + 64),
      partitions_(static_cast<std::uint64_t>(partitions)),
      sets_divider_(static_cast<std::uint64_t>(
          std::max<std::int64_t>(1, capacity_lines / kLinesPerPage / kPagesPerSet))),
      sets_(sets_divider_.divisor()),
      more_(sets_.size()) {
  const auto count = static_cast<std::int64_t>(sets_.size());
  for (std::int64_t n = 0; n < count; ++n) {
    sets_[static_cast<std::size_t>(n)].capacity = static_cast<std::int32_t>(
        (n + 1) * capacity_ / count - n * capacity_ / count);
  }
  frames_.resize(sets_.size() * kSlots);
  fills_.resize(frames_.size());
}

// Pages that are neighbours to this partition go to neighbouring sets, unless they are scattered.
std::uint32_t L2Directory::set_of(std::int64_t page) const {
  if (scattered_) {
    return static_cast<std::uint32_t>(
        sets_divider_.remainder(mix(static_cast<std::uint64_t>(page)) >> 24));
  }
  const std::uint64_t n = partitions_.quotient(static_cast<std::uint64_t>(page));
  return static_cast<std::uint32_t>(
      sets_divider_.remainder(n + (mix(sets_divider_.quotient(n)) >> 24)));
}

// A set has more pages than slots where few lines of each are held.
std::uint32_t L2Directory::find_or_claim(std::int64_t page) {
  std::uint32_t frame = table_.find(page);
  if (frame != kNoFrame) { return frame; }
  const std::uint32_t number = set_of(page);
  Set& set = sets_[number];
  if (const int slot = std::countr_one(set.used); slot < kSlots) {
    set.used |= 1U << slot;
    frame = number * kSlots + static_cast<std::uint32_t>(slot);
  } else if (free_frames_.empty()) {
    frame = static_cast<std::uint32_t>(frames_.size());
    frames_.emplace_back();
    fills_.emplace_back();
    more_[number].push_back(frame);
  } else {
    frame = free_frames_.back();
    free_frames_.pop_back();
    more_[number].push_back(frame);
  }
  frames_[frame] = Frame{page, number, {}, {}, {}};
  fills_[frame] = Fills{};
  table_.insert(page, frame);
  ++pages_;
  return frame;
}

// Takes these lines, which have these stamps, out of the set's counts.
void L2Directory::discount(Set& set, std::uint64_t stamps, std::uint64_t lines) {
  const int n = std::popcount(lines);
  set.lines -= n;
  lines_ -= n;
  while (lines != 0) {
    const std::uint64_t stamp = stamps >> std::countr_zero(lines) & 15;
    const std::uint64_t same = stamped(stamps, stamp, lines);
    set.of_stamp[stamp] = static_cast<std::uint16_t>(set.of_stamp[stamp] - std::popcount(same));
    lines &= ~same;
  }
}

void L2Directory::make_newest(std::uint32_t frame, int word, std::uint64_t lines) {
  Frame& f = frames_[frame];
  discount(sets_[f.set], f.stamp[static_cast<std::size_t>(word)], lines);
  stamp_now(frame, word, lines);
}

// Stamps lines that are not counted.
void L2Directory::stamp_now(std::uint32_t frame, int word, std::uint64_t lines) {
  Frame& f = frames_[frame];
  std::uint64_t& stamps = f.stamp[static_cast<std::size_t>(word)];
  stamps = (stamps & ~(lines * 15)) | lines * sets_[f.set].now;
  count_now(f.set, std::popcount(lines));
}

// Counts lines that were stamped. Once a twelfth of the set has a stamp the next one begins.
void L2Directory::count_now(std::uint32_t number, std::int64_t lines) {
  Set& set = sets_[number];
  set.lines += static_cast<std::int32_t>(lines);
  lines_ += lines;
  set.of_stamp[set.now] = static_cast<std::uint16_t>(set.of_stamp[set.now] + lines);
  if (set.of_stamp[set.now] * kTurnover < set.capacity) { return; }
  if (set.of_stamp[(set.now + 1) % kStamps] != 0) { restamp(number); }
  set.now = (set.now + 1) % kStamps;
}

// Gives out stamps anew, from 0 for the least recently used on: those that no line has any more are
// free again, and neighbours with few lines become one until some are free for what comes.
void L2Directory::restamp(std::uint32_t number) {
  struct Group {
    unsigned stamps;  // one bit each
    int lines;
  };

  Set& set = sets_[number];
  std::vector<Group> groups;
  for (std::uint64_t n = 1; n <= kStamps; ++n) {
    const std::uint64_t stamp = (set.now + n) % kStamps;
    const int lines = set.of_stamp[stamp];
    if (lines == 0) { continue; }
    if (!groups.empty() && (groups.back().lines + lines) * kTurnover <= set.capacity) {
      groups.back().stamps |= 1U << stamp;
      groups.back().lines += lines;
    } else {
      groups.push_back({1U << stamp, lines});
    }
  }
  while (groups.size() > kTurnover) {
    const auto both = [&](std::size_t n) { return groups[n].lines + groups[n + 1].lines; };
    std::size_t least = 0;
    for (std::size_t n = 1; n + 1 < groups.size(); ++n) {
      least = both(n) < both(least) ? n : least;
    }
    groups[least] = {groups[least].stamps | groups[least + 1].stamps, both(least)};
    groups.erase(groups.begin() + static_cast<std::ptrdiff_t>(least) + 1);
  }
  const auto unnamed = set.unnamed;
  set.of_stamp = set.unnamed = {};
  std::array<std::uint64_t, kStamps> becomes{};
  for (std::size_t n = 0; n < groups.size(); ++n) {
    set.of_stamp[n] = static_cast<std::uint16_t>(groups[n].lines);
    for (unsigned rest = groups[n].stamps; rest != 0; rest &= rest - 1) {
      const auto stamp = static_cast<std::size_t>(std::countr_zero(rest));
      becomes[stamp] = n;
      set.unnamed[n] = static_cast<std::uint16_t>(set.unnamed[n] + unnamed[stamp]);
    }
  }
  set.now = groups.size() - 1;
  for_each_frame_of(number, [&](std::uint32_t frame) {
    Frame& f = frames_[frame];
    for (std::size_t w = 0; w < 2; ++w) {
      std::uint64_t left = any_of_line(f.valid[w]), stamps = 0;
      while (left != 0) {
        const std::uint64_t stamp = f.stamp[w] >> std::countr_zero(left) & 15;
        const std::uint64_t same = stamped(f.stamp[w], stamp, left);
        stamps |= same * becomes[stamp];
        left &= ~same;
      }
      f.stamp[w] = stamps;
    }
  });
}

void L2Directory::install(std::uint32_t frame, int word, std::uint64_t sectors,
                          std::uint64_t dirty) {
  const auto w = static_cast<std::size_t>(word);
  Frame& f = frames_[frame];
  const std::uint64_t before = any_of_line(f.valid[w]);
  const std::uint64_t fresh = any_of_line(sectors) & ~before;
  f.valid[w] |= sectors;
  dirty_sectors_ += std::popcount(dirty & ~f.dirty[w]);
  f.dirty[w] |= dirty;
  if (fresh != 0) { stamp_now(frame, word, fresh); }
  touch(frame, word, sectors & before * 15);
}

// The stamp of the oldest lines of the set outside the page `keep`; -1 if there are none.
int L2Directory::oldest_stamp(const Set& set, std::uint32_t keep) const {
  for (std::uint64_t n = 1; n <= kStamps; ++n) {
    const std::uint64_t stamp = (set.now + n) % kStamps;
    int lines = set.of_stamp[stamp];
    if (lines == 0) { continue; }
    for (std::size_t w = 0; w < 2 && keep != kNoFrame; ++w) {
      const Frame& f = frames_[keep];
      lines -= std::popcount(stamped(f.stamp[w], stamp, any_of_line(f.valid[w])));
    }
    if (lines > 0) { return static_cast<int>(stamp); }
  }
  return -1;
}

// Takes the lines with this stamp out of the page; returns their dirty sectors. A page of which
// nothing is left is dropped.
Sectors L2Directory::evict(std::uint32_t frame, std::uint64_t stamp) {
  Frame& f = frames_[frame];
  Set& set = sets_[f.set];
  Sectors dirty{};
  int gone = 0;
  for (std::size_t w = 0; w < 2; ++w) {
    const std::uint64_t lines = stamped(f.stamp[w], stamp, any_of_line(f.valid[w]));
    gone += std::popcount(lines);
    dirty[w] = f.dirty[w] & lines * 15;
    f.dirty[w] &= ~(lines * 15);
    f.valid[w] &= ~(lines * 15);
  }
  if (gone == 0) { return dirty; }
  set.lines -= gone;
  lines_ -= gone;
  set.of_stamp[stamp] = static_cast<std::uint16_t>(set.of_stamp[stamp] - gone);
  dirty_sectors_ -= sectors_of(dirty);
  if ((f.valid[0] | f.valid[1]) == 0) { drop(frame); }
  return dirty;
}

void L2Directory::evict_unnamed(Set& set, std::uint64_t stamp) {
  const int gone = std::exchange(set.unnamed[stamp], std::uint16_t{0});
  set.of_stamp[stamp] = static_cast<std::uint16_t>(set.of_stamp[stamp] - gone);
  set.lines -= gone;
  lines_ -= gone;
}

// Nothing of the page is held any more.
void L2Directory::drop(std::uint32_t frame) {
  const std::uint32_t number = frames_[frame].set;
  if (frame < number * kSlots + kSlots) {
    sets_[number].used &= ~(1U << (frame - number * kSlots));
  } else {
    std::vector<std::uint32_t>& more = more_[number];
    *std::find(more.begin(), more.end(), frame) = more.back();
    more.pop_back();
    free_frames_.push_back(frame);
  }
  table_.erase(frames_[frame].page);
  frames_[frame].page = -1;
  --pages_;
}

void L2Directory::invalidate(std::int64_t page, const Sectors& sectors) {
  const std::uint32_t frame = table_.find(page);
  if (frame == kNoFrame) { return; }
  Frame& f = frames_[frame];
  for (std::size_t w = 0; w < 2; ++w) {
    const std::uint64_t before = any_of_line(f.valid[w]);
    dirty_sectors_ -= std::popcount(f.dirty[w] & sectors[w]);
    f.valid[w] &= ~sectors[w];
    f.dirty[w] &= ~sectors[w];
    discount(sets_[f.set], f.stamp[w], before & ~any_of_line(f.valid[w]));
  }
  if ((f.valid[0] | f.valid[1]) == 0) { drop(frame); }
}

void L2Directory::forget(std::int64_t page) { invalidate(page, {~0ULL, ~0ULL}); }

std::vector<L2Directory::PageState> L2Directory::pages_within(
    const std::vector<Range>& ranges) const {
  struct Used {
    std::uint64_t order;
    PageState lines;
  };

  std::vector<Used> used;
  for_each_frame_within(ranges, [&](std::size_t, std::uint32_t n) {
    const Frame& f = frames_[n];
    Sectors left{any_of_line(f.valid[0]), any_of_line(f.valid[1])};
    while ((left[0] | left[1]) != 0) {
      const std::size_t first = left[0] != 0 ? 0 : 1;
      const std::uint64_t stamp = f.stamp[first] >> std::countr_zero(left[first]) & 15;
      Used u{(stamp - sets_[f.set].now - 1) % kStamps, {f.page, {}, {}}};
      for (std::size_t w = 0; w < 2; ++w) {
        const std::uint64_t same = stamped(f.stamp[w], stamp, left[w]);
        u.lines.valid[w] = f.valid[w] & same * 15;
        u.lines.dirty[w] = f.dirty[w] & same * 15;
        left[w] &= ~same;
      }
      used.push_back(u);
    }
  });
  const auto before = [](const Used& a, const Used& b) {
    return a.order != b.order ? a.order < b.order : a.lines.page < b.lines.page;
  };
  const auto same = [](const Used& a, const Used& b) {
    return a.order == b.order && a.lines.page == b.lines.page;
  };
  std::sort(used.begin(), used.end(), before);
  used.erase(std::unique(used.begin(), used.end(), same), used.end());  // ranges may overlap
  std::vector<PageState> pages;
  for (const Used& u : used) { pages.push_back(u.lines); }
  return pages;
}

void L2Directory::restore(const PageState& state) {
  const std::uint32_t frame = find_or_claim(state.page);
  for (int word = 0; word < 2; ++word) {
    const auto w = static_cast<std::size_t>(word);
    if (state.valid[w] != 0) { install(frame, word, state.valid[w], state.dirty[w]); }
  }
  if (overfull(frame)) {
    shrink(frame, [](std::int64_t, const Sectors&) {});
  }
}

void L2Directory::keep(const Range& range) {
  if (range.last <= range.first || (is_kept(range.first) && is_kept(range.last - 1))) { return; }
  kept_.push_back(range);
  kept_pages_ += range.last - range.first;
  std::sort(kept_.begin(), kept_.end(),
            [](const Range& a, const Range& b) { return a.first < b.first; });
}

bool L2Directory::is_kept(std::int64_t page) const {
  const auto after = std::upper_bound(
      kept_.begin(), kept_.end(), page,
      [](std::int64_t p, const Range& range) { return p < range.first; });
  return after != kept_.begin() && page < std::prev(after)->last;
}

std::int64_t L2Directory::kept_lines(std::uint32_t set) {
  std::int64_t lines = 0;
  for_each_frame_of(set, [&](std::uint32_t frame) {
    const Frame& f = frames_[frame];
    if (is_kept(f.page)) { lines += lines_of(f.valid); }
  });
  return lines;
}

// Before lines of a set have to leave: those that are kept count as used just now, so that they are
// the last to go. Not if a set has more of them than its part of what is set aside, unless that is
// enough for all that is kept (some sets have more than others), or hardly any room for others:
// then they go as all others do.
void L2Directory::renew_kept(std::uint32_t set) {
  const std::int64_t capacity = sets_[set].capacity;
  const bool all_fit = kept_pages_ * kLinesPerPage <= set_aside_;
  const std::int64_t share = set_aside_ * capacity / std::max<std::int64_t>(1, capacity_);
  if (kept_lines(set) > (all_fit ? capacity * 7 / 8 : share)) { return; }
  for_each_frame_of(set, [&](std::uint32_t frame) {
    const Frame& f = frames_[frame];
    if (!is_kept(f.page)) { return; }
    for (int word = 0; word < 2; ++word) {
      touch(frame, word, f.valid[static_cast<std::size_t>(word)]);
    }
  });
}

void L2Directory::add_unnamed(std::int64_t lines) {
  const auto sets = static_cast<std::int64_t>(sets_.size());
  for (std::uint32_t n = 0; n < sets_.size(); ++n) {
    Set& set = sets_[n];
    std::int64_t left = (n + 1) * lines / sets - n * lines / sets;
    while (left > 0) {
      const std::int64_t some = std::min<std::int64_t>(left, set.capacity / kTurnover + 1);
      left -= some;
      set.unnamed[set.now] = static_cast<std::uint16_t>(set.unnamed[set.now] + some);
      count_now(n, some);
      shrink_set(n, kNoFrame, [](std::int64_t, const Sectors&) {});
    }
  }
}

void L2Directory::fill_with_strangers(bool dirty, std::int64_t kind) {
  const Sectors all{~0ULL, ~0ULL};
  for (std::int64_t n = 0; n * kLinesPerPage < capacity_; ++n) {
    const std::int64_t page = kStrangerPage + (kind << kKindShift) +
                              n * static_cast<std::int64_t>(partitions_.divisor());
    const Set& set = sets_[set_of(page)];
    if (set.lines + kLinesPerPage <= set.capacity) {
      restore({page, all, dirty ? all : Sectors{}});
    }
  }
}

}  // namespace wavetail::memory
