// SPDX-License-Identifier: Apache-2.0
#include "memory/hbm_channel.h"

#include <algorithm>

namespace wavetail::memory {

Time HbmChannel::read(const ChannelTiming& t, Time at, std::int64_t row, std::int64_t bursts) {
  Duration service = t.burst * bursts;
  std::int64_t& open = open_row_[static_cast<std::size_t>(row) % kBanks];
  if (open != row + 1) {  // 0: no row open yet
    service = std::max(service, t.row_access);
    open = row + 1;
  }
  busy_until_ = std::max(at, busy_until_) + service;
  busy_ += service;
  return busy_until_;
}

Time HbmChannel::write(const ChannelTiming& t, Time at, std::int64_t bursts) {
  gathered_ += bursts;
  if (gathered_ < t.drain_bursts) { return at; }
  const Time accepted = std::max(at, drained_at_);
  const Duration drain = t.read_to_write + t.burst * gathered_ + t.write_to_read;
  busy_until_ = std::max(at, busy_until_) + drain;
  busy_ += drain;
  drained_at_ = busy_until_;
  gathered_ = 0;
  return accepted;
}

}  // namespace wavetail::memory
