// SPDX-License-Identifier: Apache-2.0
#include "memory/bank_pattern.h"

#include <algorithm>

namespace wavetail::memory {

using kernel::SharedAccess;
using kernel::SharedPattern;

namespace {

std::int64_t offset_of(const SharedAccess& a, std::int64_t lane, std::int64_t per_line) {
  switch (a.pattern) {
    case SharedPattern::Contiguous: return lane * a.width;
    case SharedPattern::Strided: return lane * a.stride;
    case SharedPattern::Row: return lane / per_line * a.pitch + lane % per_line * a.width;
    case SharedPattern::Column: return lane % per_line * a.pitch + lane / per_line * a.width;
    case SharedPattern::Listed: return a.offsets[static_cast<std::size_t>(lane)];
    case SharedPattern::Broadcast:
    case SharedPattern::Random: return 0;
  }
  return 0;
}

// Grows the range by `steps` steps of `step` bytes.
void walk(Extent& e, std::int64_t step, std::int64_t steps) {
  (step < 0 ? e.low : e.high) += step * std::max<std::int64_t>(0, steps - 1);
}

}  // namespace

std::vector<std::int64_t> lane_offsets(const SharedAccess& a, int warp_size, int first, int count) {
  std::vector<std::int64_t> offsets(static_cast<std::size_t>(warp_size), kNoLane);
  std::int64_t most = a.lanes > 0 ? a.lanes : warp_size;
  if (a.pattern == SharedPattern::Listed) {
    most = std::min(most, static_cast<std::int64_t>(a.offsets.size()));
  }
  const std::int64_t per_line = a.per_line > 0 ? a.per_line : warp_size;
  for (std::int64_t lane = first; lane < std::min<std::int64_t>(first + count, most); ++lane) {
    offsets[static_cast<std::size_t>(lane)] = offset_of(a, lane, per_line);
  }
  return offsets;
}

BankAccess bank_access_at(const SharedAccess& a, const std::vector<std::int64_t>& offsets,
                          std::int64_t base, bool merge_pairs) {
  std::vector<std::int64_t> lanes = offsets;
  for (std::int64_t& lane : lanes) { lane = lane == kNoLane ? kNoLane : a.swizzle(base + lane); }
  return bank_access(lanes, a.width, merge_pairs);
}

// Without a swizzle another address turns the banks round; only lanes narrower than a bank see
// where in a word they begin.
std::int64_t bank_period(const SharedAccess& a) {
  return std::max<std::int64_t>(a.swizzle.period(), kBankBytes);
}

Extent shared_extent(const SharedAccess& a, int warp_size, std::int64_t warps,
                     std::int64_t instructions, const std::vector<std::int64_t>& trips) {
  Extent e{a.offset, a.offset};
  std::int64_t low = 0;
  std::int64_t high = a.pattern == SharedPattern::Random ? a.bytes : a.width;
  for (const std::int64_t offset : lane_offsets(a, warp_size, 0, warp_size)) {
    if (offset == kNoLane) { continue; }
    low = std::min(low, offset);
    high = std::max(high, offset + a.width);
  }
  e.low += low;
  e.high += high;
  walk(e, a.warp, warps);
  walk(e, a.count, instructions);
  for (std::size_t d = 0; d < std::min(a.loop.size(), trips.size()); ++d) {
    walk(e, a.loop[d], trips[d]);
  }
  if (a.swizzle.bits > 0) {
    const std::int64_t piece = std::int64_t{1} << (a.swizzle.bits + a.swizzle.base);
    e.low = e.low >= 0 ? e.low / piece * piece : e.low;
    e.high = (e.high + piece - 1) / piece * piece;
  }
  return e;
}

}  // namespace wavetail::memory
