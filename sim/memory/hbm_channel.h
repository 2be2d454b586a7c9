// SPDX-License-Identifier: Apache-2.0
// One pseudo-channel of the HBM: reads are served in the order in which they arrive; writes gather
// in a queue until a batch of them is complete, then the channel turns round and drains the whole
// batch while reads wait. An access that opens a row keeps the channel at least `row_access`, and a
// bank opens its next row only `row_cycle` after its last: a single sweep over memory goes round
// the banks and does not notice, many separate streams do. Refresh is part of the efficiency that
// the burst time already contains.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "memory/divider.h"
#include "unit/quantity.h"

namespace wavetail::memory {

using unit::Duration;
using unit::Time;

struct ChannelTiming {
  Duration burst;       // one burst of `burst_bytes`
  Duration row_access;  // least time of an access that opens a row
  Duration row_cycle;   // least time between two rows opened in one bank
  std::int64_t banks = 0;
  Duration read_to_write, write_to_read;
  std::int64_t drain_bursts = 0;  // writes gathered before a drain, in bursts
};

class HbmChannel {
 public:
  // `initial_writes` bursts already wait: channels start out of step, as in a machine that has been
  // running.
  explicit HbmChannel(const ChannelTiming& t, std::int64_t initial_writes = 0)
      : gathered_(initial_writes),
        bank_of_(static_cast<std::uint64_t>(t.banks)),
        banks_(static_cast<std::size_t>(t.banks)) {}

  // A read of `bursts` from `row` that arrives at `at`; returns when its last byte leaves the
  // channel.
  Time read(const ChannelTiming& t, Time at, std::int64_t row, std::int64_t bursts);

  // A write; returns when the channel's queue has taken it: later than `at` if an earlier batch is
  // still being drained and has not made room for it yet.
  Time write(const ChannelTiming& t, Time at, std::int64_t bursts);

  [[nodiscard]] Time busy_until() const { return busy_until_; }

  [[nodiscard]] Duration busy() const { return busy_; }

 private:
  struct Bank {
    std::int64_t open_row = -1;
    Time next_activate;
  };

  Time busy_until_, drain_start_, drained_at_;
  Duration busy_;
  std::int64_t gathered_;
  bool writing_ = false;  // the last burst was a write
  Divider bank_of_;       // a row's bank
  std::vector<Bank> banks_;
};

inline Time HbmChannel::read(const ChannelTiming& t, Time at, std::int64_t row,
                             std::int64_t bursts) {
  Duration service = t.burst * bursts;
  Time start = std::max(at, writing_ ? busy_until_ + t.write_to_read : busy_until_);
  writing_ = false;
  Bank& bank = banks_[bank_of_.remainder(static_cast<std::uint64_t>(row))];
  if (bank.open_row != row) {
    service = std::max(service, t.row_access);
    start = std::max(start, bank.next_activate);
    bank = {row, start + t.row_cycle};
  }
  busy_ += service;
  busy_until_ = start + service;
  return busy_until_;
}

}  // namespace wavetail::memory
