// SPDX-License-Identifier: Apache-2.0
#include "bound/request.h"

#include <algorithm>
#include <vector>

#include "memory/shape.h"

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

// Different bytes of the ranges [offset, offset + width).
double distinct(std::vector<std::int64_t> offsets, std::int64_t width) {
  std::sort(offsets.begin(), offsets.end());
  double bytes = 0;
  std::int64_t end = offsets.front();
  for (const auto offset : offsets) {
    bytes += static_cast<double>(std::max<std::int64_t>(0, offset + width - std::max(end, offset)));
    end = std::max(end, offset + width);
  }
  return bytes;
}

// A run of lanes that does not fill whole sectors straddles one more where its address is
// unaligned.
double most_sectors(const kernel::MemoryAccess& a, const Request& r) {
  if (a.pattern == kernel::Pattern::Listed) { return r.lanes; }
  const auto apart = a.pattern == kernel::Pattern::Contiguous ? std::int64_t{a.width} : a.stride;
  const bool aligned = a.offset % memory::kSectorBytes == 0 &&
                       (r.lanes * apart) % memory::kSectorBytes == 0;
  return aligned ? r.sectors : std::min(static_cast<double>(r.lanes), r.sectors + 1);
}

}  // namespace

Request request_of(const kernel::MemoryAccess& access, Lanes active, std::int64_t array_bytes) {
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
    r.sectors = r.lanes;  // a lane's bytes never straddle a sector
    r.most_sectors = r.sectors;
    r.distinct_bytes = access.width;
    return r;
  }
  std::vector<std::int64_t> offsets;
  for (int lane = active.first; lane < end; ++lane) {
    offsets.push_back(lane_offset(access, lane));
  }
  constexpr std::int64_t kLine = memory::kLineBytes;
  const auto misalignment = static_cast<int>((access.offset % kLine + kLine) % kLine);
  if (array_bytes != INT64_MAX) {
    const std::int64_t most = memory::whole_lines(array_bytes);
    for (std::int64_t& offset : offsets) {
      offset = ((offset + misalignment) % most + most) % most - misalignment;
    }
  }
  r.sectors = memory::coalesce(offsets, access.width, misalignment).sectors;
  r.most_sectors = most_sectors(access, r);
  r.distinct_bytes = distinct(std::move(offsets), access.width);
  return r;
}

}  // namespace wavetail::bound
