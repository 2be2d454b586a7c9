// SPDX-License-Identifier: Apache-2.0
#include "memory/l2_directory.h"

#include <algorithm>
#include <bit>
#include <utility>

namespace wavetail::memory {

namespace {

constexpr std::int64_t kStrangerPage = std::int64_t{1} << 42;

// One bit per line that has any of its four sectors set.
std::uint64_t lines_with_any(std::uint64_t sectors) {
  sectors |= sectors >> 1;
  return (sectors | sectors >> 2) & 0x1111111111111111ULL;
}

std::int64_t lines_of(const L2Directory::Sectors& s) {
  return std::popcount(lines_with_any(s[0])) + std::popcount(lines_with_any(s[1]));
}

std::int64_t sectors_of(const L2Directory::Sectors& s) {
  return std::popcount(s[0]) + std::popcount(s[1]);
}

}  // namespace

L2Directory::L2Directory(std::int64_t capacity_lines)
    : capacity_(capacity_lines),
      equally_recent_(capacity_lines / kLinesPerPage / 16),
      table_(static_cast<std::size_t>(capacity_lines / kLinesPerPage) + 64) {}

std::uint32_t L2Directory::find(std::int64_t page) {
  const std::uint32_t frame = table_.find(page);
  if (frame != kNoFrame && claims_ - frames_[frame].used > equally_recent_) {
    unlink(frame);
    make_newest(frame);
  }
  return frame;
}

// There are as many frames as pages in use; in the worst case every page holds a single line.
std::uint32_t L2Directory::find_or_claim(std::int64_t page) {
  std::uint32_t frame = find(page);
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
  ++claims_;
  table_.insert(page, frame);
  make_newest(frame);
  return frame;
}

void L2Directory::install(std::uint32_t frame, int word, std::uint64_t sectors,
                          std::uint64_t dirty) {
  const auto w = static_cast<std::size_t>(word);
  std::uint64_t& v = frames_[frame].valid[w];
  const std::int64_t before = std::popcount(lines_with_any(v));
  v |= sectors;
  lines_ += std::popcount(lines_with_any(v)) - before;
  std::uint64_t& d = frames_[frame].dirty[w];
  dirty_sectors_ += std::popcount(dirty & ~d);
  d |= dirty;
}

L2Directory::Sectors L2Directory::evict_group(std::uint32_t frame) {
  Frame& f = frames_[frame];
  const std::size_t word = f.valid[0] != 0 ? 0 : 1;
  constexpr int kGroup = 4 * kLinesPerFill;
  const int low = f.valid[word] == 0 ? 0 : std::countr_zero(f.valid[word]) & ~(kGroup - 1);
  const std::uint64_t group = ((1ULL << kGroup) - 1) << low;
  Sectors dirty{};
  dirty[word] = f.dirty[word] & group;
  lines_ -= std::popcount(lines_with_any(f.valid[word] & group));
  dirty_sectors_ -= std::popcount(dirty[word]);
  f.valid[word] &= ~group;
  f.dirty[word] &= ~group;
  return dirty;
}

void L2Directory::unlink(std::uint32_t frame) {
  const std::uint32_t o = frames_[frame].older;
  const std::uint32_t n = frames_[frame].newer;
  (o == kNoFrame ? oldest_ : frames_[o].newer) = n;
  (n == kNoFrame ? newest_ : frames_[n].older) = o;
}

void L2Directory::make_newest(std::uint32_t frame) {
  frames_[frame].used = claims_;
  frames_[frame].rank = ++ranks_;
  frames_[frame].older = newest_;
  frames_[frame].newer = kNoFrame;
  (newest_ == kNoFrame ? oldest_ : frames_[newest_].newer) = frame;
  newest_ = frame;
}

void L2Directory::drop(std::uint32_t frame) {
  lines_ -= lines_of(frames_[frame].valid);
  dirty_sectors_ -= sectors_of(frames_[frame].dirty);
  unlink(frame);
  table_.erase(frames_[frame].page);
  frames_[frame].page = -1;
  free_frames_.push_back(frame);
}

template <class F>
void L2Directory::for_each_within(const std::vector<Range>& ranges, F&& f) const {
  const auto frames = static_cast<std::int64_t>(frames_.size() - free_frames_.size());
  for (std::size_t r = 0; r < ranges.size(); ++r) {
    const auto [first, last] = ranges[r];
    if (last - first < frames) {
      for (std::int64_t page = first; page < last; ++page) {
        const std::uint32_t frame = table_.find(page);
        if (frame != kNoFrame) { f(r, frame); }
      }
      continue;
    }
    for (std::uint32_t n = 0; n < frames_.size(); ++n) {
      if (frames_[n].page >= first && frames_[n].page < last) { f(r, n); }
    }
  }
}

std::vector<L2Directory::PageState> L2Directory::pages_within(
    const std::vector<Range>& ranges) const {
  std::vector<std::pair<std::int64_t, std::uint32_t>> found;  // rank, frame
  for_each_within(ranges,
                  [&](std::size_t, std::uint32_t n) { found.emplace_back(frames_[n].rank, n); });
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  std::vector<PageState> pages;
  pages.reserve(found.size());
  for (const auto& [rank, n] : found) {
    pages.push_back({frames_[n].page, frames_[n].valid, frames_[n].dirty});
  }
  return pages;
}

void L2Directory::restore(const PageState& state) {
  const std::uint32_t frame = find_or_claim(state.page);
  unlink(frame);
  make_newest(frame);
  Frame& f = frames_[frame];
  lines_ += lines_of(state.valid) - lines_of(f.valid);
  dirty_sectors_ += sectors_of(state.dirty) - sectors_of(f.dirty);
  f.valid = state.valid;
  f.dirty = state.dirty;
  f.ready.fill(Time{});
}

std::vector<L2Directory::Census> L2Directory::census(const std::vector<Range>& ranges) const {
  std::vector<Census> counts(ranges.size());
  for_each_within(ranges, [&](std::size_t r, std::uint32_t n) {
    counts[r].lines += lines_of(frames_[n].valid);
    counts[r].dirty_sectors += sectors_of(frames_[n].dirty);
  });
  return counts;
}

void L2Directory::fill_with_strangers(bool dirty) {
  for (std::int64_t page = kStrangerPage; lines_ + kLinesPerPage <= capacity_; ++page) {
    const Sectors all{~0ULL, ~0ULL};
    restore({page, all, dirty ? all : Sectors{0, 0}});
  }
}

}  // namespace wavetail::memory
