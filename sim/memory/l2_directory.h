// SPDX-License-Identifier: Apache-2.0
// What the L2 holds: tags, valid and dirty sectors, and when lines under way will be there. Tags
// are kept per 4 KiB page with a bitmap of its 128 sectors; the capacity is counted in 128-byte
// lines and the least recently used page leaves first; pages used within the last sixteenth of a
// turnover of the whole cache count as equally recent. For dense streams this is what a
// set-associative LRU with evenly interleaved sets does, at a tenth of the look-ups (tests/oracle
// compares the two).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "memory/page_table.h"
#include "unit/quantity.h"

namespace wavetail::memory {

using unit::Time;

inline constexpr int kPageBytes = 4096;
inline constexpr int kLinesPerPage = 32;

class L2Directory {
 public:
  using Sectors = std::array<std::uint64_t, 2>;  // one bit per 32 B sector of a page
  static constexpr int kLinesPerFill = 4;        // lines whose fills are timed together
  static constexpr std::uint32_t kNoFrame = PageTable::kAbsent;

  explicit L2Directory(std::int64_t capacity_lines);

  // The frame of `page`, made the most recently used; kNoFrame if nothing of the page is held.
  [[nodiscard]] std::uint32_t find(std::int64_t page);
  // As find, but claims a frame if there is none.
  [[nodiscard]] std::uint32_t find_or_claim(std::int64_t page);

  // Brings the page's frame into the host's cache.
  void prefetch(std::int64_t page) const {
    const std::uint32_t frame = table_.find(page);
    if (frame != kNoFrame) {
      __builtin_prefetch(&frames_[frame]);
      __builtin_prefetch(&frames_[frame].ready);
    }
  }

  // The valid sectors of the page.
  [[nodiscard]] const Sectors& valid(std::uint32_t frame) const { return frames_[frame].valid; }

  // Marks sectors of word 0 or 1 of the page's bitmap valid, and some of them dirty.
  void install(std::uint32_t frame, int word, std::uint64_t sectors, std::uint64_t dirty);

  // When the last fill under way for the group of kLinesPerFill lines is there; in the past if none
  // is.
  [[nodiscard]] Time ready(std::uint32_t frame, int group) const {
    return frames_[frame].ready[static_cast<std::size_t>(group)];
  }

  void set_ready(std::uint32_t frame, int group, Time t) {
    Time& ready = frames_[frame].ready[static_cast<std::size_t>(group)];
    ready = std::max(ready, t);
  }

  // Evicts until the capacity holds, a group of kLinesPerFill lines of the oldest page at a time;
  // calls written_back(page, dirty sectors) where some are dirty. `keep` is never evicted.
  template <class WrittenBack>
  void shrink(std::uint32_t keep, WrittenBack&& written_back) {
    while (lines_ > capacity_) {
      const std::uint32_t victim = oldest_ == keep ? frames_[keep].newer : oldest_;
      if (victim == kNoFrame) { return; }
      const Sectors dirty = evict_group(victim);
      if ((dirty[0] | dirty[1]) != 0) { written_back(frames_[victim].page, dirty); }
      if (empty(victim)) { drop(victim); }
    }
  }

  // A page as a snapshot sees it, oldest first.
  struct PageState {
    std::int64_t page;
    Sectors valid, dirty;
  };

  struct Range {  // half-open, in pages
    std::int64_t first, last;
  };

  // The pages that lie in one of the ranges, from the least to the most recently used.
  [[nodiscard]] std::vector<PageState> pages_within(const std::vector<Range>& ranges) const;
  // Puts a page into exactly this state and makes it the most recently used.
  void restore(const PageState& state);

  struct Census {
    std::int64_t lines = 0, dirty_sectors = 0;
  };

  // Lines held and sectors dirty within each range.
  [[nodiscard]] std::vector<Census> census(const std::vector<Range>& ranges) const;

  // Fills the whole cache with lines of addresses that no array uses.
  void fill_with_strangers(bool dirty);

  [[nodiscard]] std::int64_t lines() const { return lines_; }

  [[nodiscard]] std::int64_t dirty_sectors() const { return dirty_sectors_; }

  [[nodiscard]] std::int64_t capacity_lines() const { return capacity_; }

 private:
  // Two lines of the host's cache.
  struct alignas(128) Frame {
    std::int64_t page = -1;  // -1: free
    std::uint32_t older = kNoFrame, newer = kNoFrame;
    Sectors valid{}, dirty{};
    std::int64_t used = 0;  // claims of frames before it was last made the newest
    std::int64_t rank = 0;  // in the order from the oldest to the newest
    alignas(64) std::array<Time, kLinesPerPage / kLinesPerFill> ready{};
  };

  // Takes the lowest group of lines out of the page; returns its dirty sectors.
  Sectors evict_group(std::uint32_t frame);

  [[nodiscard]] bool empty(std::uint32_t frame) const {
    return (frames_[frame].valid[0] | frames_[frame].valid[1]) == 0;
  }

  // Calls f(range, frame) for every frame with a page in one of the ranges. Its
  // work is that of the ranges or of the directory, whichever is smaller.
  template <class F>
  void for_each_within(const std::vector<Range>& ranges, F&& f) const;

  void unlink(std::uint32_t frame);
  void make_newest(std::uint32_t frame);
  void drop(std::uint32_t frame);

  std::int64_t capacity_;
  std::int64_t claims_ = 0, equally_recent_;
  std::int64_t ranks_ = 0;  // given so far
  std::int64_t lines_ = 0, dirty_sectors_ = 0;
  PageTable table_;
  std::vector<Frame> frames_;
  std::vector<std::uint32_t> free_frames_;
  std::uint32_t oldest_ = kNoFrame, newest_ = kNoFrame;
};

}  // namespace wavetail::memory
