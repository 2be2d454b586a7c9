// SPDX-License-Identifier: Apache-2.0
// One pseudo-channel of the HBM: reads are served in the order in which they arrive; writes gather
// in a queue until a batch of them is complete, then the channel turns round and drains the whole
// batch while reads wait. An access that opens a row keeps the channel at least `row_access`, and a
// bank opens its next row only `row_cycle` after its last: an access that waits for its bank is
// overtaken by others, so that the channel itself is idle only where nothing else is there to do.
// Refresh is part of the efficiency that the burst time already contains.
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
  Duration opening;     // what opening a row for a few bursts loses beside them
  Duration row_cycle;   // least time between two rows opened in one bank
  std::int64_t banks = 0;
  Duration read_to_write, write_to_read;
  std::int64_t drain_bursts = 0;  // writes gathered before a drain, in bursts
};

class HbmChannel {
 public:
  // `initial_writes` bursts already wait, for rows that are open: channels start out of step, as in
  // a machine that has been running.
  explicit HbmChannel(const ChannelTiming& t, std::int64_t initial_writes = 0)
      : gathered_(initial_writes),
        banks_divider_(static_cast<std::uint64_t>(t.banks)),
        banks_(static_cast<std::size_t>(t.banks)) {}

  // A read of `bursts` from `row` that arrives at `at`; returns when its last byte leaves the
  // channel. While it waits for its bank others overtake it.
  Time read(const ChannelTiming& t, Time at, std::int64_t row, std::int64_t bursts);

  // A read of `bursts` from a row that nobody else reads meanwhile.
  Time read_apart(const ChannelTiming& t, Time at, std::int64_t bursts) {
    const Time start = std::max(at, writing_ ? busy_until_ + t.write_to_read : busy_until_);
    const Duration service = t.burst * bursts + t.opening;
    writing_ = false;
    busy_ += service;
    busy_until_ = start + service;
    return busy_until_;
  }

  // A read of what the memory-side cache before this channel has: it takes its turn among the
  // others, for `service`; returns when its last byte is there.
  Time read_cached(const ChannelTiming& t, Time at, Duration service) {
    const Time start = std::max(at, writing_ ? busy_until_ + t.write_to_read : busy_until_);
    writing_ = false;
    busy_ += service;
    busy_until_ = start + service;
    return busy_until_;
  }

  // A write to `row`; returns when the channel's queue has taken it: later than `at` if an earlier
  // batch is still being drained and has not made room for it yet.
  Time write(const ChannelTiming& t, Time at, std::int64_t row, std::int64_t bursts);

  [[nodiscard]] Time busy_until() const { return busy_until_; }

  [[nodiscard]] Duration busy() const { return busy_; }

 private:
  struct Bank {
    std::int64_t open_row = -1;
    Time next_activate;
  };

  // Consecutive rows go round the banks, each round from a hashed one on, so that arrays a power of
  // two apart do not meet in one bank.
  [[nodiscard]] std::size_t bank_of(std::int64_t row) const {
    const auto n = static_cast<std::uint64_t>(row);
    return banks_divider_.remainder(n + (mix(banks_divider_.quotient(n)) >> 24));
  }

  struct Waiting {
    std::int64_t row, bursts;
  };

  // When an access of `service` to `row` that could start at `from` does, and how long it takes.
  Time open_row(const ChannelTiming& t, std::int64_t row, Time from, Duration& service);

  Time busy_until_, drain_start_, drained_at_;
  Duration busy_;
  std::int64_t gathered_;
  bool writing_ = false;  // the last burst was a write
  Divider banks_divider_;
  std::vector<Bank> banks_;
  std::vector<Waiting> writes_;  // gathered
};

inline Time HbmChannel::open_row(const ChannelTiming& t, std::int64_t row, Time from,
                                 Duration& service) {
  Bank& bank = banks_[bank_of(row)];
  if (bank.open_row == row) { return from; }
  service = std::max(service, t.row_access);
  const Time start = std::max(from, bank.next_activate);
  bank = {row, start + t.row_cycle};
  return start;
}

inline Time HbmChannel::read(const ChannelTiming& t, Time at, std::int64_t row,
                             std::int64_t bursts) {
  Duration service = t.burst * bursts;
  const Time free = std::max(at, writing_ ? busy_until_ + t.write_to_read : busy_until_);
  const Time start = open_row(t, row, free, service);
  writing_ = false;
  busy_ += service;
  busy_until_ = free + service;
  return start + service;
}

}  // namespace wavetail::memory
