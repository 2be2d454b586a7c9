// SPDX-License-Identifier: Apache-2.0
// What the L2 holds: tags, valid and dirty sectors, and when lines under way will be there. Tags
// are kept per 4 KiB page with a bitmap of its 128 sectors; the capacity is counted in 128-byte
// lines and the least recently used page leaves first. For dense streams this is what a
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
  static constexpr std::uint32_t kNoFrame = PageTable::kAbsent;

  explicit L2Directory(std::int64_t capacity_lines);

  // The frame of `page`, made the most recently used; kNoFrame if nothing of the page is held.
  [[nodiscard]] std::uint32_t find(std::int64_t page);
  // As find, but claims a frame if there is none.
  [[nodiscard]] std::uint32_t find_or_claim(std::int64_t page);

  // Of the four sectors of `line` (0..31), which are valid?
  [[nodiscard]] std::uint8_t valid(std::uint32_t frame, int line) const {
    return static_cast<std::uint8_t>(
        (valid_[frame][static_cast<std::size_t>(line >> 4)] >> ((line & 15) * 4)) & 15);
  }

  // Marks sectors of a line valid (and dirty).
  void install(std::uint32_t frame, int line, std::uint8_t sectors, bool dirty);

  // When the line's data are there; not later than `now` for lines that have long arrived.
  [[nodiscard]] Time ready(std::uint32_t frame, int line) const {
    return ready_[frame][static_cast<std::size_t>(line)];
  }

  [[nodiscard]] Time latest_ready(std::uint32_t frame) const { return latest_ready_[frame]; }

  void set_ready(std::uint32_t frame, int line, Time t) {
    ready_[frame][static_cast<std::size_t>(line)] = t;
    latest_ready_[frame] = std::max(latest_ready_[frame], t);
  }

  // Evicts until the capacity holds; calls written_back(page, dirty sectors) for every dirty
  // victim. `keep` is never evicted.
  template <class WrittenBack>
  void shrink(std::uint32_t keep, WrittenBack&& written_back) {
    while (lines_ > capacity_) {
      std::uint32_t victim = oldest_;
      if (victim == keep) { victim = newer_[victim]; }
      if (victim == kNoFrame) { return; }
      if ((dirty_[victim][0] | dirty_[victim][1]) != 0) {
        written_back(page_[victim], dirty_[victim]);
      }
      drop(victim);
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

  // Lines held and sectors dirty within each range; one pass over the directory.
  [[nodiscard]] std::vector<Census> census(const std::vector<Range>& ranges) const;

  // Fills the whole cache with lines of addresses that no array uses.
  void fill_with_strangers(bool dirty);

  [[nodiscard]] std::int64_t lines() const { return lines_; }

  [[nodiscard]] std::int64_t dirty_sectors() const { return dirty_sectors_; }

  [[nodiscard]] std::int64_t capacity_lines() const { return capacity_; }

 private:
  void unlink(std::uint32_t frame);
  void make_newest(std::uint32_t frame);
  void drop(std::uint32_t frame);

  std::int64_t capacity_;
  std::int64_t lines_ = 0, dirty_sectors_ = 0;
  PageTable table_;
  std::vector<std::int64_t> page_;  // -1: free
  std::vector<std::uint32_t> older_, newer_;
  std::vector<Sectors> valid_, dirty_;
  std::vector<Time> latest_ready_;
  std::vector<std::array<Time, kLinesPerPage>> ready_;
  std::vector<std::uint32_t> free_frames_;
  std::uint32_t oldest_ = kNoFrame, newest_ = kNoFrame;
};

}  // namespace wavetail::memory
