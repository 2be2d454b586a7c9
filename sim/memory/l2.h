// SPDX-License-Identifier: Apache-2.0
// The L2: one or more partitions, each a cache of its own for the SMs beside it. Every page has a
// home, the partition whose channels lead to its DRAM: reads from the other side look into the
// reader's own partition first and leave a copy there, so that a line which all SMs read takes room
// in every partition. Writes go home and take the copies away.
#pragma once

#include <cstdint>
#include <vector>

#include "memory/divider.h"
#include "memory/l2_directory.h"

namespace wavetail::memory {

class L2 {
 public:
  L2(std::int64_t capacity_lines, std::int64_t partitions);

  // Of so many consecutive pages as there are partitions each has one, in an order that changes
  // from group to group.
  [[nodiscard]] std::uint64_t home_of(std::int64_t page) const {
    const auto n = static_cast<std::uint64_t>(page);
    if (divider_.divisor() == 1) { return 0; }
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

  [[nodiscard]] std::uint64_t partitions() const { return partitions_.size(); }

  // A page as a snapshot sees it. `from_home`: how many partitions further than its home.
  struct PageState : L2Directory::PageState {
    std::uint64_t from_home = 0;
  };

  using Range = L2Directory::Range;

  struct Census {
    std::int64_t lines = 0, dirty_sectors = 0;
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

  // Forgets what the page's partition holds of it.
  void forget(const PageState& state) { holder(state).forget(state.page); }

  // Makes these lines the most recently used of the page's partition; what there is no room for
  // leaves without being written back.
  void restore(const PageState& state) { holder(state).restore(state); }

  // The same with clean lines that nobody will ask for.
  void add_unnamed(std::uint64_t side, std::int64_t lines) { partitions_[side].add_unnamed(lines); }

  // Fills all partitions with lines of addresses that no array uses.
  void fill_with_strangers(bool dirty);

 private:
  L2Directory& holder(const PageState& state) {
    return partitions_[(home_of(state.page) + state.from_home) % partitions_.size()];
  }

  std::int64_t capacity_;
  Divider divider_;
  std::vector<L2Directory> partitions_;
};

}  // namespace wavetail::memory
