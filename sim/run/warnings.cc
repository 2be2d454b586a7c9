// SPDX-License-Identifier: Apache-2.0
#include "run/warnings.h"

#include <algorithm>

#include "bound/work.h"
#include "unit/human.h"

namespace wavetail::run {

namespace {

using kernel::MemoryAccess;
using kernel::Op;
using kernel::OpKind;
using kernel::Pattern;
using kernel::WalkKind;

// Addresses relative to the start of an array, [low, high); as real numbers, since they may be far
// out.
struct Span {
  double low = 0, high = 0;

  // Moves every address by up to `times` strides.
  void stretch(std::int64_t stride, double times) {
    const double far = static_cast<double>(stride) * std::max(0.0, times);
    (far < 0 ? low : high) += far;
  }
};

// Of the lanes of one instruction; lanes that lie below the address are moved up by the machine.
Span lanes_of(const MemoryAccess& a, std::int64_t lanes) {
  const auto width = static_cast<double>(a.width);
  switch (a.pattern) {
    case Pattern::Contiguous: return {0, static_cast<double>(lanes) * width};
    case Pattern::Strided:
    case Pattern::RowPerLane:
      return {0, static_cast<double>((lanes - 1) * std::abs(a.stride)) + width};
    case Pattern::Listed: {
      const auto [least, most] = std::minmax_element(a.offsets.begin(), a.offsets.end());
      if (least == a.offsets.end()) { return {0, width}; }
      return {0, static_cast<double>(*most - std::min<std::int64_t>(*least, 0)) + width};
    }
    default: return {0, width};
  }
}

class Reach {
 public:
  Reach(const kernel::Kernel& kernel, const gpu::GpuSpec& gpu, std::vector<std::string>& out)
      : kernel_(kernel), gpu_(gpu), out_(out) {}

  void role(const kernel::Role& role, std::int64_t first_warp) {
    const bound::Lanes last = bound::lanes_of_warp(kernel_, first_warp + role.warps - 1,
                                                   gpu_.sm.warp_size);
    warps_ = role.warps;
    last_lanes_ = last.count;
    program(role.program);
  }

 private:
  void program(const kernel::Program& ops) {
    for (const Op& op : ops) {
      if (op.kind == OpKind::Load || op.kind == OpKind::Store || op.kind == OpKind::CpAsync) {
        access(op);
      }
      const bool loop = op.kind == OpKind::Repeat;
      if (loop) { trips_.push_back(static_cast<double>(op.count)); }
      for (const kernel::Program& body : op.bodies) { program(body); }
      if (loop) { trips_.pop_back(); }
    }
  }

  // What the access spans in its program's warps before the last, or in the last alone.
  [[nodiscard]] Span span_of(const Op& op, std::int64_t lanes, std::int64_t warps) const {
    const MemoryAccess& a = op.access;
    Span span = lanes_of(a, a.lanes > 0 ? std::min<std::int64_t>(a.lanes, lanes) : lanes);
    span.low += static_cast<double>(a.offset);
    span.high += static_cast<double>(a.offset);
    if (a.walk != WalkKind::Strides) { return span; }
    const kernel::Strides& s = a.strides;
    const std::int64_t blocks[] = {s.block_x, s.block_y, s.block_z};
    for (std::size_t axis = 0; axis < 3; ++axis) {
      span.stretch(blocks[axis], static_cast<double>(kernel_.grid[axis] - 1));
    }
    span.stretch(s.warp, static_cast<double>(warps - 1));
    span.stretch(s.count, static_cast<double>(op.count - 1));
    for (std::size_t i = 0; i < s.loop.size() && i < trips_.size(); ++i) {
      span.stretch(s.loop[i], trips_[i] - 1);
    }
    return span;
  }

  void access(const Op& op) {
    const MemoryAccess& a = op.access;
    const bool own = a.walk == WalkKind::Strides || a.offset != 0;
    if (!own || a.pattern == Pattern::Random || a.array < 0) { return; }
    Span span = span_of(op, last_lanes_, warps_);
    if (warps_ > 1) {
      const Span before = span_of(op, gpu_.sm.warp_size, warps_ - 1);
      span = {std::min(span.low, before.low), std::max(span.high, before.high)};
    }
    const kernel::Array& array = kernel_.arrays[static_cast<std::size_t>(a.array)];
    const auto bytes = static_cast<double>(array.bytes.count());
    if (span.low >= 0 && span.high <= bytes) { return; }
    const std::string from = span.low < 0 ? unit::human(-span.low, "bytes") + " below its start to "
                                          : std::string();
    say("kernel '" + kernel_.name +
        "': " + (op.kind == OpKind::Store ? "a store to" : "a load of") + " '" + array.name +
        "' reaches " + (from.empty() ? "to " : "from " + from) + unit::human(span.high, "bytes") +
        " of an array of " + unit::human(bytes, "bytes") +
        ": its addresses wrap; the array would need " +
        unit::human(span.high - std::min(0.0, span.low), "bytes"));
  }

  void say(std::string text) {
    if (std::find(out_.begin(), out_.end(), text) == out_.end()) {
      out_.push_back(std::move(text));
    }
  }

  const kernel::Kernel& kernel_;
  const gpu::GpuSpec& gpu_;
  std::vector<std::string>& out_;
  std::int64_t warps_ = 1, last_lanes_ = 32;
  std::vector<double> trips_;
};

void note_launches(const std::vector<host::Item>& items, std::vector<bool>& launched) {
  for (const host::Item& item : items) {
    if (item.kind == host::ItemKind::Launch) {
      launched[static_cast<std::size_t>(item.kernel)] = true;
    }
    note_launches(item.body, launched);
  }
}

}  // namespace

std::vector<std::string> warnings_of(const scenario::Scenario& s) {
  std::vector<std::string> out;
  std::vector<bool> launched(s.kernels.size(), false);
  note_launches(s.timeline.items, launched);
  for (std::size_t k = 0; k < s.kernels.size(); ++k) {
    const kernel::Kernel& kernel = s.kernels[k];
    if (!launched[k]) {
      out.push_back("kernel '" + kernel.name + "' is never launched");
      continue;
    }
    if (!kernel.template_name.empty()) { continue; }
    Reach reach(kernel, s.gpu, out);
    std::int64_t first_warp = 0;
    for (const kernel::Role& role : kernel.roles) {
      reach.role(role, first_warp);
      first_warp += role.warps;
    }
  }
  return out;
}

}  // namespace wavetail::run
