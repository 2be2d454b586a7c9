// SPDX-License-Identifier: Apache-2.0
// The sectors in L2 of which stores have written a part and the rest is still in DRAM. L2 keeps the
// bytes that are there, by words of four, and fetches nothing: a store of another warp may bring
// the rest. What is incomplete when somebody reads it, or when it has to leave, is filled first.
#pragma once

#include <cstdint>

#include "memory/page_table.h"

namespace wavetail::memory {

class PartialSectors {
 public:
  static constexpr int kSectorsPerPage = 128;

  [[nodiscard]] bool empty() const { return table_.size() == 0; }

  // A store writes these words (bit 0: the lowest) of a sector, counted from address 0. `held`: L2
  // has it, completely unless it is known here.
  void write(std::int64_t sector, std::uint8_t words, bool held) {
    const std::uint32_t known = table_.find(sector);
    if (known == PageTable::kAbsent && (held || words == kAll)) { return; }
    if (known != PageTable::kAbsent) { table_.erase(sector); }
    const std::uint32_t there = words | (held && known != PageTable::kAbsent ? known : 0U);
    if (there != kAll) { table_.insert(sector, there); }
  }

  // Which of these sectors of word 0 or 1 of the page's bitmap are incomplete; they are no longer.
  [[nodiscard]] std::uint64_t complete(std::int64_t page, std::size_t word, std::uint64_t sectors) {
    std::uint64_t incomplete = 0;
    for (std::uint64_t rest = empty() ? 0 : sectors; rest != 0; rest &= rest - 1) {
      const int bit = std::countr_zero(rest);
      const std::int64_t sector = page * kSectorsPerPage + static_cast<std::int64_t>(64 * word) +
                                  bit;
      if (table_.find(sector) == PageTable::kAbsent) { continue; }
      table_.erase(sector);
      incomplete |= 1ULL << bit;
    }
    return incomplete;
  }

 private:
  static constexpr std::uint32_t kAll = 0xff;

  PageTable table_{16};  // the words that are there
};

}  // namespace wavetail::memory
