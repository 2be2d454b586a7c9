// SPDX-License-Identifier: Apache-2.0
#include "memory/l2_directory.h"

#include <bit>

namespace wavetail::memory {

namespace {

constexpr std::int64_t kStrangerPage = std::int64_t{1} << 42;

// One bit per line that has any of its four sectors set.
std::int64_t lines_of(const L2Directory::Sectors& s) {
  std::int64_t n = 0;
  for (std::uint64_t w : s) {
    w |= w >> 1;
    w |= w >> 2;
    n += std::popcount(w & 0x1111111111111111ULL);
  }
  return n;
}

std::int64_t sectors_of(const L2Directory::Sectors& s) {
  return std::popcount(s[0]) + std::popcount(s[1]);
}

}  // namespace

// In the worst case every page holds a single line: there can be as many frames as lines. They are
// made when first needed.
L2Directory::L2Directory(std::int64_t capacity_lines)
    : capacity_(capacity_lines), table_(static_cast<std::size_t>(capacity_lines) / 4 + 64) {}

std::uint32_t L2Directory::find(std::int64_t page) {
  const std::uint32_t frame = table_.find(page);
  if (frame != kNoFrame && frame != newest_) {
    unlink(frame);
    make_newest(frame);
  }
  return frame;
}

std::uint32_t L2Directory::find_or_claim(std::int64_t page) {
  std::uint32_t frame = find(page);
  if (frame != kNoFrame) { return frame; }
  if (free_frames_.empty()) {
    frame = static_cast<std::uint32_t>(page_.size());
    page_.push_back(page);
    older_.push_back(kNoFrame);
    newer_.push_back(kNoFrame);
    valid_.emplace_back();
    dirty_.emplace_back();
    latest_ready_.emplace_back();
    ready_.emplace_back();
  } else {
    frame = free_frames_.back();
    free_frames_.pop_back();
    page_[frame] = page;
  }
  valid_[frame] = dirty_[frame] = {0, 0};
  latest_ready_[frame] = Time{};
  table_.insert(page, frame);
  make_newest(frame);
  return frame;
}

void L2Directory::install(std::uint32_t frame, int line, std::uint8_t sectors, bool dirty) {
  const auto word = static_cast<std::size_t>(line >> 4);
  const int shift = (line & 15) * 4;
  std::uint64_t& v = valid_[frame][word];
  if (((v >> shift) & 15) == 0) {
    ++lines_;
    ready_[frame][static_cast<std::size_t>(line)] = Time{};
  }
  const std::uint64_t bits = static_cast<std::uint64_t>(sectors) << shift;
  v |= bits;
  if (dirty) {
    std::uint64_t& d = dirty_[frame][word];
    dirty_sectors_ += std::popcount(bits & ~d);
    d |= bits;
  }
}

void L2Directory::unlink(std::uint32_t frame) {
  const std::uint32_t o = older_[frame];
  const std::uint32_t n = newer_[frame];
  (o == kNoFrame ? oldest_ : newer_[o]) = n;
  (n == kNoFrame ? newest_ : older_[n]) = o;
}

void L2Directory::make_newest(std::uint32_t frame) {
  older_[frame] = newest_;
  newer_[frame] = kNoFrame;
  (newest_ == kNoFrame ? oldest_ : newer_[newest_]) = frame;
  newest_ = frame;
}

void L2Directory::drop(std::uint32_t frame) {
  lines_ -= lines_of(valid_[frame]);
  dirty_sectors_ -= sectors_of(dirty_[frame]);
  unlink(frame);
  table_.erase(page_[frame]);
  page_[frame] = -1;
  free_frames_.push_back(frame);
}

std::vector<L2Directory::PageState> L2Directory::pages_within(
    const std::vector<Range>& ranges) const {
  std::vector<PageState> found;
  for (std::uint32_t f = oldest_; f != kNoFrame; f = newer_[f]) {
    const std::int64_t page = page_[f];
    if (std::any_of(ranges.begin(), ranges.end(),
                    [&](const Range& r) { return page >= r.first && page < r.last; })) {
      found.push_back({page, valid_[f], dirty_[f]});
    }
  }
  return found;
}

void L2Directory::restore(const PageState& state) {
  const std::uint32_t frame = find_or_claim(state.page);
  lines_ += lines_of(state.valid) - lines_of(valid_[frame]);
  dirty_sectors_ += sectors_of(state.dirty) - sectors_of(dirty_[frame]);
  valid_[frame] = state.valid;
  dirty_[frame] = state.dirty;
  ready_[frame].fill(Time{});
  latest_ready_[frame] = Time{};
}

std::vector<L2Directory::Census> L2Directory::census(const std::vector<Range>& ranges) const {
  std::vector<Census> counts(ranges.size());
  for (std::size_t f = 0; f < page_.size(); ++f) {
    for (std::size_t r = 0; page_[f] >= 0 && r < ranges.size(); ++r) {
      if (page_[f] >= ranges[r].first && page_[f] < ranges[r].last) {
        counts[r].lines += lines_of(valid_[f]);
        counts[r].dirty_sectors += sectors_of(dirty_[f]);
      }
    }
  }
  return counts;
}

void L2Directory::fill_with_strangers(bool dirty) {
  for (std::int64_t page = kStrangerPage; lines_ + kLinesPerPage <= capacity_; ++page) {
    const Sectors all{~0ULL, ~0ULL};
    restore({page, all, dirty ? all : Sectors{0, 0}});
  }
}

}  // namespace wavetail::memory
