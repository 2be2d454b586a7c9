// SPDX-License-Identifier: Apache-2.0
// The board's power control: holds the power, averaged over a long and over a short window, to
// their limits by the SM clock. At fixed intervals it takes what was spent, forms the averages, and
// picks the highest clock at which the load that it has seen would let both settle at their limits:
// power may exceed a limit by as much as the average is still below it. The clock falls at once and
// rises by one step at a time.
//
//   PowerControl control(gpu, false);    // as after a long idle time, at clock.sm_max
//   control.spend(dt, core, dram);       // femtojoules of the last dt, at control.scale()
//   if (control.clock() != before) ...
#pragma once

#include <cstdint>
#include <vector>

#include "gpu/spec.h"

namespace wavetail::device {

using unit::Duration;
using unit::Hertz;

class PowerControl {
 public:
  // `busy`: the long average stands at the limit, as after a long time of work that it held back.
  PowerControl(const gpu::GpuSpec& gpu, bool busy);

  // Whether the clock may change: the run starts at sm_max, and the GPU file tells its power.
  [[nodiscard]] bool active() const { return !steps_.empty(); }

  // The device has spent that much beside its static power. A time that is longer than what is
  // left until the next decision counts as one interval.
  void spend(Duration dt, double core, double dram);

  // Until the next decision, if the device is busy.
  [[nodiscard]] Duration until_decision() const { return interval_ - since_; }

  [[nodiscard]] Hertz clock() const { return steps_[step_].clock; }

  // Of the core's energies, at the present clock.
  [[nodiscard]] double scale() const { return steps_[step_].scale; }

  // For how long the limit of the long and of the short average have kept the clock down.
  [[nodiscard]] Duration held_by_limit() const { return held_by_limit_; }

  [[nodiscard]] Duration held_by_peak() const { return held_by_peak_; }

  [[nodiscard]] double average_watts() const { return average_; }

  [[nodiscard]] double peak_average_watts() const { return peak_average_; }

  [[nodiscard]] double static_watts() const { return static_; }

  [[nodiscard]] Hertz lowest() const { return steps_.back().clock; }

 private:
  enum class Hold : std::uint8_t { None, Limit, Peak };

  struct Step {
    Hertz clock;
    double scale = 1;     // of energies
    double activity = 1;  // of power, if the rate of work follows the clock; 1 at sm_max
  };

  void decide();
  [[nodiscard]] std::size_t choose(std::size_t highest);

  std::vector<Step> steps_;  // from sm_max down; empty: not active
  double limit_, peak_limit_, static_;
  Duration window_, peak_window_, interval_;
  std::size_t step_ = 0;
  Hold hold_ = Hold::None;  // why the clock is no higher
  Duration held_by_limit_, held_by_peak_;
  // Since the last decision: time and femtojoules.
  Duration since_;
  double core_ = 0, dram_ = 0;
  // Averages, in watts; the load's as it would be at sm_max.
  double average_, peak_average_;
  double load_core_ = 0, load_dram_ = 0;
};

}  // namespace wavetail::device
