// SPDX-License-Identifier: Apache-2.0
// What one partition of the L2 holds: tags, valid and dirty sectors, and when lines under way will
// be there. Tags are kept per 4 KiB page with a bitmap of its 128 sectors. Pages go round the sets,
// each round from a hashed one on. A set has room for sixteen pages' worth of 128-byte lines and
// knows in which order they were last used to a twelfth of it: the lines that were used last share
// a stamp until they are so many, then the next stamp begins. The oldest leave first, all of a
// stamp together: what a set-associative LRU of sixteen lines does, at a fraction of the look-ups
// (tests/oracle compares the two).
#pragma once

#include <algorithm>
#include <array>
#include <bit>
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

// Of a word with four bits per line: one bit of each, and one of each line that has any.
inline constexpr std::uint64_t kOfEveryLine = 0x1111111111111111ULL;

[[nodiscard]] inline std::uint64_t any_of_line(std::uint64_t bits) {
  bits |= bits >> 1;
  return (bits | bits >> 2) & kOfEveryLine;
}

[[nodiscard]] std::int64_t lines_of(const Sectors& s);
[[nodiscard]] std::int64_t sectors_of(const Sectors& s);

class L2Directory {
 public:
  static constexpr int kLinesPerFill = 4;  // lines whose fills are timed together
  static constexpr std::uint32_t kNoFrame = PageTable::kAbsent;

  struct Range {  // half-open, in pages
    std::int64_t first, last;
  };

  // Whether consecutive pages go round the sets, or each lies in one by chance, as pages do that
  // lie anywhere in physical memory.
  enum class Sets { InTurn, Scattered };

  // One of `partitions` alike; of so many consecutive pages each has one at home (l2.h).
  explicit L2Directory(std::int64_t capacity_lines, std::int64_t partitions = 1,
                       Sets sets = Sets::InTurn);

  // The frame of `page`, an empty one if nothing of it is held.
  [[nodiscard]] std::uint32_t find_or_claim(std::int64_t page);

  // Brings what is known of the page and its set into the host's cache.
  void prefetch(std::int64_t page) const {
    const std::uint32_t frame = table_.find(page);
    if (frame != kNoFrame) {
      __builtin_prefetch(&frames_[frame]);
      __builtin_prefetch(&fills_[frame]);
    }
    __builtin_prefetch(&sets_[set_of(page)]);
  }

  // The valid sectors of the page.
  [[nodiscard]] const Sectors& valid(std::uint32_t frame) const { return frames_[frame].valid; }

  // The same of a page that may be absent.
  [[nodiscard]] Sectors held(std::int64_t page) const {
    const std::uint32_t frame = table_.find(page);
    return frame == kNoFrame ? Sectors{} : frames_[frame].valid;
  }

  // The lines of these sectors of word 0 or 1 of the page's bitmap, if they are held, are used now.
  // Those with one of the last two stamps count as that already.
  void touch(std::uint32_t frame, int word, std::uint64_t sectors) {
    const Frame& f = frames_[frame];
    const auto w = static_cast<std::size_t>(word);
    const std::uint64_t now = sets_[f.set].now, before = (now + kStamps - 1) % kStamps;
    const std::uint64_t older = any_of_line(f.stamp[w] ^ now * kOfEveryLine) &
                                any_of_line(f.stamp[w] ^ before * kOfEveryLine);
    const std::uint64_t lines = older & any_of_line(sectors & f.valid[w]);
    if (lines != 0) { make_newest(frame, word, lines); }
  }

  // Marks sectors of word 0 or 1 of the page's bitmap valid, and some of them dirty; their lines
  // are used now.
  void install(std::uint32_t frame, int word, std::uint64_t sectors, std::uint64_t dirty);

  // Forgets sectors of a page, if they are held: they were written elsewhere.
  void invalidate(std::int64_t page, const Sectors& sectors);

  // When the last fill under way for the group of kLinesPerFill lines is there; in the past if none
  // is.
  [[nodiscard]] Time ready(std::uint32_t frame, int group) const {
    return fills_[frame].ready[static_cast<std::size_t>(group)];
  }

  void set_ready(std::uint32_t frame, int group, Time t) {
    Time& ready = fills_[frame].ready[static_cast<std::size_t>(group)];
    ready = std::max(ready, t);
  }

  // All fills have landed: for a machine whose time begins anew.
  void land() { std::fill(fills_.begin(), fills_.end(), Fills{}); }

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

  // Pages of `range` are kept from now on: their lines leave only if a set holds more of them than
  // its part of what is set aside.
  void keep(const Range& range);

  void set_aside(std::int64_t lines) { set_aside_ = lines; }

  // Lines of a page as a snapshot sees them.
  struct PageState {
    std::int64_t page = 0;
    Sectors valid{}, dirty{};
  };

  // What is held of the pages that lie in one of the ranges, from the least to the most recently
  // used; lines of a page that were used at different times come apart, those of one stamp by
  // address.
  [[nodiscard]] std::vector<PageState> pages_within(const std::vector<Range>& ranges) const;

  // Makes these lines the most recently used; what there is no room for leaves without being
  // written back.
  void restore(const PageState& state);

  // Takes room for clean lines that nobody will ask for, spread over all sets, as if they had just
  // been used; what there is no room for leaves without being written back.
  void add_unnamed(std::int64_t lines);

  // Forgets a page, if it is held.
  void forget(std::int64_t page);

  // Calls f(range, page, valid sectors, dirty sectors) for every page held that lies in one of the
  // ranges. Its work is that of the ranges or of the directory, whichever is smaller.
  template <class F>
  void for_each_within(const std::vector<Range>& ranges, F&& f) const {
    for_each_frame_within(ranges, [&](std::size_t r, std::uint32_t n) {
      f(r, frames_[n].page, frames_[n].valid, frames_[n].dirty);
    });
  }

  // Fills the whole cache with lines of addresses that no array uses; those of another `kind` are
  // others.
  void fill_with_strangers(bool dirty, std::int64_t kind = 0);

  // Makes every line clean; calls written_back(page, dirty sectors) where some were dirty.
  template <class WrittenBack>
  void clean(WrittenBack&& written_back) {
    for (Frame& f : frames_) {
      if (dirty_sectors_ == 0) { return; }
      const Sectors dirty = std::exchange(f.dirty, Sectors{});
      if ((dirty[0] | dirty[1]) == 0) { continue; }
      dirty_sectors_ -= sectors_of(dirty);
      written_back(f.page, dirty);
    }
  }

  [[nodiscard]] std::int64_t lines() const { return lines_; }

  [[nodiscard]] std::int64_t dirty_sectors() const { return dirty_sectors_; }

  [[nodiscard]] std::int64_t capacity_lines() const { return capacity_; }

 private:
  static constexpr int kStamps = 16;    // more than are needed for lines in the order of their use
  static constexpr int kTurnover = 12;  // stamps in which a set is filled once
  static constexpr int kSlots = 24;     // frames of a set that lie side by side

  struct alignas(64) Set {
    std::int32_t lines = 0, capacity = 0;
    std::uint32_t used = 0;                         // slots with a page, one bit each
    std::uint64_t now = 0;                          // the stamp of lines that are used now
    std::array<std::uint16_t, kStamps> of_stamp{};  // lines; from now + 1 on round to now: from the
                                                    // least to the most recently used
    std::array<std::uint16_t, kStamps> unnamed{};   // those of them that belong to no page

    [[nodiscard]] bool overfull() const { return lines > capacity; }
  };

  struct alignas(64) Frame {
    std::int64_t page = -1;  // -1: free
    std::uint32_t set = 0;
    Sectors valid{}, dirty{};
    Sectors stamp{};  // four bits per line
  };

  struct alignas(64) Fills {
    std::array<Time, kLinesPerPage / kLinesPerFill> ready{};
  };

  // One bit per line of `lines` that has this stamp.
  [[nodiscard]] static std::uint64_t stamped(std::uint64_t stamps, std::uint64_t stamp,
                                             std::uint64_t lines) {
    return lines & ~any_of_line(stamps ^ stamp * kOfEveryLine);
  }

  [[nodiscard]] std::uint32_t set_of(std::int64_t page) const;
  void discount(Set& set, std::uint64_t stamps, std::uint64_t lines);
  void make_newest(std::uint32_t frame, int word, std::uint64_t lines);
  void stamp_now(std::uint32_t frame, int word, std::uint64_t lines);
  void count_now(std::uint32_t set, std::int64_t lines);
  void restamp(std::uint32_t set);
  [[nodiscard]] int oldest_stamp(const Set& set, std::uint32_t keep) const;
  Sectors evict(std::uint32_t frame, std::uint64_t stamp);
  [[nodiscard]] bool is_kept(std::int64_t page) const;
  [[nodiscard]] std::int64_t kept_lines(std::uint32_t set);
  void renew_kept(std::uint32_t set);
  void evict_unnamed(Set& set, std::uint64_t stamp);
  void drop(std::uint32_t frame);

  // Calls f(frame) for the frames of a set; f may drop that one.
  template <class F>
  void for_each_frame_of(std::uint32_t set, F&& f) {
    for (std::uint32_t used = sets_[set].used; used != 0; used &= used - 1) {
      f(set * kSlots + static_cast<std::uint32_t>(std::countr_zero(used)));
    }
    std::vector<std::uint32_t>& more = more_[set];
    for (std::size_t n = more.size(); n-- > 0;) { f(more[n]); }
  }

  template <class WrittenBack>
  void shrink_set(std::uint32_t number, std::uint32_t keep, WrittenBack&& written_back);

  template <class F>
  void for_each_frame_within(const std::vector<Range>& ranges, F&& f) const {
    for (std::size_t r = 0; r < ranges.size(); ++r) {
      const auto [first, last] = ranges[r];
      if (last - first < pages_) {
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
  bool scattered_;
  std::int64_t lines_ = 0, dirty_sectors_ = 0, pages_ = 0;
  std::vector<Range> kept_;     // ascending, apart
  std::int64_t set_aside_ = 0;  // lines
  std::int64_t kept_pages_ = 0;
  PageTable table_;
  // kSlots of each set, then those of sets with more pages.
  std::vector<Frame> frames_;
  std::vector<Fills> fills_;                // likewise
  std::vector<std::uint32_t> free_frames_;  // beyond the slots
  Divider partitions_, sets_divider_;
  std::vector<Set> sets_;
  std::vector<std::vector<std::uint32_t>> more_;  // frames of a set beyond its slots
};

template <class WrittenBack>
void L2Directory::shrink_set(std::uint32_t number, std::uint32_t keep, WrittenBack&& written_back) {
  if (!kept_.empty() && sets_[number].overfull()) { renew_kept(number); }
  while (sets_[number].overfull()) {
    const int oldest = oldest_stamp(sets_[number], keep);
    if (oldest < 0) { return; }
    evict_unnamed(sets_[number], static_cast<std::uint64_t>(oldest));
    for_each_frame_of(number, [&](std::uint32_t frame) {
      if (frame == keep) { return; }
      const std::int64_t page = frames_[frame].page;
      const Sectors dirty = evict(frame, static_cast<std::uint64_t>(oldest));
      if ((dirty[0] | dirty[1]) != 0) { written_back(page, dirty); }
    });
  }
}

}  // namespace wavetail::memory
