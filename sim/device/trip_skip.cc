// SPDX-License-Identifier: Apache-2.0
#include "device/trip_skip.h"

#include <algorithm>
#include <cmath>

namespace wavetail::device {

namespace {

using sm::Code;
using sm::Instr;
using sm::InstrKind;

// The mbarriers, one bit each, that the instructions from `first` to `end` touch.
std::uint64_t touched(const Code& code, std::int32_t first, std::int32_t end) {
  std::uint64_t all = 0;
  for (std::int32_t i = first; i < end; ++i) {
    const std::int32_t m = code.instrs[static_cast<std::size_t>(i)].mbarrier;
    if (m >= 0) { all |= 1ULL << (m % 64); }
  }
  return all;
}

std::uint64_t touched_in_loops(const Code& code) {
  std::uint64_t all = 0;
  for (const sm::LongLoop& loop : code.long_loops) { all |= touched(code, loop.first, loop.end); }
  return all;
}

// What the trips of a role's loops follow, and of loops that count, how far.
struct Course {
  InstrKind kind;
  std::int64_t trips;
  const kernel::Trips* by_index;
};

Course course_of(const Code& code, const sm::LongLoop& loop) {
  const Instr& end = code.instrs[static_cast<std::size_t>(loop.end)];
  return {end.kind, end.kind == InstrKind::StepsEnd ? 0 : end.count,
          end.kind == InstrKind::IndexEnd ? &code.trips[static_cast<std::size_t>(end.object)]
                                          : nullptr};
}

// Some warps may have passed a few of their trips outside the loop.
bool go_together(const Course& a, const Course& b) {
  constexpr std::int64_t kPeeled = 16;
  if (a.kind != b.kind || std::abs(a.trips - b.trips) > kPeeled) { return false; }
  return a.by_index == nullptr || *a.by_index == *b.by_index;
}

}  // namespace

bool TripSkip::has_long_loops(const sm::Launch& launch) {
  if (launch.kernel->duration || launch.codes == nullptr) { return false; }
  std::uint64_t inside = 0;
  std::vector<Course> courses;
  for (const Code& code : *launch.codes) {
    inside |= touched_in_loops(code);
    for (const sm::LongLoop& loop : code.long_loops) { courses.push_back(course_of(code, loop)); }
  }
  if (courses.empty()) { return false; }
  for (const Code& code : *launch.codes) {
    const auto size = static_cast<std::int32_t>(code.instrs.size());
    if ((touched(code, 0, size) & inside & ~touched_in_loops(code)) != 0) { return false; }
  }
  return std::all_of(courses.begin(), courses.end(),
                     [&](const Course& c) { return go_together(c, courses.front()); });
}

void TripSkip::begin(sm::Launch& launch) {
  marks_.clear();
  first_tiles_ = true;
  period_ = 0;
  if (tolerance_ <= 0 || !has_long_loops(launch)) { return; }
  std::int64_t warps = 0;
  for (std::size_t role = 0; role < launch.kernel->roles.size(); ++role) {
    const bool loops = !(*launch.codes)[role].long_loops.empty();
    warps += loops ? launch.kernel->roles[role].warps : 0;
  }
  launch.trips.per_mark = std::max<std::int64_t>(
      1, warps * std::min(launch.blocks, launch.fit.capacity()));
}

// A rhythm that is that of the tiles before is believed sooner.
std::optional<Rhythm> TripSkip::rhythm() const {
  constexpr std::size_t kFewAtFirst = 36, kFewLater = 60, kFewAgain = 40;
  if (first_tiles_) { return rhythm_of(marks_, kFewAtFirst, tolerance_); }
  const auto again = rhythm_of(marks_, kFewAgain, tolerance_);
  if (again && std::abs(again->period - period_) <= 2 * tolerance_ * period_) { return again; }
  return rhythm_of(marks_, kFewLater, tolerance_);
}

std::optional<std::int64_t> TripSkip::trips_ended(sm::Launch& launch, unit::Time now,
                                                  const result::Counters& counters,
                                                  const sm::Sm::InLoops& warps) {
  constexpr std::int64_t kLeast = 8, kSimulatedAtTheEnd = 8, kMostPerMark = 8;
  if (warps.outside > 0 || warps.warps != launch.trips.per_mark) {
    first_tiles_ = first_tiles_ && marks_.empty();
    launch.trips.per_mark = std::max<std::int64_t>(1, warps.warps);
    marks_.clear();
    return std::nullopt;
  }
  marks_.push_back({now, counters});
  const std::int64_t behind = warps.furthest + 1;
  const auto seen = static_cast<std::int64_t>(marks_.size());
  const std::int64_t trips = std::min(warps.end - behind - kSimulatedAtTheEnd, kMostPerMark * seen);
  if (trips < kLeast) { return std::nullopt; }
  const std::optional<Rhythm> rhythm = this->rhythm();
  if (!rhythm) { return std::nullopt; }
  period_ = rhythm->period;
  const Mark& from = marks_[rhythm->first];
  const auto measured = static_cast<double>(marks_.size() - 1 - rhythm->first);
  const double times = static_cast<double>(trips) / measured;
  result::Counters between = counters;
  between -= from.counters;
  between *= times;
  // As long as by the line through all marks, which leaves out how the first and the last one lie.
  const double pace = rhythm->period * measured / static_cast<double>((now - from.at).count());
  between.active_sm_cycles = static_cast<std::int64_t>(
      pace * static_cast<double>(between.active_sm_cycles));
  // Blocks are booked when they leave, their warps' states as they change.
  between.stalls.selected = between.warp_instructions;
  between.resident_warp_cycles = between.stalls.total();
  launch.counters += between;
  launch.left_out += unit::Duration{std::llround(rhythm->period * static_cast<double>(trips))};
  launch.skipped_trips += trips;
  launch.trips.leap = trips;
  marks_.clear();
  return behind;
}

}  // namespace wavetail::device
