// SPDX-License-Identifier: Apache-2.0
#include "device/block_scheduler.h"

#include <algorithm>

namespace wavetail::device {

BlockScheduler::BlockScheduler(const gpu::GpuSpec& gpu) {
  std::uint16_t sm = 0;
  for (const std::int64_t count : gpu.gpcs) {
    const std::size_t parts = gpu.memory_side.capacity.count() > 0
                                  ? static_cast<std::size_t>(gpu.l2.partitions)
                                  : 1;
    xcd_of_.push_back(gpcs_.size() * parts / gpu.gpcs.size());
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
  part_of_.clear();
  std::fill(group_of_.begin(), group_of_.end(), kNoGroup);
  const auto size = static_cast<std::size_t>(cluster);
  std::size_t rows = 0;
  for (const Group& gpc : gpcs_) { rows = std::max(rows, gpc.size() / size); }
  for (std::size_t row = 0; row < rows; ++row) {
    for (std::size_t n = 0; n < gpcs_.size(); ++n) {
      const Group& gpc = gpcs_[n];
      if (row >= gpc.size() / size) { continue; }
      part_of_.push_back(xcd_of_[n]);
      const auto first = gpc.begin() + static_cast<std::ptrdiff_t>(row * size);
      groups_.emplace_back(first, first + cluster);
      for (const std::uint16_t sm : groups_.back()) { group_of_[sm] = groups_.size() - 1; }
    }
  }
}

// Parts without a group get no blocks: the others are numbered through.
void BlockScheduler::number_parts() {
  std::vector<std::size_t> parts = part_of_;
  std::sort(parts.begin(), parts.end());
  parts.erase(std::unique(parts.begin(), parts.end()), parts.end());
  for (std::size_t& part : part_of_) {
    const auto at = std::lower_bound(parts.begin(), parts.end(), part);
    part = static_cast<std::size_t>(at - parts.begin());
  }
  dealt_.assign(std::max<std::size_t>(1, parts.size()), 0);
}

// The first block of the cluster that this group would take next.
std::int64_t BlockScheduler::block_for(std::size_t group) const {
  const std::size_t part = part_of_[group];
  return (static_cast<std::int64_t>(part) +
          dealt_[part] * static_cast<std::int64_t>(dealt_.size())) *
         cluster_;
}

// Another launch is first in line: it looks at every SM, from the beginning.
void BlockScheduler::begin_first() {
  if (line_.empty()) { return; }
  if (cluster_ != line_.front()->cluster) {
    group_by(line_.front()->cluster);
    number_parts();
  }
  dealt_.assign(dealt_.size(), 0);
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
    const std::int64_t block = block_for(g);
    if (block < launch.blocks && std::all_of(groups_[g].begin(), groups_[g].end(), fits)) {
      return {line_.front(), groups_[g], block};
    }
    open_[g] = false;
    --open_count_;
  }
  return {};
}

void BlockScheduler::placed(const Placement& placement) {
  sm::Launch& launch = *placement.launch;
  launch.next_block += static_cast<std::int64_t>(placement.sms.size());
  ++dealt_[part_of_[group_of_[placement.sms.front()]]];
  if (launch.next_block >= launch.blocks) {
    line_.erase(line_.begin());
    begin_first();
  }
}

bool BlockScheduler::leave_out(sm::Launch& launch, std::int64_t blocks) {
  const std::int64_t row = launch.cluster * static_cast<std::int64_t>(dealt_.size());
  if (blocks % row != 0) { return false; }
  launch.next_block += blocks;
  for (std::int64_t& dealt : dealt_) { dealt += blocks / row; }
  return true;
}

}  // namespace wavetail::device
