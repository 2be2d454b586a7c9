// SPDX-License-Identifier: Apache-2.0
#include "device/power.h"

#include <algorithm>
#include <cmath>

#include "device/energy.h"

namespace wavetail::device {

namespace {

// Decisions per time constant of the short average.
constexpr std::int64_t kDecisionsPerWindow = 4;

// How much of an average with that time constant is replaced after `dt`; rounded to 2^-30.
double replaced(Duration dt, Duration window) {
  constexpr double kGrain = 1 << 30;  // other C libraries may differ in the last place
  const double left = std::exp(-static_cast<double>(dt.count()) /
                               static_cast<double>(window.count()));
  return 1 - std::round(left * kGrain) / kGrain;
}

double watts(double femtojoules, Duration dt) {
  return femtojoules * 1e-3 / static_cast<double>(dt.count());  // 1e-15 J / 1e-12 s
}

}  // namespace

PowerControl::PowerControl(const gpu::GpuSpec& gpu, bool busy)
    : limit_(gpu.power.limit_watts),
      peak_limit_(gpu.power.limit_watts * gpu.power.control.peak),
      static_(gpu.power.energy.static_watts),
      window_(gpu.power.control.window),
      peak_window_(gpu.power.control.peak_window),
      interval_(std::max(peak_window_ / kDecisionsPerWindow, Duration{1})),
      average_(busy ? limit_ : static_),
      peak_average_(static_) {
  if (gpu.clock.mode != gpu::ClockMode::Boost || !gpu.power.known()) { return; }
  const double top = static_cast<double>(gpu.clock.sm_max.count());
  for (Hertz f = gpu.clock.sm_max;; f = f - gpu.power.control.step) {
    const Hertz clock = std::max(f, gpu.power.control.lowest);
    const double scale = energy_scale(gpu, clock);
    const double at_top = steps_.empty() ? scale : steps_.front().scale;
    steps_.push_back({clock, scale, scale / at_top * static_cast<double>(clock.count()) / top});
    if (f <= gpu.power.control.lowest) { break; }
  }
}

void PowerControl::spend(Duration dt, double core, double dram) {
  core_ += core;
  dram_ += dram;
  since_ += dt;
  if (since_ >= interval_) { decide(); }
}

void PowerControl::decide() {
  const double core = watts(core_, since_), dram = watts(dram_, since_);
  const double total = static_ + core + dram;
  if (hold_ == Hold::Limit) { held_by_limit_ += since_; }
  if (hold_ == Hold::Peak) { held_by_peak_ += since_; }
  const double newer = replaced(since_, peak_window_);
  average_ += (total - average_) * replaced(since_, window_);
  peak_average_ += (total - peak_average_) * newer;
  const double full = core / steps_[step_].activity;
  load_core_ += (full - load_core_) * newer;
  load_dram_ += (dram - load_dram_) * newer;
  const auto rise = static_cast<std::size_t>(since_ / interval_);
  step_ = choose(step_ > rise ? step_ - rise : 0);
  since_ = Duration{};
  core_ = dram_ = 0;
}

// The fastest step, not above `highest`, that the limits allow the load that has been seen.
std::size_t PowerControl::choose(std::size_t highest) {
  const double allowed = 2 * limit_ - average_, peak_allowed = 2 * peak_limit_ - peak_average_;
  hold_ = Hold::None;
  std::size_t step = highest;
  for (; step + 1 < steps_.size(); ++step) {
    const double watts = static_ + load_dram_ + load_core_ * steps_[step].activity;
    if (watts <= std::min(allowed, peak_allowed)) { break; }
    hold_ = peak_allowed < allowed ? Hold::Peak : Hold::Limit;
  }
  return step;
}

}  // namespace wavetail::device
