// SPDX-License-Identifier: Apache-2.0
#include "device/wave_skip.h"

#include <algorithm>
#include <cmath>

#include "kernel/share.h"

namespace wavetail::device {

namespace {

double span(unit::Time from, unit::Time to) { return static_cast<double>((to - from).count()); }

// The rounds of tiles that every block of the kernel goes through; 0 if they differ.
std::int64_t rounds_of(const sm::Launch& launch) {
  const kernel::Kernel& k = *launch.kernel;
  if (k.shares->contiguous || launch.blocks > launch.fit.capacity()) { return 0; }
  return kernel::portions_of(k, kernel::clusters_of(k) - 1);
}

// No block does more than another because of its index.
bool blocks_are_alike(const sm::Launch& launch) {
  return std::all_of(launch.codes->begin(), launch.codes->end(),
                     [](const sm::Code& code) { return code.trips.empty(); });
}

}  // namespace

bool WaveSkip::has_many_waves(const sm::Launch& launch) {
  constexpr std::int64_t kMany = 8;
  if (launch.kernel->duration || !blocks_are_alike(launch)) { return false; }
  if (launch.kernel->shares) { return rounds_of(launch) >= kMany; }
  return launch.blocks >= kMany * launch.fit.capacity();
}

void WaveSkip::begin(sm::Launch& launch) {
  marks_.clear();
  wave_ = 0;
  if (tolerance_ <= 0 || !has_many_waves(launch)) { return; }
  if (!launch.kernel->shares) {
    wave_ = launch.fit.capacity();
    return;
  }
  const kernel::Kernel& k = *launch.kernel;
  std::int64_t warps = 0;
  for (std::size_t role = 0; role < k.roles.size(); ++role) {
    warps += (*launch.codes)[role].shares ? k.roles[role].warps : 0;
  }
  launch.rounds.passes_per_round = warps * launch.blocks;
}

std::int64_t WaveSkip::wave_ended(unit::Time now, const result::Counters& counters,
                                  std::int64_t waves_left) {
  constexpr std::int64_t kSimulatedAtTheEnd = 1;
  constexpr std::size_t kFewest = 12;
  marks_.push_back({now, counters});
  const std::int64_t skip = waves_left - kSimulatedAtTheEnd;
  const auto first = first_compared(marks_);
  if (skip <= 0 || !first) { return 0; }
  first_ = *first;
  if (steady(marks_, first_, tolerance_)) { return skip; }
  const auto rhythm = rhythm_of(marks_, kFewest, tolerance_);
  first_ = rhythm ? rhythm->first : first_;
  return rhythm ? skip : 0;
}

// The blocks of a wave do not all stand at the same place when it ends, so that the waves that were
// measured have done a little more or less than their own work: time goes by instructions.
WaveSkip::Skipped WaveSkip::skipped(const sm::Launch& launch) const {
  const Mark& from = marks_[first_];
  const Mark& to = marks_.back();
  result::Counters between = to.counters;
  between -= from.counters;
  const auto measured = static_cast<double>(marks_.size() - 1 - first_);
  double times = static_cast<double>(launch.skipped_waves) / measured;
  const double blocks = static_cast<double>(launch.skipped_waves * wave_) /
                        static_cast<double>(launch.counters.blocks);
  if (wave_ > 0) {
    times = blocks * static_cast<double>(launch.counters.warp_instructions) /
            static_cast<double>(between.warp_instructions);
  }
  Skipped all{unit::Duration{std::llround(span(from.at, to.at) * times)}, between};
  all.counters *= times;
  if (wave_ > 0) { all.counters.take_work(launch.counters, blocks); }
  // Blocks are booked when they leave, their warps' states as they change.
  all.counters.stalls.selected = all.counters.warp_instructions;
  all.counters.resident_warp_cycles = all.counters.stalls.total();
  return all;
}

}  // namespace wavetail::device
