// SPDX-License-Identifier: Apache-2.0
#include "bound/request.h"

#include <algorithm>
#include <vector>

namespace wavetail::bound {

namespace {

std::int64_t lane_offset(const kernel::MemoryAccess& a, int lane) {
  switch (a.pattern) {
    case kernel::Pattern::Contiguous: return std::int64_t{lane} * a.width;
    case kernel::Pattern::Strided:
    case kernel::Pattern::RowPerLane: return lane * a.stride;
    case kernel::Pattern::Listed: return a.offsets[static_cast<std::size_t>(lane)];
    case kernel::Pattern::Broadcast:
    case kernel::Pattern::Random: return 0;
  }
  return 0;
}

std::int64_t floor_div(std::int64_t a, std::int64_t b) { return a / b - (a % b < 0 ? 1 : 0); }

// How many different blocks of `size` bytes the ranges [offset, offset + width) touch.
double touched(const std::vector<std::int64_t>& offsets, std::int64_t width, std::int64_t size) {
  std::vector<std::int64_t> blocks;
  for (const auto offset : offsets) {
    for (auto b = floor_div(offset, size); b <= floor_div(offset + width - 1, size); ++b) {
      blocks.push_back(b);
    }
  }
  std::sort(blocks.begin(), blocks.end());
  return static_cast<double>(std::unique(blocks.begin(), blocks.end()) - blocks.begin());
}

}  // namespace

Request request_of(const kernel::MemoryAccess& access, Lanes active, unit::Bytes sector) {
  int end = active.first + active.count;
  if (access.lanes > 0) { end = std::min(end, access.lanes); }
  if (access.pattern == kernel::Pattern::Listed) {
    end = std::min(end, static_cast<int>(access.offsets.size()));
  }
  Request r;
  r.lanes = std::max(0, end - active.first);
  if (r.lanes == 0) { return r; }
  r.useful_bytes = static_cast<double>(r.lanes) * access.width;
  if (access.pattern == kernel::Pattern::Random) {
    const auto per_lane = static_cast<double>((access.width + sector.count() - 1) / sector.count());
    r.sectors = static_cast<double>(r.lanes) * per_lane;
    r.most_sectors = r.sectors;
    r.distinct_bytes = access.width;
    return r;
  }
  std::vector<std::int64_t> offsets;
  for (int lane = active.first; lane < end; ++lane) {
    offsets.push_back(access.offset + lane_offset(access, lane));
  }
  r.sectors = touched(offsets, access.width, sector.count());
  // A run of lanes that does not fill whole sectors may straddle one more where its address is
  // unaligned.
  const auto span = access.pattern == kernel::Pattern::Contiguous ? std::int64_t{access.width}
                                                                  : access.stride;
  const bool aligned = access.pattern != kernel::Pattern::Listed &&
                       access.offset % sector.count() == 0 &&
                       (r.lanes * span) % sector.count() == 0;
  r.most_sectors = aligned ? r.sectors : std::min(static_cast<double>(r.lanes), r.sectors + 1);
  r.distinct_bytes = touched(offsets, access.width, 1);
  return r;
}

}  // namespace wavetail::bound
