// SPDX-License-Identifier: Apache-2.0
#include "sm/walk.h"

#include <algorithm>

namespace wavetail::sm {

using kernel::MemoryAccess;
using kernel::Pattern;
using kernel::WalkKind;

namespace {

// How an access spreads and moves: `span` bytes per warp, `step` bytes to the same warp's next
// piece where pieces of one warp follow each other.
struct Extent {
  std::int64_t lane_stride = 0;
  std::int64_t span = 0;
};

Extent extent_of(const MemoryAccess& a, int lanes) {
  switch (a.pattern) {
    case Pattern::Contiguous: return {a.width, static_cast<std::int64_t>(lanes) * a.width};
    case Pattern::Strided:
    case Pattern::RowPerLane:
      return {a.stride, std::max<std::int64_t>(a.width, lanes * std::abs(a.stride))};
    case Pattern::Broadcast: return {0, a.width};
    case Pattern::Random: return {a.width, a.width};
    case Pattern::Listed: {
      const auto [low, high] = std::minmax_element(a.offsets.begin(), a.offsets.end());
      if (low == a.offsets.end()) { return {0, a.width}; }
      return {0, std::max<std::int64_t>(0, *high) - std::min<std::int64_t>(0, *low) + a.width};
    }
  }
  return {};
}

std::int64_t product(const std::vector<std::int64_t>& v) {
  std::int64_t p = 1;
  for (const std::int64_t x : v) { p *= x; }
  return p;
}

// The innermost loop moves by `inner`, each outer one by the whole of the loop inside it.
void set_loops(CompiledAccess& c, const std::vector<std::int64_t>& trips, std::int64_t inner) {
  for (std::size_t d = trips.size(); d-- > 0;) {
    c.loop[d] = inner;
    inner *= trips[d];
  }
}

void set_block(CompiledAccess& c, const kernel::Dim3& grid, std::int64_t per_block) {
  c.block = {per_block, per_block * grid[0], per_block * grid[0] * grid[1]};
}

// Each thread owns its elements: lanes stand (elements per thread) x width apart.
Extent walk_threads(CompiledAccess& c, const MemoryAccess& a, std::int64_t count,
                    const Surroundings& at) {
  const std::int64_t per_thread = count * product(at.trips) * a.width;
  const std::int64_t per_warp = per_thread * at.warp_size;
  set_block(c, at.grid, at.warps * per_warp);
  c.warp = per_warp;
  c.count = a.width;
  set_loops(c, at.trips, count * a.width);
  return {per_thread, per_warp};
}

// Each lane walks along a row of its own; warps and blocks take the next rows.
void walk_rows(CompiledAccess& c, const MemoryAccess& a, std::int64_t count, const Surroundings& at,
               std::int64_t span) {
  set_block(c, at.grid, at.warps * span);
  c.warp = span;
  c.count = a.width;
  set_loops(c, at.trips, count * a.width);
}

// How far lanes reach below the instruction's address, in whole lines: the lanes of a piece that
// goes backwards are moved up by it, so that no lane ever lies before the array.
std::int64_t reach_below(const MemoryAccess& a, std::int64_t lane_stride, int lanes) {
  std::int64_t lowest = std::min<std::int64_t>(0, lane_stride * (lanes - 1));
  if (a.pattern == Pattern::Listed) {
    for (const std::int64_t offset : a.offsets) { lowest = std::min(lowest, offset); }
  }
  constexpr std::int64_t kLine = memory::kLineBytes;
  return (kLine - 1 - lowest) / kLine * kLine;
}

}  // namespace

void walk(CompiledAccess& c, WalkKind kind, std::int64_t count, const Surroundings& at,
          std::int64_t span) {
  const std::int64_t pieces = count * product(at.trips);  // per warp
  switch (kind) {
    case WalkKind::Grid: {
      const std::int64_t row = at.blocks * at.warps * span;
      set_block(c, at.grid, at.warps * span);
      c.warp = span;
      c.count = row;
      set_loops(c, at.trips, count * row);
      break;
    }
    case WalkKind::Block: {
      const std::int64_t row = at.warps * span;
      set_block(c, at.grid, pieces * row);
      c.warp = span;
      c.count = row;
      set_loops(c, at.trips, count * row);
      break;
    }
    case WalkKind::Warp:
      set_block(c, at.grid, at.warps * pieces * span);
      c.warp = pieces * span;
      c.count = span;
      set_loops(c, at.trips, count * span);
      break;
    case WalkKind::Same: {
      const std::int64_t row = at.warps * span;
      c.warp = span;
      c.count = row;
      set_loops(c, at.trips, count * row);
      break;
    }
    case WalkKind::Everyone:
      c.count = span;
      set_loops(c, at.trips, count * span);
      break;
    case WalkKind::Thread:
    case WalkKind::Strides: break;
  }
}

void take_strides(CompiledAccess& c, const kernel::Strides& s) {
  c.block = {s.block_x, s.block_y, s.block_z};
  c.at_z = s.at_z;
  c.warp = s.warp;
  c.count = s.count;
  std::copy_n(s.loop.begin(), std::min<std::size_t>(s.loop.size(), c.loop.size()), c.loop.begin());
}

CompiledAccess resolve(const MemoryAccess& a, std::int64_t count, const Surroundings& at,
                       std::int64_t bytes) {
  CompiledAccess c;
  c.array = a.array;
  c.width = a.width;
  c.bypass_l1 = a.bypass_l1 || a.atomic;
  c.atomic = a.atomic;
  c.aggregate = a.aggregate;
  c.random = a.pattern == Pattern::Random;
  c.seed = a.seed;
  c.offset = a.offset;
  c.depth = static_cast<int>(at.trips.size());
  c.first_lane = at.first_lane;
  const int whole = a.lanes > 0 ? a.lanes : at.warp_size;
  Extent extent = extent_of(a, whole);
  if (a.walk == WalkKind::Strides) {
    take_strides(c, a.strides);
  } else if (a.walk == WalkKind::Thread) {
    extent = walk_threads(c, a, count, at);
  } else if (a.pattern == Pattern::RowPerLane) {
    walk_rows(c, a, count, at, extent.span);
  } else {
    walk(c, a.walk, count, at, extent.span);
  }
  // Whole pieces only, so that a warp never reaches beyond the end of the array.
  const std::int64_t unit = a.walk == WalkKind::Strides ? a.width : extent.span;
  c.wrap = bytes >= unit ? bytes / unit * unit : bytes;
  const std::int64_t up = reach_below(a, extent.lane_stride, whole);
  for (int lane = at.first_lane; lane < std::min(at.first_lane + at.lanes, whole); ++lane) {
    const auto n = static_cast<std::size_t>(lane);
    if (a.pattern != Pattern::Listed) {
      c.lane_offsets.push_back(lane * extent.lane_stride + up);
    } else if (n < a.offsets.size()) {
      c.lane_offsets.push_back(a.offsets[n] + up);
    }
  }
  c.bytes = memory::whole_lines(bytes);
  for (const std::int64_t offset : c.lane_offsets) {
    c.reach = std::max(c.reach, offset + (c.random ? 0 : a.width));
  }
  return c;
}

}  // namespace wavetail::sm
