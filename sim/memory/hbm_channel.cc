// SPDX-License-Identifier: Apache-2.0
#include "memory/hbm_channel.h"

#include <algorithm>

namespace wavetail::memory {

Time HbmChannel::write(const ChannelTiming& t, Time at, std::int64_t row, std::int64_t bursts) {
  gathered_ += bursts;
  writes_.push_back({row, bursts});
  // While a batch drains its places become free one by one.
  const Time accepted = std::max(at, std::min(drained_at_, drain_start_ + t.burst * gathered_));
  if (gathered_ < t.drain_bursts) { return accepted; }
  drain_start_ = std::max(at, busy_until_);
  Time end = drain_start_ + (writing_ ? Duration{} : t.read_to_write);
  for (const Waiting& w : writes_) {
    gathered_ -= w.bursts;
    Duration service = t.burst * w.bursts;
    static_cast<void>(open_row(t, w.row, end, service));  // others overtake it, too
    end += service;
  }
  end += t.burst * gathered_;  // those that waited from the beginning
  writing_ = true;
  busy_ += end - drain_start_;
  busy_until_ = drained_at_ = end;
  gathered_ = 0;
  writes_.clear();
  return accepted;
}

}  // namespace wavetail::memory
