// SPDX-License-Identifier: Apache-2.0
#include "bound/work.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace wavetail::bound {

namespace {

using kernel::Op;
using kernel::OpKind;

// A loop or index that moves an access, and how often.
struct Step {
  double stride = 0;
  double count = 1;
};

// Where the walk stands inside one warp.
struct Place {
  Lanes lanes;
  std::int64_t warp = 0, warps = 0;  // within the role
  double times = 1;                  // how often this warp comes here
  std::vector<double> trips;         // of the enclosing loops, outermost first
  bool split = false;                // some warps of the role go another way
};

// What one access covers, gathered warp by warp.
struct Cover {
  double warp_distinct = 0;   // bytes of the fullest warp
  double block_distinct = 0;  // bytes of all warps of a block
  double
      block_range = 0;  // bytes that they are spread over, lanes and warps that do nothing included
  double by_steps = 0;  // WalkKind::Strides: different bytes over the launch, at least
};

// Different bytes of one access over the launch when it moves by independent steps: a step adds
// only if it leaves the range that the smaller ones cover, and no step may run past the array's
// end.
double unique_of_steps(std::vector<Step> steps, double request_bytes, double request_span,
                       double array_bytes) {
  std::sort(steps.begin(), steps.end(),
            [](const Step& a, const Step& b) { return a.stride < b.stride; });
  double unique = request_bytes;
  double extent = request_span;
  for (const auto& s : steps) {
    if (s.stride <= 0 || s.count <= 1) { continue; }
    const double room = std::floor((array_bytes - extent) / s.stride) + 1;
    const double count = std::min(s.count, room);
    if (count <= 1) { break; }
    if (s.stride >= extent) { unique *= count; }
    extent += s.stride * (count - 1);
  }
  return unique;
}

class Counter {
 public:
  Counter(const kernel::Kernel& kernel, const gpu::GpuSpec& gpu, Work& work)
      : kernel_(kernel),
        gpu_(gpu),
        work_(work),
        blocks_(static_cast<double>(kernel::volume(kernel.grid))) {}

  void role(const kernel::Role& role, std::int64_t first_warp) {
    const std::size_t first_access = work_.accesses.size();
    for (std::int64_t w = 0; w < role.warps; ++w) {
      next_access_ = first_access;
      Place place{.lanes = lanes_of_warp(kernel_, first_warp + w, gpu_.sm.warp_size),
                  .warp = w,
                  .warps = role.warps,
                  .times = 1,
                  .trips = {}};
      program(role.program, place, true);
    }
  }

 private:
  // `taken` is false for ways that this warp does not take; they are passed only to keep accesses
  // numbered.
  void program(const kernel::Program& ops, const Place& place, bool taken) {
    for (const auto& op : ops) {
      switch (op.kind) {
        case OpKind::Arithmetic:
          if (taken) { arithmetic(op, place); }
          break;
        case OpKind::Load:
        case OpKind::Store: access(op, place, taken); break;
        case OpKind::BlockBarrier:
          if (taken) {
            issue(place.times, place.lanes.count);
            work_.barriers += place.times * blocks_;
          }
          break;
        case OpKind::WaitLoads: break;
        case OpKind::Repeat: repeat(op, place, taken); break;
        case OpKind::Diverge: diverge(op, place, taken); break;
      }
    }
  }

  void issue(double instructions, int lanes) {
    work_.warp_instructions += instructions * blocks_;
    work_.thread_instructions += instructions * blocks_ * lanes;
  }

  void arithmetic(const Op& op, const Place& place) {
    const double n = place.times * static_cast<double>(op.count);
    issue(n, place.lanes.count);
    work_.pipe.at(static_cast<std::size_t>(op.pipe)) += n * blocks_;
    work_.flops += n * blocks_ * place.lanes.count * op.flops_per_lane;
  }

  void repeat(const Op& op, const Place& place, bool taken) {
    Place inside = place;
    inside.times *= static_cast<double>(op.count);
    inside.trips.push_back(static_cast<double>(op.count));
    program(op.bodies.front(), inside, taken && op.count > 0);
  }

  void diverge(const Op& op, const Place& place, bool taken) {
    const auto ways = op.bodies.size();
    for (std::size_t way = 0; way < ways; ++way) {
      Place inside = place;
      bool enters = taken;
      if (op.diverge_by == kernel::DivergeBy::Lane) {
        inside.lanes = lanes_of_way(place.lanes, way, ways);
        enters = taken && inside.lanes.count > 0;
      } else {
        inside.split = true;
        enters = taken && way_of_warp(place.warp, place.warps, ways) == way;
      }
      program(op.bodies[way], inside, enters);
    }
  }

  void access(const Op& op, const Place& place, bool taken) {
    const auto index = next_access_++;
    if (index >= work_.accesses.size()) {
      work_.accesses.push_back({.array = op.access.array, .store = op.kind == OpKind::Store});
    }
    if (!taken) { return; }
    auto a = op.access;
    const double per_warp = place.times * static_cast<double>(op.count);
    if (a.walk == kernel::WalkKind::Thread && a.pattern == kernel::Pattern::Contiguous) {
      a.pattern = kernel::Pattern::Strided;
      a.stride = static_cast<std::int64_t>(per_warp) * a.width;
    }
    const auto request = request_of(a, place.lanes, gpu_.l1.sector);
    issue(per_warp, request.lanes);
    auto& w = work_.accesses[index];
    const bool first = w.requests == 0;
    const double n = per_warp * blocks_;
    w.requests += n;
    w.sectors += n * request.sectors;
    w.useful_bytes += n * request.useful_bytes;
    w.distinct_bytes += n * request.distinct_bytes;
    w.every_byte_once = (first || w.every_byte_once) &&
                        whole_units(op, request, place, gpu_.l1.sector);
    w.whole_bursts = (first || w.whole_bursts) && whole_units(op, request, place, gpu_.hbm.burst);
    cover(index, op, request, place);
  }

  void cover(std::size_t index, const Op& op, const Request& r, const Place& place) {
    covers_.resize(std::max(covers_.size(), index + 1));
    auto& c = covers_[index];
    const double per_warp = place.times * static_cast<double>(op.count);
    c.warp_distinct = std::max(c.warp_distinct, per_warp * r.distinct_bytes);
    c.block_distinct += per_warp * r.distinct_bytes;
    c.block_range = per_warp *
                    static_cast<double>(place.warps * gpu_.sm.warp_size * op.access.width);
    auto& w = work_.accesses[index];
    if (op.access.walk == kernel::WalkKind::Strides) {
      const double unique = unique_of_steps(steps(op, place), r.distinct_bytes, span(op, r),
                                            array_bytes(op));
      c.by_steps = std::max(c.by_steps, unique);
      w.unique_bytes = std::min(array_bytes(op), c.by_steps);
    } else if (op.access.pattern != kernel::Pattern::Contiguous) {
      w.unique_bytes = std::min(array_bytes(op), std::max(w.unique_bytes, r.distinct_bytes));
    } else {
      w.unique_bytes = unique_of_walk(c, op.access.walk, place, array_bytes(op));
    }
  }

  // Named walks lay instructions side by side and wrap at the array's end: each byte of the range
  // is visited equally often, give or take one.
  [[nodiscard]] double unique_of_walk(const Cover& c, kernel::WalkKind walk, const Place& place,
                                      double array) const {
    double distinct = c.block_distinct * blocks_;
    double range = c.block_range * blocks_;
    if (walk == kernel::WalkKind::Everyone) {
      distinct = c.warp_distinct;
      range = c.block_range / static_cast<double>(place.warps);
    } else if (walk == kernel::WalkKind::Same) {
      distinct = c.block_distinct;
      range = c.block_range;
    }
    const bool gaps = distinct < range;
    return range > array && gaps ? distinct / std::ceil(range / array) : std::min(array, distinct);
  }

  [[nodiscard]] double array_bytes(const Op& op) const {
    return static_cast<double>(
        kernel_.arrays.at(static_cast<std::size_t>(op.access.array)).bytes.count());
  }

  [[nodiscard]] std::vector<Step> steps(const Op& op, const Place& place) const {
    const auto& s = op.access.strides;
    const auto step = [](std::int64_t stride, double count) {
      return Step{std::abs(static_cast<double>(stride)), count};
    };
    std::vector<Step> steps = {step(s.block_x, static_cast<double>(kernel_.grid[0])),
                               step(s.block_y, static_cast<double>(kernel_.grid[1])),
                               step(s.block_z, static_cast<double>(kernel_.grid[2])),
                               step(s.warp, place.split ? 1.0 : static_cast<double>(place.warps)),
                               step(s.count, static_cast<double>(op.count))};
    for (std::size_t i = 0; i < s.loop.size() && i < place.trips.size(); ++i) {
      steps.push_back(step(s.loop[i], place.trips[i]));
    }
    return steps;
  }

  [[nodiscard]] static double span(const Op& op, const Request& r) {
    const auto& a = op.access;
    switch (a.pattern) {
      case kernel::Pattern::Strided:
      case kernel::Pattern::RowPerLane:
        return std::abs(static_cast<double>(a.stride)) * (r.lanes - 1) + a.width;
      case kernel::Pattern::Listed: {
        const auto [low, high] = std::minmax_element(a.offsets.begin(), a.offsets.end());
        return static_cast<double>(*high - *low + a.width);
      }
      case kernel::Pattern::Broadcast: return a.width;
      case kernel::Pattern::Random: return array_limit();
      case kernel::Pattern::Contiguous: break;
    }
    return r.useful_bytes;
  }

  [[nodiscard]] static double array_limit() { return 1e30; }  // random lanes may lie anywhere

  // Whether each such request covers whole units of `unit` bytes that no other request of this op
  // can share.
  [[nodiscard]] bool whole_units(const Op& op, const Request& r, const Place& place,
                                 unit::Bytes unit) const {
    using kernel::WalkKind;
    const auto walk = op.access.walk;
    const bool side_by_side = walk == WalkKind::Grid || walk == WalkKind::Block ||
                              walk == WalkKind::Warp;
    return side_by_side && op.access.pattern == kernel::Pattern::Contiguous &&
           r.lanes == gpu_.sm.warp_size && place.lanes.count == r.lanes &&
           static_cast<std::int64_t>(r.useful_bytes) % unit.count() == 0 &&
           op.access.offset % unit.count() == 0;
  }

  const kernel::Kernel& kernel_;
  const gpu::GpuSpec& gpu_;
  Work& work_;
  double blocks_;
  std::size_t next_access_ = 0;
  std::vector<Cover> covers_;
};

void sum_up(const kernel::Kernel& kernel, Work& work) {
  std::vector<int> users(kernel.arrays.size(), 0);
  for (const auto& array : kernel.arrays) {
    work.arrays.push_back(
        {.name = array.name, .array_bytes = static_cast<double>(array.bytes.count())});
  }
  for (const auto& a : work.accesses) {
    auto& array = work.arrays.at(static_cast<std::size_t>(a.array));
    ++users[static_cast<std::size_t>(a.array)];
    (a.store ? work.store_requests : work.load_requests) += a.requests;
    (a.store ? work.store_sectors : work.load_sectors) += a.sectors;
    (a.store ? work.useful_store_bytes : work.useful_load_bytes) += a.useful_bytes;
    (a.store ? array.stored_bytes : array.loaded_bytes) += a.useful_bytes;
    auto& most = a.store ? array.unique_stored : array.unique_loaded;
    most = std::max(most, a.unique_bytes);
  }
  for (auto& a : work.accesses) {  // a second op on the array, or a second round over it, may touch
                                   // the same bytes
    const auto array = static_cast<std::size_t>(a.array);
    const bool once = users[array] == 1 && a.useful_bytes == a.unique_bytes;
    a.every_byte_once = a.every_byte_once && once;
    a.whole_bursts = a.whole_bursts && once;
  }
}

}  // namespace

Lanes lanes_of_warp(const kernel::Kernel& kernel, std::int64_t warp, std::int64_t warp_size) {
  const auto left = std::clamp<std::int64_t>(kernel.block - warp * warp_size, 0, warp_size);
  return {0, static_cast<int>(left)};
}

std::size_t way_of_warp(std::int64_t warp, std::int64_t warps, std::size_t ways) {
  return static_cast<std::size_t>(warp) * ways / static_cast<std::size_t>(warps);
}

Lanes lanes_of_way(Lanes active, std::size_t way, std::size_t ways) {
  const auto at = [&](std::size_t w) {
    return active.first + static_cast<int>(static_cast<std::size_t>(active.count) * w / ways);
  };
  return {at(way), at(way + 1) - at(way)};
}

Work count_work(const kernel::Kernel& kernel, const gpu::GpuSpec& gpu) {
  Work work;
  Counter counter(kernel, gpu, work);
  std::int64_t first_warp = 0;
  for (const auto& role : kernel.roles) {
    counter.role(role, first_warp);
    first_warp += role.warps;
  }
  sum_up(kernel, work);
  return work;
}

Compulsory compulsory(const kernel::Kernel& kernel, const Work& work) {
  double certain_read = 0;
  double certain_written = 0;
  double most_read = 0;
  double most_written = 0;
  for (const auto& a : work.arrays) {
    certain_read += a.unique_stored > 0 ? 0 : a.unique_loaded;
    certain_written += a.unique_stored;
    most_read += std::min(a.array_bytes, a.loaded_bytes);
    most_written += std::min(a.array_bytes, a.stored_bytes);
  }
  const auto stated = [](const std::optional<unit::Bytes>& b, double certain, double most) {
    return b ? std::min(static_cast<double>(b->count()), most) : certain;
  };
  return {stated(kernel.compulsory_read, certain_read, most_read),
          stated(kernel.compulsory_write, certain_written, most_written)};
}

}  // namespace wavetail::bound
