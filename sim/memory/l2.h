// SPDX-License-Identifier: Apache-2.0
// The L2: one or more partitions, each a cache of its own for the SMs beside it. Every page has a
// home, the partition whose channels lead to its DRAM: reads from the other side look into the
// reader's own partition first and leave a copy there, so that a line which all SMs read takes room
// in every partition. Writes go home and take the copies away.
//
// With a memory-side cache the partitions are private: each keeps what its SMs read and write, for
// itself. The cache beyond them is the home of all pages and counts as one more partition here. It
// never holds dirty lines: what an L2 writes back goes on to DRAM and leaves a clean copy in it.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/divider.h"
#include "memory/l2_directory.h"

namespace wavetail::memory {

class L2 {
 public:
  // `memory_side_lines`: of the memory-side cache; 0: there is none.
  L2(std::int64_t capacity_lines, std::int64_t partitions, std::int64_t memory_side_lines = 0);

  // Of so many consecutive pages as there are partitions each has one, in an order that changes
  // from group to group.
  [[nodiscard]] std::uint64_t home_of(std::int64_t page) const {
    const auto n = static_cast<std::uint64_t>(page);
    if (divider_.divisor() == 1) { return only_home_; }
    return divider_.remainder(n + (mix(divider_.quotient(n)) >> 24));
  }

  // Brings what a reader beside partition `side` will look up into the host's cache.
  void prefetch(std::uint64_t side, std::int64_t page) const {
    const std::uint64_t home = home_of(page);
    partitions_[home].prefetch(page);
    if (side != home) { partitions_[side].prefetch(page); }
  }

  [[nodiscard]] L2Directory& partition(std::uint64_t side) { return partitions_[side]; }

  [[nodiscard]] const L2Directory& partition(std::uint64_t side) const { return partitions_[side]; }

  // The memory-side cache included.
  [[nodiscard]] std::uint64_t partitions() const { return partitions_.size(); }

  [[nodiscard]] bool has_memory_side() const { return has_memory_side_; }

  // The number of the memory-side cache among the partitions.
  [[nodiscard]] std::uint64_t memory_side() const { return partitions_.size() - 1; }

  // The partition in which an SM beside partition `side` looks for the page in the end, and which
  // takes its stores.
  [[nodiscard]] std::uint64_t home_for(std::uint64_t side, std::int64_t page) const {
    return has_memory_side_ ? side : home_of(page);
  }

  // A page as a snapshot sees it. `from_home`: how many partitions further than its home.
  struct PageState : L2Directory::PageState {
    std::uint64_t from_home = 0;
  };

  using Range = L2Directory::Range;

  struct Census {
    std::int64_t lines = 0, dirty_sectors = 0;
    std::int64_t private_lines = 0;  // in private partitions, each as often as it is held
  };

  // What is held of the pages that lie in one of the ranges, copies too, of each partition from the
  // least to the most recently used.
  [[nodiscard]] std::vector<PageState> pages_within(const std::vector<Range>& ranges) const;
  // Lines of the ranges that are held, each once, and dirty sectors.
  [[nodiscard]] std::vector<Census> census(const std::vector<Range>& ranges) const;
  // The following are sums over the partitions, copies included.
  [[nodiscard]] std::int64_t lines() const;
  [[nodiscard]] std::int64_t dirty_sectors() const;

  [[nodiscard]] std::int64_t capacity_lines() const { return capacity_; }

  // Of private partitions; 0 where there are none.
  [[nodiscard]] std::int64_t private_lines() const {
    return has_memory_side_ ? lines() - partitions_.back().lines() : 0;
  }

  [[nodiscard]] std::int64_t private_capacity_lines() const {
    return has_memory_side_ ? capacity_ - partitions_.back().capacity_lines() : 0;
  }

  // Forgets what the page's partition holds of it.
  void forget(const PageState& state) { holder(state).forget(state.page); }

  // Makes these lines the most recently used of the page's partition; what there is no room for
  // leaves without being written back.
  void restore(const PageState& state) { holder(state).restore(state); }

  // The same with clean lines that nobody will ask for.
  void add_unnamed(std::uint64_t side, std::int64_t lines) { partitions_[side].add_unnamed(lines); }

  // So many lines may be kept of pages named to keep(), in every partition, up to three quarters of
  // it: each may hold copies of all.
  void set_aside(std::int64_t lines);
  // Lines of this range, once they are held, leave only if there are more of the kind than set
  // aside.
  void keep(std::int64_t address, std::int64_t bytes);

  // All fills have landed: for a machine whose time begins anew.
  void land() {
    for (L2Directory& p : partitions_) { p.land(); }
  }

  // Fills all partitions with lines of addresses that no array uses.
  void fill_with_strangers(bool dirty);

 private:
  L2Directory& holder(const PageState& state) {
    return partitions_[(home_of(state.page) + state.from_home) % partitions_.size()];
  }

  std::int64_t capacity_;  // of all partitions
  bool has_memory_side_;
  Divider divider_;
  std::uint64_t only_home_;  // where all pages have the same
  std::vector<L2Directory> partitions_;
};

}  // namespace wavetail::memory
