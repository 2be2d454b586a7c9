// SPDX-License-Identifier: Apache-2.0
// A long tile repeats itself: trip after trip of its blocks' loops takes the same time. Once all
// warps on the device are within their loops and the trips have become steady, as many of every
// warp are left out as the one with the fewest left can spare, and what they would have taken and
// counted is added.
//
//   256 steps of K: 1 to 54 run, 19 to 54 agree, they stand for 55 to 248, and the last eight run
//
// So it goes again for the blocks' next tiles. The rule for steady is device/steady.h's.
#pragma once

#include <vector>

#include "device/steady.h"
#include "sm/launch.h"
#include "sm/sm.h"

namespace wavetail::device {

class TripSkip {
 public:
  // The time of the trips left out may be wrong by this share; 0: all are simulated.
  explicit TripSkip(double tolerance) : tolerance_(tolerance) {}

  // Whether the launch's warps have long loops that can go on together: those of roles that meet at
  // mbarriers count the same trips.
  [[nodiscard]] static bool has_long_loops(const sm::Launch& launch);

  // A launch begins, alone on the device.
  void begin(sm::Launch& launch);

  // Its warps have ended as many trips as there are warps. Returns the trip behind which every warp
  // is to leave out LoopTrips::leap, if some may be; they have been added to the launch's counters
  // and to `left_out`.
  [[nodiscard]] std::optional<std::int64_t> trips_ended(sm::Launch& launch, unit::Time now,
                                                        const result::Counters& counters,
                                                        const sm::Sm::InLoops& warps);

 private:
  // Of the trips so far, once they are steady.
  [[nodiscard]] std::optional<Rhythm> rhythm() const;

  double tolerance_;
  std::vector<Mark> marks_;
  // All blocks have begun at once. Later ones begin their tiles one after the other, and it takes
  // some dozens of trips until those that share operands are in step again.
  bool first_tiles_ = true;
  double period_ = 0;  // picoseconds that trips left out last took each; 0: none yet
};

}  // namespace wavetail::device
