// SPDX-License-Identifier: Apache-2.0
#include "memory/hbm_channel.h"

#include <algorithm>

namespace wavetail::memory {

Time HbmChannel::write(const ChannelTiming& t, Time at, std::int64_t bursts) {
  gathered_ += bursts;
  // While a batch drains its places become free one by one.
  const Time accepted = std::max(at, std::min(drained_at_, drain_start_ + t.burst * gathered_));
  if (gathered_ < t.drain_bursts) { return accepted; }
  const Duration drain = (writing_ ? Duration{} : t.read_to_write) + t.burst * gathered_;
  writing_ = true;
  drain_start_ = std::max(at, busy_until_);
  busy_until_ = drain_start_ + drain;
  busy_ += drain;
  drained_at_ = busy_until_;
  gathered_ = 0;
  return accepted;
}

}  // namespace wavetail::memory
