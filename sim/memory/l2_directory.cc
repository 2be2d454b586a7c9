// SPDX-License-Identifier: Apache-2.0
#include "memory/l2_directory.h"

#include <algorithm>
#include <bit>

namespace wavetail::memory {

namespace {

constexpr std::int64_t kStrangerPage = std::int64_t{1} << 42;
constexpr std::int64_t kPagesPerSet = 16;
constexpr std::uint64_t kOnes = 0x1111111111111111ULL;  // one per line

// One bit per line that has any of its four sectors set.
std::uint64_t lines_with_any(std::uint64_t sectors) {
  sectors |= sectors >> 1;
  return (sectors | sectors >> 2) & kOnes;
}

}  // namespace

std::int64_t lines_of(const Sectors& s) {
  return std::popcount(lines_with_any(s[0])) + std::popcount(lines_with_any(s[1]));
}

std::int64_t sectors_of(const Sectors& s) { return std::popcount(s[0]) + std::popcount(s[1]); }

L2Directory::L2Directory(std::int64_t capacity_lines, std::int64_t partitions)
    : capacity_(capacity_lines),
      table_(static_cast<std::size_t>(capacity_lines / kLinesPerPage) + 64),
      partitions_(static_cast<std::uint64_t>(partitions)),
      sets_divider_(static_cast<std::uint64_t>(
          std::max<std::int64_t>(1, capacity_lines / kLinesPerPage / kPagesPerSet))),
      sets_(sets_divider_.divisor()) {
  const auto sets = static_cast<std::int64_t>(sets_.size());
  for (std::int64_t n = 0; n < sets; ++n) {
    sets_[static_cast<std::size_t>(n)].capacity = (n + 1) * capacity_ / sets - n * capacity_ / sets;
  }
}

// Pages that are neighbours to this partition go to neighbouring sets.
std::uint32_t L2Directory::set_of(std::int64_t page) const {
  const std::uint64_t n = partitions_.quotient(static_cast<std::uint64_t>(page));
  return static_cast<std::uint32_t>(
      sets_divider_.remainder(n + (mix(sets_divider_.quotient(n)) >> 24)));
}

// There are as many frames as pages in use; in the worst case every page holds a single line.
std::uint32_t L2Directory::find_or_claim(std::int64_t page) {
  std::uint32_t frame = table_.find(page);
  if (frame != kNoFrame) { return frame; }
  if (free_frames_.empty()) {
    frame = static_cast<std::uint32_t>(frames_.size());
    frames_.emplace_back();
  } else {
    frame = free_frames_.back();
    free_frames_.pop_back();
    frames_[frame] = Frame{};
  }
  frames_[frame].page = page;
  frames_[frame].set = set_of(page);
  sets_[frames_[frame].set].frames.push_back(frame);
  table_.insert(page, frame);
  return frame;
}

void L2Directory::add_lines(std::uint32_t frame, std::int64_t lines) {
  lines_ += lines;
  sets_[frames_[frame].set].lines += lines;
}

// The lines with an age in `ages`, a part of the page's own, become the newest.
void L2Directory::make_newest(std::uint32_t frame, int word, std::uint64_t ages) {
  if (ages == 0) { return; }
  frames_[frame].age[static_cast<std::size_t>(word)] &= ~ages;
  move_lines(frames_[frame].set, std::popcount(lines_with_any(ages)));
}

// Once a twelfth of the set has become the newest every line is older by one.
void L2Directory::move_lines(std::uint32_t number, std::int64_t lines) {
  Set& set = sets_[number];
  set.moved += lines;
  while (set.moved * kTurnover >= set.capacity) {
    set.moved -= std::max<std::int64_t>(1, set.capacity / kTurnover);
    for (const std::uint32_t frame : set.frames) {
      for (std::uint64_t& age : frames_[frame].age) {
        age += kOnes & ~(age & age >> 1 & age >> 2 & age >> 3);  // 15 is the oldest
      }
    }
  }
}

void L2Directory::install(std::uint32_t frame, int word, std::uint64_t sectors,
                          std::uint64_t dirty) {
  const auto w = static_cast<std::size_t>(word);
  Frame& f = frames_[frame];
  const std::uint64_t before = lines_with_any(f.valid[w]);
  const std::uint64_t fresh = lines_with_any(sectors) & ~before;
  f.valid[w] |= sectors;
  dirty_sectors_ += std::popcount(dirty & ~f.dirty[w]);
  f.dirty[w] |= dirty;
  if (fresh != 0) {
    add_lines(frame, std::popcount(fresh));
    f.age[w] &= ~(fresh * 15);
    move_lines(f.set, std::popcount(fresh));
  }
  touch(frame, word, sectors & before * 15);
}

// The age of the oldest lines of the set outside the page `keep`; -1 if there are none.
int L2Directory::oldest_age(const Set& set, std::uint32_t keep) const {
  int age = 0;
  bool any = false;
  for (int bit = 8; bit != 0; bit >>= 1) {  // from the highest bit on: which ages are there at all?
    const int candidate = age | bit;
    bool found = false;
    for (const std::uint32_t frame : set.frames) {
      if (frame == keep) { continue; }
      for (std::size_t w = 0; w < 2; ++w) {
        const std::uint64_t lines = lines_with_any(frames_[frame].valid[w]);
        any = any || lines != 0;
        std::uint64_t match = lines;
        for (int b = 8; b >= bit; b >>= 1) {
          const std::uint64_t has = frames_[frame].age[w] >>
                                    std::countr_zero(static_cast<unsigned>(b));
          match &= (candidate & b) != 0 ? has : ~has;
        }
        found = found || match != 0;
      }
      if (found) { break; }
    }
    if (found) { age = candidate; }
  }
  return any ? age : -1;
}

// Takes the lines of this age out of the page; returns their dirty sectors. A page of which nothing
// is left is dropped.
Sectors L2Directory::evict(std::uint32_t frame, int age) {
  Frame& f = frames_[frame];
  Sectors dirty{};
  std::int64_t gone = 0;
  for (std::size_t w = 0; w < 2; ++w) {
    std::uint64_t match = lines_with_any(f.valid[w]);
    for (int b = 0; b < 4; ++b) {
      const std::uint64_t has = f.age[w] >> b;
      match &= (age >> b & 1) != 0 ? has : ~has;
    }
    const std::uint64_t sectors = match * 15;
    gone += std::popcount(match);
    dirty[w] = f.dirty[w] & sectors;
    f.dirty[w] &= ~sectors;
    f.valid[w] &= ~sectors;
    f.age[w] &= ~sectors;
  }
  add_lines(frame, -gone);
  dirty_sectors_ -= sectors_of(dirty);
  if ((f.valid[0] | f.valid[1]) == 0) { drop(frame); }
  return dirty;
}

// Nothing of the page is held any more.
void L2Directory::drop(std::uint32_t frame) {
  std::vector<std::uint32_t>& frames = sets_[frames_[frame].set].frames;
  *std::find(frames.begin(), frames.end(), frame) = frames.back();
  frames.pop_back();
  table_.erase(frames_[frame].page);
  frames_[frame].page = -1;
  free_frames_.push_back(frame);
}

void L2Directory::invalidate(std::int64_t page, const Sectors& sectors) {
  const std::uint32_t frame = table_.find(page);
  if (frame == kNoFrame) { return; }
  Frame& f = frames_[frame];
  const std::int64_t before = lines_of(f.valid);
  for (std::size_t w = 0; w < 2; ++w) {
    dirty_sectors_ -= std::popcount(f.dirty[w] & sectors[w]);
    f.valid[w] &= ~sectors[w];
    f.dirty[w] &= ~sectors[w];
  }
  add_lines(frame, lines_of(f.valid) - before);
  if ((f.valid[0] | f.valid[1]) == 0) { drop(frame); }
}

std::vector<L2Directory::PageState> L2Directory::pages_within(
    const std::vector<Range>& ranges) const {
  std::vector<PageState> pages;
  for_each_frame_within(ranges, [&](std::size_t, std::uint32_t n) {
    const Frame& f = frames_[n];
    pages.push_back({f.page, f.valid, f.dirty, f.age});
  });
  const auto by_page = [](const PageState& a, const PageState& b) { return a.page < b.page; };
  const auto same_page = [](const PageState& a, const PageState& b) { return a.page == b.page; };
  std::sort(pages.begin(), pages.end(), by_page);
  pages.erase(std::unique(pages.begin(), pages.end(), same_page), pages.end());
  return pages;
}

void L2Directory::restore(const PageState& state) {
  const std::uint32_t frame = find_or_claim(state.page);
  Frame& f = frames_[frame];
  add_lines(frame, lines_of(state.valid) - lines_of(f.valid));
  dirty_sectors_ += sectors_of(state.dirty) - sectors_of(f.dirty);
  f.valid = state.valid;
  f.dirty = state.dirty;
  f.age = state.age;
  f.ready.fill(Time{});
  if ((f.valid[0] | f.valid[1]) == 0) { drop(frame); }
}

void L2Directory::fill_with_strangers(bool dirty) {
  const Sectors all{~0ULL, ~0ULL};
  for (std::int64_t n = 0; n * kLinesPerPage < capacity_; ++n) {
    const std::int64_t page = kStrangerPage + n * static_cast<std::int64_t>(partitions_.divisor());
    const Set& set = sets_[set_of(page)];
    if (set.lines + kLinesPerPage <= set.capacity) {
      restore({page, all, dirty ? all : Sectors{}, {}});
    }
  }
}

void L2Directory::trim() {
  for (std::uint32_t n = 0; n < sets_.size(); ++n) {
    shrink_set(n, kNoFrame, [](std::int64_t, const Sectors&) {});
  }
}

}  // namespace wavetail::memory
