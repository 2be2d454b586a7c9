// SPDX-License-Identifier: Apache-2.0
#include "memory/l2.h"

namespace wavetail::memory {

L2::L2(std::int64_t capacity_lines, std::int64_t partitions, std::int64_t memory_side_lines)
    : capacity_(capacity_lines + memory_side_lines),
      has_memory_side_(memory_side_lines > 0),
      divider_(has_memory_side_ ? 1 : static_cast<std::uint64_t>(partitions)),
      only_home_(has_memory_side_ ? static_cast<std::uint64_t>(partitions) : 0) {
  for (std::int64_t side = 0; side < partitions; ++side) {
    partitions_.emplace_back(
        (side + 1) * capacity_lines / partitions - side * capacity_lines / partitions,
        static_cast<std::int64_t>(divider_.divisor()));
  }
  if (has_memory_side_) {
    partitions_.emplace_back(memory_side_lines, 1, L2Directory::Sets::Scattered);
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
          // Each once: at home if it is there, else in the first partition that has it.
          const std::uint64_t home = home_of(page);
          if (has_memory_side_ && side != home) { sum[r].private_lines += lines_of(valid); }
          for (std::uint64_t other = 0; other < partitions_.size() && home != side; ++other) {
            if (other >= side && other != home) { continue; }
            const Sectors there = partitions_[other].held(page);
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

void L2::set_aside(std::int64_t lines) {
  const std::uint64_t caches = partitions_.size() - (has_memory_side_ ? 1 : 0);
  for (std::uint64_t n = 0; n < caches; ++n) {
    partitions_[n].set_aside(std::min(lines, partitions_[n].capacity_lines() * 3 / 4));
  }
}

void L2::keep(std::int64_t address, std::int64_t bytes) {
  const std::uint64_t caches = partitions_.size() - (has_memory_side_ ? 1 : 0);
  for (std::uint64_t n = 0; n < caches; ++n) {
    partitions_[n].keep({address / kPageBytes, (address + bytes + kPageBytes - 1) / kPageBytes});
  }
}

void L2::fill_with_strangers(bool dirty) {
  for (std::uint64_t side = 0; side < partitions_.size(); ++side) {
    // Private partitions and the memory-side cache hold different ones; what was dirty in private
    // ones has been written when its kernel ended.
    const std::uint64_t kind = has_memory_side_ ? side : 0;
    partitions_[side].fill_with_strangers(dirty && !has_memory_side_,
                                          static_cast<std::int64_t>(kind));
  }
}

}  // namespace wavetail::memory
