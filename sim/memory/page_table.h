// SPDX-License-Identifier: Apache-2.0
// Finds what is kept for a page (the frame of the L2 directory that holds it) or another number:
// open addressing with linear probing; grows so that it is never more than half full.
#pragma once

#include <bit>
#include <cstdint>
#include <utility>
#include <vector>

#include "memory/divider.h"

namespace wavetail::memory {

class PageTable {
 public:
  static constexpr std::uint32_t kAbsent = 0xffffffffU;

  // Room for `pages` entries before it has to grow.
  explicit PageTable(std::size_t pages)
      : mask_(std::bit_ceil(2 * pages + 2) - 1), entries_(mask_ + 1) {}

  [[nodiscard]] std::size_t size() const { return count_; }

  [[nodiscard]] std::uint32_t find(std::int64_t page) const {
    for (std::size_t i = home(page);; i = (i + 1) & mask_) {
      if (entries_[i].key == page) { return entries_[i].value; }
      if (entries_[i].key == -1) { return kAbsent; }
    }
  }

  // The page must be absent.
  void insert(std::int64_t page, std::uint32_t frame) {
    if (2 * (count_ + 1) > mask_) { grow(); }
    ++count_;
    std::size_t i = home(page);
    while (entries_[i].key != -1) { i = (i + 1) & mask_; }
    entries_[i].key = page;
    entries_[i].value = frame;
  }

  // The page must be present. Later entries of the probe run move up, so that no tombstones remain.
  void erase(std::int64_t page) {
    std::size_t hole = home(page);
    while (entries_[hole].key != page) { hole = (hole + 1) & mask_; }
    for (std::size_t i = (hole + 1) & mask_; entries_[i].key != -1; i = (i + 1) & mask_) {
      if (((i - home(entries_[i].key)) & mask_) >= ((i - hole) & mask_)) {
        entries_[hole] = entries_[i];
        hole = i;
      }
    }
    entries_[hole] = Entry{};
    --count_;
  }

 private:
  struct Entry {
    std::int64_t key = -1;  // -1: free
    std::uint32_t value = kAbsent;
  };

  void grow() {
    PageTable larger(mask_ + 1);
    for (std::size_t i = 0; i <= mask_; ++i) {
      if (entries_[i].key != -1) { larger.insert(entries_[i].key, entries_[i].value); }
    }
    *this = std::move(larger);
  }

  // Four neighbours have their places side by side, in one line of the host's cache.
  [[nodiscard]] std::size_t home(std::int64_t page) const {
    const auto n = static_cast<std::uint64_t>(page);
    return ((n >> 2) * 0x9e3779b97f4a7c15ULL >> 20 << 2 | (n & 3)) & mask_;
  }

  std::size_t mask_;
  std::size_t count_ = 0;
  std::vector<Entry> entries_;
};

}  // namespace wavetail::memory
