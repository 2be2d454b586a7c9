// SPDX-License-Identifier: Apache-2.0
#include "device/block_scheduler.h"

#include <algorithm>

namespace wavetail::device {

BlockScheduler::BlockScheduler(const gpu::GpuSpec& gpu) {
  std::uint16_t sm = 0;
  for (const std::int64_t count : gpu.gpcs) {
    gpcs_.emplace_back();
    for (std::int64_t i = 0; i < count; ++i) { gpcs_.back().push_back(sm++); }
  }
  group_of_.resize(sm);
}

// Cuts the GPCs into groups of `cluster` SMs and orders them: the first of every GPC, the second of
// every GPC, ...
void BlockScheduler::group_by(std::int64_t cluster) {
  cluster_ = cluster;
  groups_.clear();
  std::fill(group_of_.begin(), group_of_.end(), kNoGroup);
  const auto size = static_cast<std::size_t>(cluster);
  std::size_t rows = 0;
  for (const Group& gpc : gpcs_) { rows = std::max(rows, gpc.size() / size); }
  for (std::size_t row = 0; row < rows; ++row) {
    for (const Group& gpc : gpcs_) {
      if (row >= gpc.size() / size) { continue; }
      const auto first = gpc.begin() + static_cast<std::ptrdiff_t>(row * size);
      groups_.emplace_back(first, first + cluster);
      for (const std::uint16_t sm : groups_.back()) { group_of_[sm] = groups_.size() - 1; }
    }
  }
}

// Another launch is first in line: it looks at every SM, from the beginning.
void BlockScheduler::begin_first() {
  if (line_.empty()) { return; }
  if (cluster_ != line_.front()->cluster) { group_by(line_.front()->cluster); }
  open_.assign(groups_.size(), true);
  open_count_ = groups_.size();
  cursor_ = 0;
}

void BlockScheduler::add(sm::Launch& launch) {
  line_.push_back(&launch);
  if (line_.size() == 1) { begin_first(); }
}

void BlockScheduler::reopen(std::uint16_t sm) {
  const std::size_t group = group_of_[sm];
  if (line_.empty() || group == kNoGroup) { return; }
  if (open_count_ == 0) { cursor_ = group; }
  open_count_ += open_[group] ? 0 : 1;
  open_[group] = true;
}

BlockScheduler::Placement BlockScheduler::next(const std::vector<sm::Sm>& sms) {
  if (line_.empty()) { return {}; }
  const sm::Launch& launch = *line_.front();
  const auto fits = [&](std::uint16_t sm) { return sms[sm].fits(launch); };
  for (std::size_t tried = 0; tried < groups_.size() && open_count_ > 0; ++tried) {
    const std::size_t g = cursor_;
    cursor_ = cursor_ + 1 == groups_.size() ? 0 : cursor_ + 1;
    if (!open_[g]) { continue; }
    if (std::all_of(groups_[g].begin(), groups_[g].end(), fits)) {
      return {line_.front(), groups_[g]};
    }
    open_[g] = false;
    --open_count_;
  }
  return {};
}

void BlockScheduler::placed(const Placement& placement) {
  sm::Launch& launch = *placement.launch;
  launch.next_block += static_cast<std::int64_t>(placement.sms.size());
  if (launch.next_block >= launch.blocks) {
    line_.erase(line_.begin());
    begin_first();
  }
}

}  // namespace wavetail::device
