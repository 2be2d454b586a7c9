// SPDX-License-Identifier: Apache-2.0
#include "device/block_scheduler.h"

#include <algorithm>

namespace wavetail::device {

BlockScheduler::BlockScheduler(const gpu::GpuSpec& gpu) {
  std::uint16_t sm = 0;
  std::int64_t widest = 0;
  for (const std::int64_t count : gpu.gpcs) {
    gpcs_.emplace_back();
    for (std::int64_t i = 0; i < count; ++i) { gpcs_.back().push_back(sm++); }
    widest = std::max(widest, count);
  }
  for (std::size_t row = 0; row < static_cast<std::size_t>(widest); ++row) {
    for (const auto& gpc : gpcs_) {
      if (row < gpc.size()) { order_.push_back(gpc[row]); }
    }
  }
  position_.resize(order_.size());
  for (std::size_t p = 0; p < order_.size(); ++p) {
    position_[order_[p]] = static_cast<std::uint16_t>(p);
  }
  open_.assign(order_.size(), true);
  open_count_ = open_.size();
}

void BlockScheduler::open_all() {
  std::fill(open_.begin(), open_.end(), true);
  open_count_ = open_.size();
  cursor_ = gpc_cursor_ = 0;
}

void BlockScheduler::add(sm::Launch& launch) {
  line_.push_back(&launch);
  if (line_.size() == 1) { open_all(); }
}

void BlockScheduler::reopen(std::uint16_t sm) {
  const std::size_t p = position_[sm];
  if (open_count_ == 0) { cursor_ = p; }
  open_count_ += open_[p] ? 0 : 1;
  open_[p] = true;
}

BlockScheduler::Placement BlockScheduler::next(const std::vector<sm::Sm>& sms) {
  Placement found;
  if (line_.empty()) { return found; }
  const sm::Launch& launch = *line_.front();
  const bool fits = launch.cluster == 1 ? find_single(sms, launch, found)
                                        : find_cluster(sms, launch, found);
  if (fits) { found.launch = line_.front(); }
  return found;
}

bool BlockScheduler::find_single(const std::vector<sm::Sm>& sms, const sm::Launch& launch,
                                 Placement& found) {
  for (std::size_t tried = 0; tried < order_.size() && open_count_ > 0; ++tried) {
    const std::size_t p = cursor_;
    cursor_ = cursor_ + 1 == order_.size() ? 0 : cursor_ + 1;
    if (!open_[p]) { continue; }
    if (sms[order_[p]].fits(launch)) {
      found.sms.push_back(order_[p]);
      return true;
    }
    open_[p] = false;
    --open_count_;
  }
  return false;
}

bool BlockScheduler::find_cluster(const std::vector<sm::Sm>& sms, const sm::Launch& launch,
                                  Placement& found) {
  const auto wanted = static_cast<std::size_t>(launch.cluster);
  for (std::size_t tried = 0; tried < gpcs_.size(); ++tried) {
    const auto& gpc = gpcs_[gpc_cursor_];
    gpc_cursor_ = gpc_cursor_ + 1 == gpcs_.size() ? 0 : gpc_cursor_ + 1;
    for (const std::uint16_t sm : gpc) {
      if (sms[sm].fits(launch)) { found.sms.push_back(sm); }
    }
    if (found.sms.size() >= wanted) {  // the emptiest of them
      std::stable_sort(found.sms.begin(), found.sms.end(), [&](std::uint16_t a, std::uint16_t b) {
        return launch.presence[a].blocks < launch.presence[b].blocks;
      });
      found.sms.resize(wanted);
      return true;
    }
    found.sms.clear();
  }
  return false;
}

void BlockScheduler::placed(const Placement& placement) {
  sm::Launch& launch = *placement.launch;
  launch.next_block += static_cast<std::int64_t>(placement.sms.size());
  if (launch.next_block >= launch.blocks) {
    line_.erase(line_.begin());
    open_all();
  }
}

}  // namespace wavetail::device
