// SPDX-License-Identifier: Apache-2.0
// A warp's loads from shared memory that are under way. The load/store unit serves them in order
// and their data come back in order, at cycles that are known when they issue.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

namespace wavetail::sm {

class SharedScoreboard {
 public:
  static constexpr std::int64_t kTracked = 64;  // loads of one warp that may be under way

  void clear() { issued_ = 0; }

  // One more load, whose data are there at SM cycle `ready`, no earlier than those before it.
  void add(std::int64_t ready) {
    ready_[static_cast<std::size_t>(issued_ % kTracked)] = ready;
    ++issued_;
  }

  // The cycle at which all but the newest n are back; 0 where there are no others.
  [[nodiscard]] std::int64_t back_at(std::int64_t newest) const {
    if (newest >= std::min(issued_, kTracked)) { return 0; }
    return ready_[static_cast<std::size_t>((issued_ - 1 - newest) % kTracked)];
  }

  // The cycle from which another may issue: the one that many before is back.
  [[nodiscard]] std::int64_t room_at() const { return back_at(kTracked - 1); }

 private:
  std::int64_t issued_ = 0;
  std::array<std::int64_t, kTracked> ready_{};
};

}  // namespace wavetail::sm
