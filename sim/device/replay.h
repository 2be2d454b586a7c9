// SPDX-License-Identifier: Apache-2.0
// Memory of what launches did, so that an identical launch in an identical cache state need not be
// simulated again. Identical means: the same kernel alone on the device, and of each of its arrays
// as much held and as much dirty, to a sixteenth of it or 1/256 of the L2, whichever is less, and
// of the L2 as a whole to 1/256. An array with a copy per launch, or several in turn, lies in other
// pages each time: how many of them lie in each L2 partition must agree, too, to a sixteenth, and
// which ones where there are only a few.
//
// Where the SM clock changes, the time of a launch is known at the clocks at which it has been
// simulated, and interpolated between them (device/pace.h).
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "memory/l2.h"
#include "memory/system.h"
#include "sm/launch.h"

namespace wavetail::device {

class Replay {
 public:
  // What a launch meets: rounded, for launches that are called identical, and as it is.
  struct Key {
    std::vector<std::int64_t> rounded;
    std::vector<std::int64_t> kind;     // what must agree in any case
    std::vector<std::int64_t> sectors;  // held and dirty, by array; dirty in all of L2
  };

  // What else may stand for a launch: an earlier one whose caches differ by no more than DRAM moves
  // within a share of its time.
  struct Nearness {
    double share = 0;           // of the launch's time
    double bytes_per_s = 1e12;  // of DRAM
  };

  using Held = std::vector<memory::L2::Census>;

  // What L2 holds of each of the launch's arrays.
  [[nodiscard]] static Held held(const sm::Launch& launch, const memory::L2& l2);

  // What the launch meets.
  [[nodiscard]] static Key key(const sm::Launch& launch, memory::System& memory, const Held& held);

  struct Repeated {
    unit::Duration duration;  // first block placed to last block retired
    unit::Duration drain;     // from there until the last store had reached L2
  };

  // A launch that is not known, but near to one that is, gets the key of that one.
  void settle(Key& key, const Nearness& near) const;

  // What a launch did at one SM clock, or at a mean of so much.
  struct Point {
    unit::Hertz clock;
    Repeated times;
    result::Counters counters;
  };

  // Of the earlier identical launches, the highest clock first; empty: there was none.
  [[nodiscard]] const std::vector<Point>& points(const Key& key) const;

  // What it spent in the course of its time, if it ran under power control.
  [[nodiscard]] const std::vector<sm::Spent>& profile(const Key& key) const {
    return entries_.at(key.rounded).record->profile;
  }

  // How long an earlier identical launch took, if there was one; books its counters on `launch`
  // and puts the launch's lines into L2 as the earlier one left them. Of several clocks the one
  // next to `clock` counts.
  [[nodiscard]] std::optional<Repeated> repeat(const Key& key, sm::Launch& launch, memory::L2& l2,
                                               unit::Hertz clock) const;

  // Remembers a launch that is complete at `now`, was alone all the time and had `clock` on
  // average.
  void remember(const Key& key, const sm::Launch& launch, unit::Time now, const memory::L2& l2,
                unit::Hertz clock);

  // A launch that is remembered, at one more clock.
  void add(const Key& key, const Point& point);

  // The point whose clock is next to `clock`; there is at least one.
  [[nodiscard]] static const Point& nearest(const std::vector<Point>& points, unit::Hertz clock);

 private:
  // What L2 held when the launch was complete: lines of a page that others may use, or how many
  // lines of one partition nobody will ask for again.
  struct Left {
    std::size_t array = 0;
    memory::L2::PageState state;  // the page's number counts from the array's first
    std::uint64_t side = 0;
    std::int64_t unnamed = 0;  // 0: it is lines of a page
  };

  [[nodiscard]] static std::vector<Left> left_by(const sm::Launch& launch, const memory::L2& l2);

  struct Record {
    std::vector<std::int64_t> sectors;  // of its key
    std::vector<bool> reached;          // by SM
    std::vector<Left> left;  // of each partition from the least to the most recently used
    std::vector<sm::Spent> profile;
    std::int64_t skipped_trips = 0, skipped_waves = 0;
  };

  struct Entry {
    std::shared_ptr<const Record> record;  // shared between copies of a Replay
    std::vector<Point> points;
  };

  using Numbers = std::vector<std::int64_t>;

  std::map<Numbers, Entry> entries_;               // by Key::rounded
  std::map<Numbers, std::vector<Numbers>> kinds_;  // by Key::kind: the entries' keys
};

}  // namespace wavetail::device
