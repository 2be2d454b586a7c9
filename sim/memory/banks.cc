// SPDX-License-Identifier: Apache-2.0
#include "memory/banks.h"

#include <algorithm>
#include <array>

namespace wavetail::memory {

namespace {

constexpr int kMostLanes = 64;
constexpr int kWordsPerLane = 4;

// The different words of one pass, counted per bank.
class Pass {
 public:
  void touch(std::int64_t address, int width) {
    const std::int64_t last = (address + width - 1) / kBankBytes;
    for (std::int64_t word = address / kBankBytes; word <= last; ++word) { add(word); }
  }

  // Of the fullest bank.
  [[nodiscard]] int wavefronts() const { return *std::max_element(held_.begin(), held_.end()); }

 private:
  void add(std::int64_t word) {
    const auto end = words_.begin() + count_;
    if (std::find(words_.begin(), end, word) != end) { return; }
    words_[static_cast<std::size_t>(count_++)] = word;
    ++held_[static_cast<std::uint64_t>(word) % kBanks];
  }

  std::array<std::int64_t, kMostLanes * kWordsPerLane> words_{};
  std::array<int, kBanks> held_{};
  int count_ = 0;
};

// Every active lane's partner (its number xor `distance`) is inactive or has the same address.
bool in_pairs(std::span<const std::int64_t> lanes, std::size_t distance) {
  for (std::size_t i = 0; i < lanes.size(); ++i) {
    const std::size_t partner = i ^ distance;
    if (lanes[i] == kNoLane || partner >= lanes.size() || lanes[partner] == kNoLane) { continue; }
    if (lanes[partner] != lanes[i]) { return false; }
  }
  return true;
}

}  // namespace

BankAccess bank_access(std::span<const std::int64_t> lanes, int width, bool merge_pairs) {
  std::size_t together = static_cast<std::size_t>(kWavefrontBytes / std::max(width, kBankBytes));
  if (merge_pairs && width > kBankBytes && (in_pairs(lanes, 1) || in_pairs(lanes, 2))) {
    together *= 2;
  }
  BankAccess access;
  for (std::size_t first = 0; first < lanes.size(); first += together) {
    Pass pass;
    for (std::size_t i = first; i < std::min(first + together, lanes.size()); ++i) {
      if (lanes[i] != kNoLane) { pass.touch(lanes[i], width); }
    }
    access.wavefronts += pass.wavefronts();
    access.passes += pass.wavefronts() > 0 ? 1 : 0;
  }
  return access;
}

bool merges_pairs(std::string_view architecture) {
  return architecture == "sm_70" || architecture == "sm_72" || architecture == "sm_75";
}

}  // namespace wavetail::memory
