// SPDX-License-Identifier: Apache-2.0
#include "bound/work.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "bound/boxes.h"
#include "bound/cover.h"
#include "bound/in_place.h"
#include "bound/shared.h"
#include "isa/mbarriers.h"
#include "isa/tensor.h"
#include "kernel/share.h"
#include "kernel/trips.h"

namespace wavetail::bound {

namespace {

using kernel::Op;
using kernel::OpKind;

// Where the walk stands inside one warp.
struct Place {
  Lanes lanes;
  std::int64_t warp = 0, warps = 0;  // within the role
  double times = 1;                  // how often this warp comes here
  std::vector<double> trips;         // of the enclosing loops, outermost first
  bool split = false;                // some warps of the role go another way
};

class Counter {
 public:
  Counter(const kernel::Kernel& kernel, const gpu::GpuSpec& gpu, Work& work)
      : kernel_(kernel),
        gpu_(gpu),
        work_(work),
        blocks_(static_cast<double>(kernel::volume(kernel.grid))) {
    if (kernel.shares) { portions_ = kernel::count_portions(kernel); }
  }

  void role(const kernel::Role& role, std::int64_t first_warp) {
    const std::size_t first_access = work_.accesses.size();
    const std::size_t first_box = work_.boxes.size();
    for (std::int64_t w = 0; w < role.warps; ++w) {
      next_access_ = first_access;
      next_box_ = first_box;
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
        case OpKind::CpAsync:
        case OpKind::Load:
        case OpKind::Store: access(op, place, taken); break;
        case OpKind::BlockBarrier:
          if (taken) {
            issue(place.times, place.lanes.count);
            work_.barriers += place.times * blocks_;
          }
          break;
        case OpKind::SharedLoad:
        case OpKind::SharedStore:
          if (taken) { shared(op, place); }
          break;
        case OpKind::WaitLoads:
        case OpKind::WaitShared:
          if (taken) { work_.free_steps += place.times * blocks_; }
          break;
        case OpKind::Repeat: repeat(op, place, taken); break;
        case OpKind::Diverge: diverge(op, place, taken); break;
        case OpKind::TmaLoad:
        case OpKind::TmaStore: bulk(op, place, taken && place.warp == 0); break;
        case OpKind::TmaStoreWait:
          if (taken && place.warp == 0) { issue(place.times, 1); }
          break;
        default:
          if (taken) { asynchronous(op, place); }
          break;
      }
    }
  }

  void asynchronous(const Op& op, const Place& place) {
    const bool elected = op.kind == OpKind::Tcgen05Mma || op.kind == OpKind::Tcgen05Copy ||
                         op.kind == OpKind::Tcgen05Commit;
    if (elected && place.warp != 0) { return; }
    const bool run = op.kind == OpKind::Wgmma || op.kind == OpKind::Mma ||
                     op.kind == OpKind::Mfma || op.kind == OpKind::PeerLoad ||
                     op.kind == OpKind::PeerStore || op.kind == OpKind::Tcgen05Mma ||
                     op.kind == OpKind::Tcgen05Copy || op.kind == OpKind::Tcgen05Load ||
                     op.kind == OpKind::Tcgen05Store;
    const double n = place.times * (run ? static_cast<double>(op.count) : 1.0);
    int lanes = place.lanes.count;
    if (op.kind == OpKind::PeerLoad || op.kind == OpKind::PeerStore) {
      lanes = op.peer.lanes > 0 ? std::min(op.peer.lanes, lanes) : lanes;
      work_.dsmem_bytes += n * blocks_ * lanes * op.peer.width;
    }
    issue(n, elected ? 1 : lanes);
    switch (op.kind) {
      case OpKind::Wgmma: tensor(isa::wgmma_cost(gpu_, op.tensor), n, 1); break;
      case OpKind::Mma: tensor(isa::mma_cost(gpu_, op.tensor), n, 1); break;
      case OpKind::Mfma: tensor(isa::mfma_cost(gpu_, op.tensor), n, 1); break;
      case OpKind::Tcgen05Mma:
        tensor(isa::tcgen05_cost(gpu_, op.tensor), n,
               static_cast<double>(gpu_.sm.schedulers * op.tensor.ctas));
        break;
      default: break;
    }
  }

  // `n` instructions of a warp, each on `pipes` pipes.
  void tensor(const isa::TensorCost& cost, double n, double pipes) {
    const double cycles = static_cast<double>(cost.pipe) / isa::kThousandths;
    work_.tensor_cycles += n * blocks_ * cycles * pipes;
    work_.last_tensor_cycles = std::max(work_.last_tensor_cycles, cycles);
    work_.flops += n * blocks_ * cost.flops;
    work_.tensor_flops += n * blocks_ * cost.flops;
    work_.dense_cycles += n * blocks_ * static_cast<double>(cost.full) / isa::kThousandths * pipes;
  }

  void bulk(const Op& op, const Place& place, bool taken) {
    if (taken) { issue(place.times, 1); }
    for (const kernel::Box& box : op.boxes) {
      const std::size_t index = next_box_++;
      if (index >= work_.boxes.size()) {
        work_.boxes.push_back({.array = box.array, .store = op.kind == OpKind::TmaStore});
      }
      if (!taken) { continue; }
      BoxWork& w = work_.boxes[index];
      const double n = place.times * blocks_;
      const auto receivers = static_cast<double>(isa::receivers(box, kernel_));
      const double bytes = moved_bytes(box, kernel_);
      const auto array = static_cast<std::size_t>(box.array);
      w.boxes += n;
      w.moved_bytes += n * bytes;
      w.landed_bytes += w.store ? 0 : n * bytes * (box.split ? 1 : receivers);
      w.engine_cycles += n * bytes / unit::bytes_per_cycle(gpu_.tma.rate);
      w.unique_bytes = unique_bytes(box, kernel_, place.trips,
                                    static_cast<double>(kernel_.arrays.at(array).bytes.count()));
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

  void shared(const Op& op, const Place& place) {
    const auto request = shared_request_of(op, place.lanes, gpu_);
    const double per_warp = place.times * static_cast<double>(op.count);
    issue(per_warp, request.lanes);
    if (request.lanes == 0) { return; }
    const double n = per_warp * blocks_;
    (op.kind == OpKind::SharedLoad ? work_.shared_load_requests : work_.shared_store_requests) += n;
    work_.bank_wavefronts += n * request.wavefronts;
    work_.bank_passes += n * request.passes;
    work_.exact_wavefronts = work_.exact_wavefronts && request.exact;
  }

  void repeat(const Op& op, const Place& place, bool taken) {
    Place inside = place;
    inside.times *= mean_trips(op);
    inside.trips.push_back(static_cast<double>(
        op.over == kernel::Over::Index
            ? kernel::count_trips(op.trips, op.count, kernel::indices_of(kernel_)).most
            : op.count));
    if (taken) { work_.free_steps += inside.times * blocks_; }
    program(op.bodies.front(), inside, taken && op.count > 0);
  }

  // Where blocks differ, of all of them together.
  [[nodiscard]] double mean_trips(const Op& op) const {
    if (op.over == kernel::Over::Count) { return static_cast<double>(op.count); }
    if (op.over == kernel::Over::Index) {
      return kernel::count_trips(op.trips, op.count, kernel::indices_of(kernel_)).mean;
    }
    const auto portions = static_cast<double>(portions_.portions);
    if (op.over == kernel::Over::Tiles) {
      return portions / static_cast<double>(kernel::clusters_of(kernel_));
    }
    return static_cast<double>(kernel::total_steps(kernel_)) / portions -
           static_cast<double>(op.skip);
  }

  // The ways that portions go, by how many take them.
  void portions(const Op& op, const Place& place, bool taken) {
    const std::int64_t takers[] = {portions_.whole, portions_.early, portions_.last};
    for (std::size_t way = 0; way < op.bodies.size(); ++way) {
      Place inside = place;
      inside.times *= static_cast<double>(takers[way]) / static_cast<double>(portions_.portions);
      program(op.bodies[way], inside, taken && takers[way] > 0);
    }
  }

  void diverge(const Op& op, const Place& place, bool taken) {
    if (op.diverge_by == kernel::DivergeBy::Portion) {
      portions(op, place, taken);
      return;
    }
    const auto ways = op.bodies.size();
    for (std::size_t way = 0; way < ways; ++way) {
      Place inside = place;
      bool enters = taken;
      if (op.diverge_by == kernel::DivergeBy::Rank) {
        inside.times *= ranks_of_way(kernel_, way, ways);
        program(op.bodies[way], inside, enters && inside.times > 0);
        continue;
      }
      if (op.diverge_by == kernel::DivergeBy::Lane) {
        inside.lanes = lanes_of_way(place.lanes, way, ways);
        enters = taken && inside.lanes.count > 0;
      } else {
        inside.split = true;
        enters = taken && way_of_warp(place.warp, ways) == way;
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
    const auto request = request_of(
        a, place.lanes, kernel_.arrays.at(static_cast<std::size_t>(a.array)).bytes.count());
    issue(per_warp, request.lanes);
    if (request.lanes == 0) { return; }
    auto& w = work_.accesses[index];
    const bool first = w.requests == 0;
    const double n = per_warp * blocks_;
    w.requests += n;
    w.sectors += n * request.sectors;
    w.lanes += n * request.lanes;
    w.useful_bytes += n * request.useful_bytes;
    w.distinct_bytes += n * request.distinct_bytes;
    w.asked_bytes += n * (a.pattern == kernel::Pattern::Random ? request.useful_bytes
                                                               : request.distinct_bytes);
    w.every_byte_once = (first || w.every_byte_once) &&
                        whole_units(op, request, place, gpu_.l1.sector);
    w.through_l1 = !w.store && !a.bypass_l1 && !a.atomic;
    if (a.atomic) { atomics(w, op, request, n); }
    w.whole_bursts = (first || w.whole_bursts) && whole_units(op, request, place, gpu_.hbm.burst);
    cover(index, op, request, place);
  }

  // Lanes with one address are one operation or one each; the address of a broadcast that never
  // moves is that of all warps.
  void atomics(AccessWork& w, const Op& op, const Request& r, double requests) const {
    const kernel::MemoryAccess& a = op.access;
    const bool one = a.pattern == kernel::Pattern::Broadcast;
    const double each = one && !a.aggregate ? r.lanes : r.sectors;
    const kernel::Strides& s = a.strides;
    const bool moves = std::any_of(s.loop.begin(), s.loop.end(), [](auto n) { return n != 0; }) ||
                       s.block_x != 0 || s.block_y != 0 || s.block_z != 0 || s.warp != 0 ||
                       s.count != 0;
    w.atomic = true;
    w.operations += requests * each;
    const bool alone = kernel_.arrays.at(static_cast<std::size_t>(a.array)).bytes.count() <=
                       a.width;
    if (alone || (one && a.walk == kernel::WalkKind::Strides && !moves)) {
      w.on_one_address += requests * each;
    }
  }

  void cover(std::size_t index, const Op& op, const Request& r, const Place& place) {
    covers_.resize(std::max(covers_.size(), index + 1));
    const Standing at{.grid = kernel_.shares ? kernel_.shares->tiles : kernel_.grid,
                      .warps = place.warps,
                      .warp_size = gpu_.sm.warp_size,
                      .split = place.split,
                      .trips = place.trips,
                      .count = static_cast<double>(op.count)};
    covers_[index].add(at, r);
    const auto array = static_cast<std::size_t>(op.access.array);
    const auto bytes = static_cast<double>(kernel_.arrays.at(array).bytes.count());
    AccessWork& w = work_.accesses[index];
    w.unique_bytes = covers_[index].unique_bytes(op.access, at, bytes);
    if (op.access.pattern == kernel::Pattern::Random) {
      w.draws += static_cast<double>(r.lanes) * at.per_warp() * at.blocks();
      w.expected_sectors = expected_different(w.draws, sectors_of(bytes));
    }
  }

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
  kernel::PortionCount portions_;
  std::size_t next_access_ = 0, next_box_ = 0;
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
    work.asked_bytes += a.asked_bytes;
    (a.store ? array.stored_bytes : array.loaded_bytes) += a.useful_bytes;
    auto& most = a.store ? array.unique_stored : array.unique_loaded;
    most = std::max(most, a.unique_bytes);
  }
  for (const auto& b : work.boxes) {
    auto& array = work.arrays.at(static_cast<std::size_t>(b.array));
    ++users[static_cast<std::size_t>(b.array)];
    (b.store ? array.stored_bytes : array.loaded_bytes) += b.moved_bytes;
    auto& most = b.store ? array.unique_stored : array.unique_loaded;
    most = std::max(most, b.unique_bytes);
  }
  for (std::size_t n = 0; n < work.arrays.size(); ++n) {
    ArrayWork& a = work.arrays[n];
    a.loaded_first = a.loaded_bytes > 0 && a.loaded_bytes == a.unique_loaded &&
                     updated_in_place(kernel, static_cast<int>(n));
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

}  // namespace wavetail::bound
