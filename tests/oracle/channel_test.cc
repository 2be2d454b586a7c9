// SPDX-License-Identifier: Apache-2.0
// The HBM channel against a list of everything it did: reads in order of arrival, writes gathered
// and drained in batches, turnarounds between the two, banks that open rows and keep only those
// waiting who want them.
#include "memory/hbm_channel.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <vector>

namespace wavetail::memory {
namespace {

// One thing on the data bus.
struct Busy {
  std::int64_t start, end;
  bool write;
};

// Keeps everything and looks it up anew each time.
class SlowChannel {
 public:
  SlowChannel(const ChannelTiming& t, std::int64_t initial) : t_(t), waiting_(initial) {}

  std::int64_t read(std::int64_t at, std::int64_t row, std::int64_t bursts) {
    std::int64_t start = at;
    if (!bus_.empty()) {
      const std::int64_t turn = bus_.back().write ? t_.write_to_read.count() : 0;
      start = std::max(start, bus_.back().end + turn);
    }
    std::int64_t length = bursts * t_.burst.count();
    const std::int64_t from = open(row, start, length);
    bus_.push_back({start, start + length, false});
    return from + length;
  }

  // Whether the write started a drain.
  bool write(std::int64_t at, std::int64_t row, std::int64_t bursts) {
    waiting_ += bursts;
    writes_.emplace_back(row, bursts);
    if (waiting_ < t_.drain_bursts) { return false; }
    const bool turns = bus_.empty() || !bus_.back().write;
    const std::int64_t start = bus_.empty() ? at : std::max(at, bus_.back().end);
    std::int64_t end = start + (turns ? t_.read_to_write.count() : 0);
    for (const auto& [written, n] : writes_) {
      std::int64_t length = n * t_.burst.count();
      static_cast<void>(open(written, end, length));
      end += length;
      waiting_ -= n;
    }
    end += waiting_ * t_.burst.count();
    bus_.push_back({start, end, true});
    writes_.clear();
    waiting_ = 0;
    return true;
  }

  [[nodiscard]] std::int64_t end() const { return bus_.empty() ? 0 : bus_.back().end; }

  [[nodiscard]] std::int64_t busy() const {
    std::int64_t sum = 0;
    for (const Busy& b : bus_) { sum += b.end - b.start; }
    return sum;
  }

 private:
  // When an access to `row` that could start at `start` does; `length` grows to what opening takes.
  std::int64_t open(std::int64_t row, std::int64_t start, std::int64_t& length) {
    const auto round = static_cast<std::uint64_t>(row / t_.banks);
    const std::int64_t bank = (row + static_cast<std::int64_t>(mix(round) >> 24)) % t_.banks;
    if (open_.count(bank) != 0 && open_[bank] == row) { return start; }
    length = std::max(length, t_.row_access.count());
    if (opened_.count(bank) != 0) { start = std::max(start, opened_[bank] + t_.row_cycle.count()); }
    open_[bank] = row;
    opened_[bank] = start;
    return start;
  }

  ChannelTiming t_;
  std::int64_t waiting_;
  std::vector<std::pair<std::int64_t, std::int64_t>> writes_;
  std::vector<Busy> bus_;
  std::map<std::int64_t, std::int64_t> open_, opened_;
};

TEST(Channel, DoesWhatTheListSays) {
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    std::mt19937_64 random(seed);
    const auto up_to = [&](std::int64_t most) {
      return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(most + 1));
    };
    ChannelTiming t;
    t.burst = Duration{1 + up_to(3000)};
    t.row_access = Duration{up_to(10'000)};
    t.row_cycle = Duration{up_to(50'000)};
    t.banks = 1 + up_to(31);
    t.read_to_write = Duration{up_to(15'000)};
    t.write_to_read = Duration{up_to(15'000)};
    t.drain_bursts = 1 + up_to(40);
    const std::int64_t initial = up_to(t.drain_bursts - 1);
    HbmChannel channel(t, initial);
    SlowChannel slow(t, initial);
    std::int64_t now = 0;
    for (int n = 0; n < 3000; ++n) {
      now += up_to(2 * t.burst.count());
      if (random() % 3 == 0) {
        const std::int64_t bursts = 1 + up_to(3), written = up_to(100);
        const std::int64_t before = slow.end();
        const Time accepted = channel.write(t, Time{now}, written, bursts);
        ASSERT_GE(accepted.picoseconds(), now);
        ASSERT_LE(accepted.picoseconds(), std::max(now, before)) << "held beyond the last drain";
        static_cast<void>(slow.write(now, written, bursts));
      } else {
        const std::int64_t row = up_to(100);
        const std::int64_t bursts = 1 + up_to(7);
        ASSERT_EQ(channel.read(t, Time{now}, row, bursts).picoseconds(),
                  slow.read(now, row, bursts));
      }
      ASSERT_EQ(channel.busy_until().picoseconds(), slow.end()) << "seed " << seed << ", " << n;
    }
    ASSERT_EQ(channel.busy().count(), slow.busy());
  }
}

}  // namespace
}  // namespace wavetail::memory
