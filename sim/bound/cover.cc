// SPDX-License-Identifier: Apache-2.0
#include "bound/cover.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "memory/shape.h"

namespace wavetail::bound {

namespace {

using kernel::Pattern;
using kernel::WalkKind;

struct Step {
  double stride = 0;
  double count = 1;
};

// `distinct` bytes spread over `range` bytes that are laid over an array of `room` bytes: each byte
// of the array comes equally often, give or take once.
double wrapped(double distinct, double range, double room) {
  if (range <= room) { return distinct; }
  const bool without_gaps = distinct >= range;
  return without_gaps ? std::min(room, distinct) : distinct / std::ceil(range / room);
}

// Each index moves by its own stride: a step adds if it leaves the range that the smaller ones
// cover, or if that has no gaps, and none may run past the array's end.
double unique_of_steps(std::vector<Step> steps, double unique, double extent, double array_bytes) {
  std::sort(steps.begin(), steps.end(),
            [](const Step& x, const Step& y) { return x.stride < y.stride; });
  for (const auto& step : steps) {
    const double count = std::min(step.count, std::floor((array_bytes - extent) / step.stride) + 1);
    if (count <= 1) { break; }
    const bool without_gaps = unique >= extent && step.stride <= extent;
    if (step.stride >= extent) { unique *= count; }
    extent += step.stride * (count - 1);
    if (without_gaps) { unique = extent; }
  }
  return std::min(array_bytes, unique);
}

}  // namespace

double sectors_of(double array_bytes) {
  return std::max(1.0, std::floor(array_bytes / static_cast<double>(memory::kSectorBytes)));
}

double expected_different(double draws, double places) {
  if (draws <= 0) { return 0; }
  return places <= 1 ? 1 : -places * std::expm1(draws * std::log1p(-1 / places));
}

double least_different(double draws, double places) {
  constexpr double kNever = 41.4;  // -ln(1e-18)
  const double short_of = std::sqrt(draws * kNever / 2);
  return draws <= 0 ? 0 : std::max(1.0, expected_different(draws, places) - short_of);
}

double Standing::per_warp() const {
  double n = count;
  for (const double t : trips) { n *= t; }
  return n;
}

double piece_bytes(const kernel::MemoryAccess& a, std::int64_t lanes) {
  switch (a.pattern) {
    case Pattern::Contiguous: return static_cast<double>(lanes * a.width);
    case Pattern::Strided:
    case Pattern::RowPerLane:
      return static_cast<double>(std::max<std::int64_t>(a.width, lanes * std::abs(a.stride)));
    case Pattern::Broadcast:
    case Pattern::Random: return a.width;
    case Pattern::Listed: {
      const auto last = std::max_element(a.offsets.begin(), a.offsets.end());
      return static_cast<double>(a.width + (last == a.offsets.end() ? 0 : *last));
    }
  }
  return a.width;
}

void Cover::add(const Standing& at, const Request& request) {
  request_distinct_ = std::max(request_distinct_, request.distinct_bytes);
  warp_distinct_ = std::max(warp_distinct_, at.per_warp() * request.distinct_bytes);
  block_distinct_ += at.per_warp() * request.distinct_bytes;
  block_draws_ += at.per_warp() * request.lanes;
}

double Cover::unique_bytes(const kernel::MemoryAccess& a, const Standing& at,
                           double array_bytes) const {
  if (a.pattern == Pattern::Random) {
    // A lane's bytes of every different sector: those of the same sector may come along.
    const double sectors = least_different(block_draws_ * at.blocks(), sectors_of(array_bytes));
    return std::min(array_bytes, sectors * a.width);
  }
  if (a.walk == WalkKind::Strides) { return unique_of_strides(a, at, array_bytes); }
  const double piece = piece_bytes(a, a.lanes > 0 ? a.lanes : at.warp_size);
  const double warps = static_cast<double>(at.warps);
  const double grid_distinct = block_distinct_ * at.blocks();
  if (a.walk == WalkKind::Thread) {
    const double warp_bytes = at.per_warp() * static_cast<double>(a.width * at.warp_size);
    const double room = std::max(warp_bytes, std::floor(array_bytes / warp_bytes) * warp_bytes);
    return std::min(array_bytes, wrapped(grid_distinct, warps * at.blocks() * warp_bytes, room));
  }
  const double room = std::max(piece, std::floor(array_bytes / piece) * piece);
  if (a.pattern == Pattern::RowPerLane) {
    // A lane that walks beyond its row enters that of another.
    const double along = at.per_warp() * a.width /
                         std::max(1.0, std::abs(static_cast<double>(a.stride)));
    const double rows = warps * at.blocks() * piece;
    const double distinct = grid_distinct / std::max(1.0, std::ceil(along));
    return std::min(array_bytes, distinct / std::max(1.0, std::ceil(rows / room)));
  }
  const double of_warp = at.per_warp() * piece;
  switch (a.walk) {
    case WalkKind::Everyone: return std::min(array_bytes, wrapped(warp_distinct_, of_warp, room));
    case WalkKind::Same:
      return std::min(array_bytes, wrapped(block_distinct_, warps * of_warp, room));
    default:
      return std::min(array_bytes, wrapped(grid_distinct, warps * at.blocks() * of_warp, room));
  }
}

double Cover::unique_of_strides(const kernel::MemoryAccess& a, const Standing& at,
                                double array_bytes) const {
  const auto& s = a.strides;
  std::vector<Step> steps;
  const auto add = [&](std::int64_t stride, double count) {
    if (stride != 0 && count > 1) {
      steps.push_back({std::abs(static_cast<double>(stride)), count});
    }
  };
  add(s.block_x, static_cast<double>(at.grid[0]));
  add(s.block_y, static_cast<double>(at.grid[1]));
  add(s.block_z, static_cast<double>(at.grid[2]));
  add(s.warp, at.split ? 1.0 : static_cast<double>(at.warps));
  add(s.count, at.count);
  for (std::size_t i = 0; i < s.loop.size() && i < at.trips.size(); ++i) {
    add(s.loop[i], at.trips[i]);
  }
  const auto width = static_cast<double>(a.width);
  if (a.pattern == Pattern::Strided && std::abs(a.stride) > a.width) {
    // Lanes may leave gaps that instructions behind each other fill.
    add(a.stride, std::round(request_distinct_ / width));
    return unique_of_steps(std::move(steps), width, width, array_bytes);
  }
  return unique_of_steps(std::move(steps), request_distinct_,
                         piece_bytes(a, a.lanes > 0 ? a.lanes : at.warp_size), array_bytes);
}

double unique_bytes(const kernel::Box& box, const kernel::Kernel& kernel,
                    const std::vector<double>& trips, double array_bytes) {
  const auto bytes = static_cast<double>(box.bytes());
  const kernel::Dim3& grid = kernel.shares ? kernel.shares->tiles : kernel.grid;
  double pieces = static_cast<double>(kernel::volume(grid));
  for (const double t : trips) { pieces *= t; }
  // Blocks that share a multicast box count once, and so do all where each takes the same.
  double sharing = 1;
  std::vector<Step> steps;
  const auto add = [&](std::int64_t stride, double count) {
    if (stride != 0 && count > 1) {
      steps.push_back({std::abs(static_cast<double>(stride)), count});
    }
  };
  const std::int64_t block[] = {box.strides.block_x, box.strides.block_y, box.strides.block_z};
  for (std::size_t axis = 0; axis < 3; ++axis) {
    const std::int64_t group = box.multicast[axis] ? kernel.cluster[axis] : 1;
    sharing *= static_cast<double>(group);
    add(block[axis] * group, static_cast<double>(grid[axis] / group));
  }
  if (box.walk != WalkKind::Strides) {
    const double extent = static_cast<double>(box.extent());
    const double blocks = box.walk == WalkKind::Same ? static_cast<double>(kernel::volume(grid))
                                                     : sharing;
    const double whole = std::floor(array_bytes / extent / sharing) - (box.offset != 0 ? 1 : 0);
    return std::max(1.0, std::min(whole, std::floor(pieces / blocks))) * bytes;
  }
  const auto backwards = [](std::int64_t stride) { return stride < 0; };
  if (box.offset != 0 || std::any_of(std::begin(block), std::end(block), backwards) ||
      std::any_of(box.strides.loop.begin(), box.strides.loop.end(), backwards)) {
    return bytes;  // it may run into the array's end and be moved
  }
  for (std::size_t i = 0; i < box.strides.loop.size() && i < trips.size(); ++i) {
    add(box.strides.loop[i], trips[i]);
  }
  add(box.pitch, static_cast<double>(box.rows));
  return unique_of_steps(std::move(steps), static_cast<double>(box.row_bytes),
                         static_cast<double>(box.row_bytes), array_bytes);
}

}  // namespace wavetail::bound
