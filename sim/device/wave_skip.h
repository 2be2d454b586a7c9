// SPDX-License-Identifier: Apache-2.0
// A long launch repeats itself: wave after wave of blocks takes the same time. Once the waves have
// become steady, whole ones are left out, and what each would have taken and counted is added.
//
//   1000 waves: 1 to 7 run, 4 to 7 agree; they stand for 992 more, and the last one runs
//
// A wave is as many blocks as fit on the device at once; of a persistent kernel, one tile of every
// block. The rule for steady is device/steady.h's.
#pragma once

#include <optional>
#include <vector>

#include "device/steady.h"
#include "sm/launch.h"

namespace wavetail::device {

class WaveSkip {
 public:
  // The launch's time may be wrong by this share; 0: every wave is simulated.
  explicit WaveSkip(double tolerance) : tolerance_(tolerance) {}

  // Whether the launch has so many waves that some could be left out.
  [[nodiscard]] static bool has_many_waves(const sm::Launch& launch);

  // A launch begins, alone on the device.
  void begin(sm::Launch& launch);

  // Of the launch that runs alone: blocks that make a wave; 0: its waves are not watched.
  [[nodiscard]] std::int64_t wave() const { return wave_; }

  // A wave of it has ended at `now`. `counters` are those of the launch so far, what its SMs have
  // not booked yet included. Returns how many of the waves to come may be left out; 0: none yet.
  [[nodiscard]] std::int64_t wave_ended(unit::Time now, const result::Counters& counters,
                                        std::int64_t waves_left);

  // What the skipped waves of the launch, all of whose blocks have left, would have taken and
  // counted.
  struct Skipped {
    unit::Duration time;
    result::Counters counters;
  };

  [[nodiscard]] Skipped skipped(const sm::Launch& launch) const;

 private:
  double tolerance_;
  std::int64_t wave_ = 0;
  std::vector<Mark> marks_;  // the ends of waves
  std::size_t first_ = 0;    // mark from which on they are steady
};

}  // namespace wavetail::device
