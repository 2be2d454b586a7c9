// SPDX-License-Identifier: Apache-2.0
#include "device/pace.h"

#include <algorithm>
#include <cmath>
#include <tuple>
#include <utility>

namespace wavetail::device {

namespace {

using Point = Replay::Point;

constexpr double kNear = 0.01;       // of a clock: no further simulation is needed
constexpr double kApart = 0.15;      // of a clock: the least between the ends and a further one
constexpr double kRest = 1e-12;      // of a part: what rounding may leave
constexpr double kTolerance = 0.01;  // of a time, by which it could lie below the chord

double real(Hertz f) { return static_cast<double>(f.count()); }

double real(Duration d) { return static_cast<double>(d.count()); }

double time_of(const Point& p) { return real(p.times.duration); }

// Between two simulated clocks the time can lie below the chord, at the corner where a launch that
// waits for DRAM becomes one that computes: flat from the faster one on, and in proportion to the
// period up to the slower one. Relative to the time there.
double most_below_chord(const Point& fast, const Point& slow) {
  const double ratio = time_of(slow) / time_of(fast);
  const double periods = real(fast.clock) / real(slow.clock);
  if (ratio <= 1 || ratio >= periods) { return 0; }
  return (ratio - 1) * (periods / ratio - 1) / (periods - 1);
}

// The clocks between which the launch was for all but a fortieth of its time at either end.
std::pair<Hertz, Hertz> range_of(std::vector<std::pair<Hertz, Duration>> held, Duration all) {
  std::sort(held.begin(), held.end());
  const auto beyond = [&](auto first, auto last) {
    Duration left = all / 40;
    while (first + 1 != last && first->second <= left) {
      left -= first->second;
      ++first;
    }
    return first->first;
  };
  return {beyond(held.begin(), held.end()), beyond(held.rbegin(), held.rend())};
}

}  // namespace

double time_at(const std::vector<Point>& points, Hertz clock) {
  double share = 0.5;  // of the time that is cycles
  std::size_t near = 0;
  if (points.size() > 1) {
    std::size_t slow = 1;
    while (slow + 1 < points.size() && clock < points[slow].clock) { ++slow; }
    const Point& a = points[slow - 1];
    const Point& b = points[slow];
    const double periods = real(a.clock) / real(b.clock);
    share = std::clamp((time_of(b) / time_of(a) - 1) / (periods - 1), 0.0, 1.0);
    near = clock < b.clock ? slow : slow - 1;
    // From the slower point on the same line has another share.
    if (near == slow) { share = share * periods / (1 + share * (periods - 1)); }
  }
  const double period = real(points[near].clock) / real(clock);
  return time_of(points[near]) * (1 + share * (period - 1));
}

Pace pace(PowerControl& control, const result::Work& work, const std::vector<sm::Spent>& profile,
          const std::vector<Point>& points) {
  Duration profiled;
  for (const sm::Spent& part : profile) { profiled += part.time; }
  Pace p;
  std::vector<std::pair<Hertz, Duration>> held;
  double core = 0, dram = 0;  // of the work, as spent
  for (const sm::Spent& part : profile) {
    const double of_all = real(part.time) / real(profiled);
    for (double left = 1; left > kRest;) {
      const Hertz clock = control.clock();
      const double whole = std::max(1.0, time_at(points, clock) * of_all);
      Duration dt = control.until_decision();
      double share = real(dt) / whole;
      if (share >= left) {
        share = left;
        dt = Duration{std::max<std::int64_t>(1, std::llround(left * whole))};
      }
      held.emplace_back(clock, dt);
      p.duration += dt;
      p.cycles += real(clock) * real(dt) * 1e-12;
      const double here = static_cast<double>(part.core) * share * control.scale();
      core += here;
      dram += static_cast<double>(part.dram) * share;
      control.spend(dt, here, static_cast<double>(part.dram) * share);
      left -= share;
    }
  }
  std::tie(p.lowest, p.highest) = range_of(std::move(held), p.duration);
  p.energy.add(work, core / static_cast<double>(std::max<std::int64_t>(1, work.core())),
               dram / static_cast<double>(std::max<std::int64_t>(1, work.dram)));
  return p;
}

std::optional<Hertz> missing_clock(const std::vector<Point>& points, Hertz lowest, Hertz highest) {
  const auto beyond = [](Hertz low, Hertz high) { return real(high) > real(low) * (1 + kNear); };
  // Far enough that the difference is not one of chance.
  const auto share = [](Hertz f, double of) { return Hertz{std::llround(real(f) * of)}; };
  if (beyond(lowest, points.back().clock)) {
    return std::min(lowest, share(points.back().clock, 1 - kApart));
  }
  if (beyond(points.front().clock, highest)) {
    return std::max(highest, share(points.front().clock, 1 + kApart));
  }
  for (std::size_t i = 1; i < points.size(); ++i) {
    const Point& fast = points[i - 1];
    const Point& slow = points[i];
    const Hertz from = std::max(lowest, slow.clock), to = std::min(highest, fast.clock);
    if (from > to || real(fast.clock) < real(slow.clock) * (1 + 2 * kNear)) { continue; }
    if (most_below_chord(fast, slow) > kTolerance) { return (slow.clock + fast.clock) / 2; }
  }
  return std::nullopt;
}

}  // namespace wavetail::device
