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
  const Time begin = drain_start_ + (writing_ ? Duration{} : t.read_to_write);
  Time end = begin, last = begin;
  for (const Waiting& w : writes_) {  // banks that have most to open begin first
    gathered_ -= w.bursts;
    Duration service = t.burst * w.bursts;
    last = std::max(last, open_row(t, w.row, begin, service) + service);
    end += service;
  }
  end = std::max(last, end + t.burst * gathered_);  // with those that waited from the beginning
  writing_ = true;
  busy_ += end - drain_start_;
  busy_until_ = drained_at_ = end;
  gathered_ = 0;
  writes_.clear();
  return accepted;
}

}  // namespace wavetail::memory
