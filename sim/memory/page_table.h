// SPDX-License-Identifier: Apache-2.0
// Finds the frame that holds a page of the L2 directory: open addressing with linear probing;
// grows so that it is never more than half full.
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
      : mask_(std::bit_ceil(2 * pages + 2) - 1),
        keys_(mask_ + 1, -1),
        values_(mask_ + 1, kAbsent) {}

  [[nodiscard]] std::uint32_t find(std::int64_t page) const {
    for (std::size_t i = home(page);; i = (i + 1) & mask_) {
      if (keys_[i] == page) { return values_[i]; }
      if (keys_[i] == -1) { return kAbsent; }
    }
  }

  // The page must be absent.
  void insert(std::int64_t page, std::uint32_t frame) {
    if (2 * (count_ + 1) > mask_) { grow(); }
    ++count_;
    std::size_t i = home(page);
    while (keys_[i] != -1) { i = (i + 1) & mask_; }
    keys_[i] = page;
    values_[i] = frame;
  }

  // The page must be present. Later entries of the probe run move up, so that no tombstones remain.
  void erase(std::int64_t page) {
    std::size_t hole = home(page);
    while (keys_[hole] != page) { hole = (hole + 1) & mask_; }
    for (std::size_t i = (hole + 1) & mask_; keys_[i] != -1; i = (i + 1) & mask_) {
      if (((i - home(keys_[i])) & mask_) >= ((i - hole) & mask_)) {
        keys_[hole] = keys_[i];
        values_[hole] = values_[i];
        hole = i;
      }
    }
    keys_[hole] = -1;
    values_[hole] = kAbsent;
    --count_;
  }

 private:
  void grow() {
    PageTable larger(mask_ + 1);
    for (std::size_t i = 0; i <= mask_; ++i) {
      if (keys_[i] != -1) { larger.insert(keys_[i], values_[i]); }
    }
    *this = std::move(larger);
  }

  [[nodiscard]] std::size_t home(std::int64_t page) const {
    return (static_cast<std::uint64_t>(page) * 0x9e3779b97f4a7c15ULL >> 20) & mask_;
  }

  std::size_t mask_;
  std::size_t count_ = 0;
  std::vector<std::int64_t> keys_;
  std::vector<std::uint32_t> values_;
};

}  // namespace wavetail::memory
