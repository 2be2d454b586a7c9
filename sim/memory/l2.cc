// SPDX-License-Identifier: Apache-2.0
#include "memory/l2.h"

namespace wavetail::memory {

L2::L2(std::int64_t capacity_lines, std::int64_t partitions)
    : capacity_(capacity_lines), divider_(static_cast<std::uint64_t>(partitions)) {
  for (std::int64_t side = 0; side < partitions; ++side) {
    partitions_.emplace_back(
        (side + 1) * capacity_lines / partitions - side * capacity_lines / partitions, partitions);
  }
}

std::vector<L2::PageState> L2::pages_within(const std::vector<Range>& ranges) const {
  std::vector<PageState> pages;
  for (std::uint64_t side = 0; side < partitions_.size(); ++side) {
    for (const L2Directory::PageState& page : partitions_[side].pages_within(ranges)) {
      pages.push_back(
          {page, (side + partitions_.size() - home_of(page.page)) % partitions_.size()});
    }
  }
  return pages;
}

std::vector<L2::Census> L2::census(const std::vector<Range>& ranges) const {
  std::vector<Census> sum(ranges.size());
  for (std::uint64_t side = 0; side < partitions_.size(); ++side) {
    partitions_[side].for_each_within(
        ranges, [&](std::size_t r, std::int64_t page, Sectors valid, const Sectors& dirty) {
          const std::uint64_t home = home_of(page);
          if (home != side) {
            const Sectors there = partitions_[home].held(page);
            for (std::size_t w = 0; w < valid.size(); ++w) { valid[w] &= ~there[w]; }
          }
          sum[r].lines += lines_of(valid);
          sum[r].dirty_sectors += sectors_of(dirty);
        });
  }
  return sum;
}

std::int64_t L2::lines() const {
  std::int64_t sum = 0;
  for (const L2Directory& partition : partitions_) { sum += partition.lines(); }
  return sum;
}

std::int64_t L2::dirty_sectors() const {
  std::int64_t sum = 0;
  for (const L2Directory& partition : partitions_) { sum += partition.dirty_sectors(); }
  return sum;
}

void L2::fill_with_strangers(bool dirty) {
  for (L2Directory& partition : partitions_) { partition.fill_with_strangers(dirty); }
}

}  // namespace wavetail::memory
