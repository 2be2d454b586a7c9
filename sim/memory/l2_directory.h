// SPDX-License-Identifier: Apache-2.0
// What one partition of the L2 holds: tags, valid and dirty sectors, and when lines under way will
// be there. Tags are kept per 4 KiB page with a bitmap of its 128 sectors. Pages go round the sets,
// each round from a hashed one on. A set has room for sixteen pages' worth of 128-byte lines; a
// line is as old as twelfths of the set have become newer since it was last used, and the oldest
// leave first: what a set-associative LRU of sixteen lines does, at a fraction of the look-ups
// (tests/oracle compares the two).
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "memory/divider.h"
#include "memory/page_table.h"
#include "unit/quantity.h"

namespace wavetail::memory {

using unit::Time;

inline constexpr int kPageBytes = 4096;
inline constexpr int kLinesPerPage = 32;

using Sectors = std::array<std::uint64_t, 2>;  // one bit per 32 B sector of a page

[[nodiscard]] std::int64_t lines_of(const Sectors& s);
[[nodiscard]] std::int64_t sectors_of(const Sectors& s);

class L2Directory {
 public:
  static constexpr int kLinesPerFill = 4;  // lines whose fills are timed together
  static constexpr std::uint32_t kNoFrame = PageTable::kAbsent;

  // One of `partitions` alike; of so many consecutive pages each has one at home (l2.h).
  explicit L2Directory(std::int64_t capacity_lines, std::int64_t partitions = 1);

  // The frame of `page`, an empty one if nothing of it is held.
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

  // The same of a page that may be absent.
  [[nodiscard]] Sectors held(std::int64_t page) const {
    const std::uint32_t frame = table_.find(page);
    return frame == kNoFrame ? Sectors{} : frames_[frame].valid;
  }

  // The lines of these sectors of word 0 or 1 of the page's bitmap are used now.
  void touch(std::uint32_t frame, int word, std::uint64_t sectors) {
    const std::uint64_t age = frames_[frame].age[static_cast<std::size_t>(word)];
    if (age != 0) { make_newest(frame, word, age & whole_lines_of(sectors)); }
  }

  // Marks sectors of word 0 or 1 of the page's bitmap valid, and some of them dirty; their lines
  // are used now.
  void install(std::uint32_t frame, int word, std::uint64_t sectors, std::uint64_t dirty);

  // Forgets sectors of a page, if they are held: they were written elsewhere.
  void invalidate(std::int64_t page, const Sectors& sectors);

  // When the last fill under way for the group of kLinesPerFill lines is there; in the past if none
  // is.
  [[nodiscard]] Time ready(std::uint32_t frame, int group) const {
    return frames_[frame].ready[static_cast<std::size_t>(group)];
  }

  void set_ready(std::uint32_t frame, int group, Time t) {
    Time& ready = frames_[frame].ready[static_cast<std::size_t>(group)];
    ready = std::max(ready, t);
  }

  // The same for every group that has one of `sectors`.
  void set_ready(std::uint32_t frame, const Sectors& sectors, Time t) {
    for (int group = 0; group < kLinesPerPage / kLinesPerFill; ++group) {
      const std::uint64_t word = sectors[static_cast<std::size_t>(group >> 2)];
      if ((word >> (16 * (group & 3)) & 0xffff) != 0) { set_ready(frame, group, t); }
    }
  }

  // The page's set holds more than it has room for.
  [[nodiscard]] bool overfull(std::uint32_t frame) const {
    return sets_[frames_[frame].set].overfull();
  }

  // Evicts until the set of `keep` holds what it has room for, the oldest lines first; calls
  // written_back(page, dirty sectors) where some are dirty. Nothing of `keep` is evicted.
  template <class WrittenBack>
  void shrink(std::uint32_t keep, WrittenBack&& written_back) {
    shrink_set(frames_[keep].set, keep, written_back);
  }

  // Evicts, without writing back, until all sets hold what they have room for.
  void trim();

  // A page as a snapshot sees it.
  struct PageState {
    std::int64_t page = 0;
    Sectors valid{}, dirty{}, age{};  // four bits per line of each
  };

  struct Range {  // half-open, in pages
    std::int64_t first, last;
  };

  // The pages that lie in one of the ranges, by address.
  [[nodiscard]] std::vector<PageState> pages_within(const std::vector<Range>& ranges) const;
  // Puts a page into exactly this state.
  void restore(const PageState& state);

  // Calls f(range, page, valid sectors, dirty sectors) for every page held that lies in one of the
  // ranges. Its work is that of the ranges or of the directory, whichever is smaller.
  template <class F>
  void for_each_within(const std::vector<Range>& ranges, F&& f) const {
    for_each_frame_within(ranges, [&](std::size_t r, std::uint32_t n) {
      f(r, frames_[n].page, frames_[n].valid, frames_[n].dirty);
    });
  }

  // Fills the whole cache with lines of addresses that no array uses.
  void fill_with_strangers(bool dirty);

  [[nodiscard]] std::int64_t lines() const { return lines_; }

  [[nodiscard]] std::int64_t dirty_sectors() const { return dirty_sectors_; }

  [[nodiscard]] std::int64_t capacity_lines() const { return capacity_; }

 private:
  static constexpr int kTurnover = 12;  // ages in which a set is filled once

  struct Set {
    std::int64_t lines = 0, capacity = 0;
    std::int64_t moved = 0;  // lines that became the newest since ages were last counted up
    std::vector<std::uint32_t> frames;

    [[nodiscard]] bool overfull() const { return lines > capacity; }
  };

  // Two lines of the host's cache; the second one is needed for hits under a fill only.
  struct alignas(128) Frame {
    std::int64_t page = -1;  // -1: free
    std::uint32_t set = 0;
    Sectors valid{}, dirty{}, age{};
    alignas(64) std::array<Time, kLinesPerPage / kLinesPerFill> ready{};
  };

  // All four bits of every line that has one of them set.
  [[nodiscard]] static std::uint64_t whole_lines_of(std::uint64_t sectors) {
    sectors |= sectors >> 1;
    return ((sectors | sectors >> 2) & 0x1111111111111111ULL) * 15;
  }

  [[nodiscard]] std::uint32_t set_of(std::int64_t page) const;
  void add_lines(std::uint32_t frame, std::int64_t lines);
  void make_newest(std::uint32_t frame, int word, std::uint64_t ages);
  void move_lines(std::uint32_t set, std::int64_t lines);
  [[nodiscard]] int oldest_age(const Set& set, std::uint32_t keep) const;
  Sectors evict(std::uint32_t frame, int age);
  void drop(std::uint32_t frame);

  template <class WrittenBack>
  void shrink_set(std::uint32_t number, std::uint32_t keep, WrittenBack&& written_back);

  template <class F>
  void for_each_frame_within(const std::vector<Range>& ranges, F&& f) const {
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

  std::int64_t capacity_;
  std::int64_t lines_ = 0, dirty_sectors_ = 0;
  PageTable table_;
  std::vector<Frame> frames_;
  std::vector<std::uint32_t> free_frames_;
  Divider partitions_, sets_divider_;
  std::vector<Set> sets_;
};

// All lines of the oldest age go at once: in a cycle through more than the set holds the next one to
// be used is among them, and none of them must be spared.
template <class WrittenBack>
void L2Directory::shrink_set(std::uint32_t number, std::uint32_t keep,
                             WrittenBack&& written_back) {
  Set& set = sets_[number];
  while (set.overfull()) {
    const int age = oldest_age(set, keep);
    if (age < 0) { return; }
    for (std::size_t n = 0; n < set.frames.size();) {
      const std::uint32_t frame = set.frames[n];
      if (frame != keep) {
        const std::int64_t page = frames_[frame].page;
        const Sectors dirty = evict(frame, age);
        if ((dirty[0] | dirty[1]) != 0) { written_back(page, dirty); }
        if (frames_[frame].page != page) { continue; }  // it is gone, another one has its place
      }
      ++n;
    }
  }
}

}  // namespace wavetail::memory
