// SPDX-License-Identifier: Apache-2.0
#include "sm/shared_code.h"

#include <algorithm>

#include "memory/divider.h"

namespace wavetail::sm {

CompiledShared::CompiledShared(const kernel::SharedAccess& access, bool store, int first, int count,
                               const gpu::GpuSpec& gpu)
    : access_(access),
      offsets_(memory::lane_offsets(access, static_cast<int>(gpu.sm.warp_size), first, count)),
      merge_pairs_(!store && memory::merges_pairs(gpu.architecture)),
      active_lanes_(static_cast<int>(
          offsets_.size() -
          static_cast<std::size_t>(std::count(offsets_.begin(), offsets_.end(), memory::kNoLane)))),
      bytes_per_cycle_(gpu.shared_memory.bandwidth.count()),
      period_(memory::bank_period(access)) {
  for (const std::int64_t offset : offsets_) {
    if (offset != memory::kNoLane && lift_ + offset < 0) {
      lift_ = (period_ - 1 - offset) / period_ * period_;
    }
  }
}

CompiledShared::Request CompiledShared::priced(const memory::BankAccess& banks) const {
  constexpr std::int64_t kThousandths = 1000;
  const std::int64_t bytes = std::int64_t{banks.wavefronts} * memory::kWavefrontBytes;
  return {banks, (bytes * kThousandths + bytes_per_cycle_ - 1) / bytes_per_cycle_};
}

const CompiledShared::Request& CompiledShared::request(std::int64_t base) const {
  if (known_.empty()) { known_.resize(static_cast<std::size_t>(period_)); }
  const std::int64_t within = (base % period_ + period_) % period_;
  Request& known = known_[static_cast<std::size_t>(within)];
  if (known.cycles == 0) {
    known = priced(memory::bank_access_at(access_, offsets_, within + lift_, merge_pairs_));
  }
  return known;
}

CompiledShared::Request CompiledShared::random_request(std::int64_t base,
                                                       std::uint64_t state) const {
  const auto elements = static_cast<std::uint64_t>(access_.bytes / access_.width);
  std::vector<std::int64_t> drawn = offsets_;
  for (std::size_t lane = 0; lane < drawn.size(); ++lane) {
    state = memory::mix(state + lane + 1);
    if (drawn[lane] == memory::kNoLane) { continue; }
    drawn[lane] = static_cast<std::int64_t>(state % elements) * access_.width;
  }
  return priced(memory::bank_access_at(access_, drawn, base, merge_pairs_));
}

std::int64_t CompiledShared::address(
    std::int64_t warp, std::int64_t index,
    const std::array<std::int64_t, kernel::kMaxLoopDepth>& trips) const {
  std::int64_t at = access_.offset + warp * access_.warp + index * access_.count;
  for (std::size_t d = 0; d < access_.loop.size(); ++d) { at += trips[d] * access_.loop[d]; }
  return at;
}

}  // namespace wavetail::sm
