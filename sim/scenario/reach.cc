// SPDX-License-Identifier: Apache-2.0
#include "scenario/reach.h"

#include <algorithm>
#include <cmath>

namespace wavetail::scenario {

namespace {

using kernel::MemoryAccess;
using kernel::Op;
using kernel::OpKind;

double magnitude(std::int64_t bytes) { return std::abs(static_cast<double>(bytes)); }

struct Walker {
  const kernel::Kernel& kernel;
  double warps = 1;  // of the role
  double lanes = 32;
  std::vector<double> trips;  // of the enclosing loops
  double farthest = 0;

  // Depth is bounded by the loader's limit on nesting.
  void program(const kernel::Program& ops) {
    for (const Op& op : ops) {
      if (op.kind == OpKind::Load || op.kind == OpKind::Store || op.kind == OpKind::CpAsync) {
        farthest = std::max(farthest, distance(op));
      }
      for (const kernel::Box& box : op.boxes) { farthest = std::max(farthest, distance(box)); }
      if (op.kind == OpKind::Repeat) { trips.push_back(static_cast<double>(op.count)); }
      for (const kernel::Program& body : op.bodies) { program(body); }
      if (op.kind == OpKind::Repeat) { trips.pop_back(); }
    }
  }

  [[nodiscard]] double distance(const kernel::Box& box) const {
    double all = magnitude(box.offset) + static_cast<double>(box.extent());
    if (box.walk == kernel::WalkKind::Strides) { return all + strides(box.strides); }
    double pieces = static_cast<double>(kernel::volume(kernel.grid));
    for (const double t : trips) { pieces *= t; }
    return all + pieces * static_cast<double>(box.extent());
  }

  [[nodiscard]] double strides(const kernel::Strides& s) const {
    double all = magnitude(s.block_x) * static_cast<double>(kernel.grid[0]);
    all += magnitude(s.block_y) * static_cast<double>(kernel.grid[1]);
    all += magnitude(s.block_z) * static_cast<double>(kernel.grid[2]);
    for (std::size_t i = 0; i < std::min(s.loop.size(), trips.size()); ++i) {
      all += magnitude(s.loop[i]) * trips[i];
    }
    return all;
  }

  [[nodiscard]] double distance(const Op& op) const {
    const MemoryAccess& a = op.access;
    const auto count = static_cast<double>(op.count);
    double span = lanes * std::max(static_cast<double>(a.width), magnitude(a.stride));
    for (const std::int64_t offset : a.offsets) { span = std::max(span, magnitude(offset)); }
    double all = magnitude(a.offset) + span;
    if (a.walk == kernel::WalkKind::Strides) {
      const kernel::Strides& s = a.strides;
      all += strides(s) + magnitude(s.warp) * warps + magnitude(s.count) * count;
      return all;
    }
    // Named walks lay all instructions of all warps of the grid side by side at most.
    double pieces = static_cast<double>(kernel::volume(kernel.grid)) * warps * count;
    for (const double t : trips) { pieces *= t; }
    return all + pieces * span;
  }
};

}  // namespace

double reach(const kernel::Kernel& k, const gpu::GpuSpec& gpu) {
  double farthest = 0;
  for (const kernel::Role& role : k.roles) {
    Walker walker{k, static_cast<double>(role.warps), static_cast<double>(gpu.sm.warp_size), {}, 0};
    walker.program(role.program);
    farthest = std::max(farthest, walker.farthest);
  }
  return farthest;
}

}  // namespace wavetail::scenario
