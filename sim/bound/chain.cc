// SPDX-License-Identifier: Apache-2.0
#include "bound/chain.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <map>

#include "bound/shared.h"
#include "isa/mbarriers.h"
#include "isa/tensor.h"
#include "kernel/share.h"
#include "kernel/trips.h"

namespace wavetail::bound {

namespace {

using kernel::Op;
using kernel::OpKind;

using AccessIndex = std::map<const Op*, std::size_t>;  // looked up only

void number_accesses(const kernel::Program& ops, AccessIndex& index) {
  for (const auto& op : ops) {
    if (op.kind == OpKind::Load || op.kind == OpKind::Store || op.kind == OpKind::CpAsync) {
      const auto next = index.size();
      index.emplace(&op, next);
    }
    for (const auto& body : op.bodies) { number_accesses(body, index); }
  }
}

// A group of cp.async.
struct Copies {
  double ready_ns = 0, bytes = 0;
};

// A run of loads issued one per cycle.
struct Outstanding {
  double first_ready_ns = 0;
  std::int64_t count = 0;
  double bytes_each = 0;
};

class Warp {
 public:
  Warp(const kernel::Kernel& kernel, const gpu::GpuSpec& gpu, const AccessIndex& index,
       const std::vector<double>& latency_ns, std::int64_t warp)
      : kernel_(kernel),
        gpu_(gpu),
        index_(index),
        latency_ns_(latency_ns),
        warp_(warp),
        cycle_ns_(1e9 / static_cast<double>(gpu.sm_clock().count())),
        shared_(gpu) {}

  void run(const kernel::Program& ops, Lanes lanes) {
    for (const auto& op : ops) {
      switch (op.kind) {
        case OpKind::Arithmetic: arithmetic(op); break;
        case OpKind::Load: load(op, lanes); break;
        case OpKind::Store: t_ += static_cast<double>(op.count) * cycle_ns_; break;
        case OpKind::WaitLoads: wait(op.count); break;
        case OpKind::SharedLoad:
        case OpKind::SharedStore: shared(op, lanes); break;
        case OpKind::WaitShared: t_ = shared_.back(t_ / cycle_ns_, op.count) * cycle_ns_; break;
        case OpKind::BlockBarrier: break;
        case OpKind::Repeat: repeat(op, lanes); break;
        case OpKind::Diverge: diverge(op, lanes); break;
        default: asynchronous(op, lanes); break;
      }
    }
  }

  // At its end a warp waits for its loads, copies and tensor instructions.
  void finish() {
    wait(0);
    wait_copies(0);
    t_ = std::max(t_, tensor_ns_);
  }

  [[nodiscard]] double time_ns() const { return t_; }

  [[nodiscard]] double memory_ns() const { return waited_; }

  [[nodiscard]] double peak_bytes() const { return peak_; }

 private:
  static constexpr std::size_t kMostTrips = 256;  // followed while bytes under way grow

  void arithmetic(const Op& op) {
    const auto& p = gpu_.pipes;
    const auto& pipe = op.pipe == kernel::Pipe::Fp32    ? p.fp32
                       : op.pipe == kernel::Pipe::Int32 ? p.int32
                       : op.pipe == kernel::Pipe::Fp64  ? p.fp64
                       : op.pipe == kernel::Pipe::Redux ? p.redux
                                                        : p.sfu;
    const double n = static_cast<double>(op.count);
    const double interval = std::max(
        1.0, static_cast<double>(gpu_.sm.warp_size) / static_cast<double>(pipe.lanes));
    const double rounds = std::floor((n - 1) /
                                     static_cast<double>(std::max<std::int64_t>(1, op.distance)));
    t_ += (1 + std::max((n - 1) * interval, rounds * static_cast<double>(pipe.latency.count()))) *
          cycle_ns_;
  }

  void asynchronous(const Op& op, Lanes lanes) {
    switch (op.kind) {
      case OpKind::CpAsync: copy(op, lanes); break;
      case OpKind::CpAsyncCommit:
        copies_.push_back(open_);
        open_ = {};
        t_ += cycle_ns_;
        break;
      case OpKind::CpAsyncWait: wait_copies(op.count); break;
      case OpKind::TmaLoad:
      case OpKind::TmaStore:
      case OpKind::TmaStoreWait: break;  // one warp's
      case OpKind::Wgmma:
        tensor_ns_ = std::max(t_, tensor_ns_) +
                     static_cast<double>(op.count) * cycle_ns_ *
                         static_cast<double>(isa::wgmma_cost(gpu_, op.tensor).pipe) /
                         isa::kThousandths;
        break;
      case OpKind::WgmmaWait:
        if (op.count == 0) { t_ = std::max(t_, tensor_ns_); }
        break;
      case OpKind::Mma: mma(op, isa::mma_cost(gpu_, op.tensor), gpu_.mma.latency.count()); break;
      case OpKind::Mfma:
        mma(op, isa::mfma_cost(gpu_, op.tensor), isa::mfma_latency(gpu_, op.tensor));
        break;
      case OpKind::Tcgen05Mma:
        if (warp_ != 0) { break; }
        tensor_ns_ = std::max(t_, tensor_ns_) +
                     static_cast<double>(op.count) * cycle_ns_ *
                         static_cast<double>(isa::tcgen05_cost(gpu_, op.tensor).pipe) /
                         isa::kThousandths;
        break;
      case OpKind::Tcgen05Load:
      case OpKind::Tcgen05Store: t_ += static_cast<double>(op.count) * cycle_ns_; break;
      case OpKind::PeerLoad:
        outstanding_.push_back({.first_ready_ns = t_, .count = op.count, .bytes_each = 0});
        count_ += op.count;
        t_ += static_cast<double>(op.count) * cycle_ns_;
        break;
      case OpKind::PeerStore: t_ += static_cast<double>(op.count) * cycle_ns_; break;
      default: break;
    }
  }

  void mma(const Op& op, const isa::TensorCost& cost, std::int64_t latency) {
    const double interval = static_cast<double>(cost.pipe) / isa::kThousandths;
    const double rounds = std::floor(static_cast<double>((op.count - 1) / op.distance));
    t_ += std::max(static_cast<double>(op.count - 1) * interval,
                   rounds * static_cast<double>(latency)) *
          cycle_ns_;
  }

  void copy(const Op& op, Lanes lanes) {
    const auto request = request_of(op.access, lanes);
    const double bytes = request.most_sectors * static_cast<double>(gpu_.l1.sector.count()) *
                         static_cast<double>(op.count);
    t_ += static_cast<double>(op.count) * cycle_ns_;
    if (request.lanes > 0) {
      open_.ready_ns = std::max(open_.ready_ns, t_ - cycle_ns_ + latency_ns_[index_.at(&op)]);
    }
    open_.bytes += bytes;
    copy_bytes_ += bytes;
    peak_ = std::max(peak_, bytes_ + copy_bytes_);
    if (op.mbarrier >= 0) {
      copies_.push_back(open_);
      open_ = {};
    }
  }

  void wait_copies(std::int64_t left) {
    const double before = t_;
    while (static_cast<std::int64_t>(copies_.size()) > left) {
      t_ = std::max(t_, copies_.front().ready_ns);
      copy_bytes_ -= copies_.front().bytes;
      copies_.pop_front();
    }
    waited_ += t_ - before;
  }

  void load(const Op& op, Lanes lanes) {
    const auto index = index_.at(&op);
    auto a = op.access;
    if (a.walk == kernel::WalkKind::Thread && a.pattern == kernel::Pattern::Contiguous) {
      a.pattern = kernel::Pattern::Strided;
      a.stride = gpu_.l1.sector.count();  // lanes apart: each may need a sector of its own
    }
    const auto request = request_of(a, lanes);
    if (request.lanes == 0) {
      t_ += static_cast<double>(op.count) * cycle_ns_;
      return;
    }
    const auto sectors = request.most_sectors;
    const Outstanding run{.first_ready_ns = t_ + latency_ns_[index],
                          .count = op.count,
                          .bytes_each = sectors * static_cast<double>(gpu_.l1.sector.count())};
    outstanding_.push_back(run);
    count_ += run.count;
    bytes_ += run.bytes_each * static_cast<double>(run.count);
    peak_ = std::max(peak_, bytes_ + copy_bytes_);
    t_ += static_cast<double>(op.count) * cycle_ns_;
  }

  void shared(const Op& op, Lanes lanes) {
    const auto request = shared_request_of(op, lanes, gpu_);
    if (request.lanes > 0) {
      shared_.serve(t_ / cycle_ns_, request, op.count, op.kind == OpKind::SharedLoad);
    }
    t_ += static_cast<double>(op.count) * cycle_ns_;
  }

  void wait(std::int64_t left_outstanding) {
    const double before = t_;
    while (count_ > left_outstanding) {
      auto& oldest = outstanding_.front();
      const auto n = std::min(oldest.count, count_ - left_outstanding);
      t_ = std::max(t_, oldest.first_ready_ns + static_cast<double>(n - 1) * cycle_ns_);
      oldest.first_ready_ns += static_cast<double>(n) * cycle_ns_;
      oldest.count -= n;
      count_ -= n;
      bytes_ -= oldest.bytes_each * static_cast<double>(n);
      if (oldest.count == 0) { outstanding_.pop_front(); }
    }
    bytes_ = count_ == 0 ? 0 : bytes_;
    waited_ += t_ - before;
  }

  // Of the block with the most work. A contiguous share counts as one portion.
  [[nodiscard]] std::int64_t trips(const Op& op) const {
    if (op.over == kernel::Over::Index) {
      return kernel::count_trips(op.trips, op.count, kernel::indices_of(kernel_)).most;
    }
    if (op.over == kernel::Over::Count || !kernel_.shares->contiguous) {
      return op.count - op.skip;
    }
    if (op.over == kernel::Over::Tiles) { return 1; }
    const std::int64_t steps = kernel::tile_groups_of(kernel_) * kernel_.shares->steps;
    return std::max<std::int64_t>(0, steps / kernel::clusters_of(kernel_) - op.skip);
  }

  // Trips are followed one by one until their times repeat; whole periods are then added at once.
  void repeat(const Op& op, Lanes lanes) {
    std::vector<double> ends = {t_};
    std::vector<double> waits = {waited_};
    std::vector<double> peaks = {peak_};
    std::int64_t left = trips(op);
    while (left > 0) {
      run(op.bodies.front(), lanes);
      --left;
      ends.push_back(t_);
      waits.push_back(waited_);
      peaks.push_back(peak_);
      // Bytes under way that still grow will stop at a wait, if the body has one.
      const auto period = period_of(ends);
      const bool settled = peaks.back() == peaks[peaks.size() - 2] ||
                           !waits_inside(op.bodies.front()) || ends.size() > kMostTrips;
      if (period > 0 && settled && left >= period) {
        const auto before = ends.size() - 1 - static_cast<std::size_t>(period);
        const auto times = static_cast<double>(left / period);
        advance(times * (t_ - ends[before]), times * (waited_ - waits[before]),
                times * (peak_ - peaks[before]));
        left %= period;
        ends = {t_};  // what is left is less than a period
        waits = {waited_};
        peaks = {peak_};
      }
    }
  }

  [[nodiscard]] static bool waits_inside(const kernel::Program& ops) {
    return std::any_of(ops.begin(), ops.end(), [](const Op& op) {
      return op.kind == OpKind::WaitLoads || op.kind == OpKind::CpAsyncWait ||
             std::any_of(op.bodies.begin(), op.bodies.end(), waits_inside);
    });
  }

  // Length of the shortest pattern of trip times that the end of `ends` shows three times over; 0:
  // none.
  [[nodiscard]] static std::int64_t period_of(const std::vector<double>& ends) {
    constexpr std::size_t kLongest = 8;
    for (std::size_t period = 1; period <= kLongest && 3 * period < ends.size(); ++period) {
      const auto last = ends.size() - 1;
      bool repeats = true;
      for (std::size_t i = 0; i < 2 * period && repeats; ++i) {
        const double step = ends[last - i] - ends[last - i - 1];
        const double earlier = ends[last - i - period] - ends[last - i - period - 1];
        repeats = std::abs(step - earlier) <= 1e-9 * ends[last];
      }
      if (repeats) { return static_cast<std::int64_t>(period); }
    }
    return 0;
  }

  void advance(double time_ns, double waited_ns, double more_bytes) {
    t_ += time_ns;
    waited_ += waited_ns;
    peak_ += more_bytes;
    bytes_ += more_bytes;
    tensor_ns_ += time_ns;
    for (auto& loads : outstanding_) { loads.first_ready_ns += time_ns; }
    shared_.advance(time_ns / cycle_ns_);
    for (auto& group : copies_) { group.ready_ns += time_ns; }
  }

  void diverge(const Op& op, Lanes lanes) {
    const auto ways = op.bodies.size();
    if (op.diverge_by == kernel::DivergeBy::Portion) {
      if (!kernel_.shares->contiguous) { run(op.bodies.front(), lanes); }
      return;
    }
    if (op.diverge_by == kernel::DivergeBy::Rank) { return; }  // some block may do nothing there
    if (op.diverge_by == kernel::DivergeBy::Warp) {
      run(op.bodies[way_of_warp(warp_, ways)], lanes);
      return;
    }
    for (std::size_t way = 0; way < ways; ++way) {
      const auto taken = lanes_of_way(lanes, way, ways);
      if (taken.count > 0) { run(op.bodies[way], taken); }
    }
  }

  const kernel::Kernel& kernel_;
  const gpu::GpuSpec& gpu_;
  const AccessIndex& index_;
  const std::vector<double>& latency_ns_;
  std::int64_t warp_;
  double cycle_ns_;
  SharedPath shared_;
  std::deque<Outstanding> outstanding_;
  std::deque<Copies> copies_;
  Copies open_;
  double copy_bytes_ = 0, tensor_ns_ = 0;
  std::int64_t count_ = 0;
  double bytes_ = 0, peak_ = 0, t_ = 0, waited_ = 0;
};

}  // namespace

BlockChain block_chain(const kernel::Kernel& kernel, const gpu::GpuSpec& gpu,
                       const std::vector<double>& latency_ns) {
  AccessIndex index;
  for (const auto& role : kernel.roles) { number_accesses(role.program, index); }
  BlockChain chain;
  std::int64_t first_warp = 0;
  for (const auto& role : kernel.roles) {
    for (std::int64_t w = 0; w < role.warps; ++w) {
      Warp warp(kernel, gpu, index, latency_ns, w);
      warp.run(role.program, lanes_of_warp(kernel, first_warp + w, gpu.sm.warp_size));
      warp.finish();
      if (warp.time_ns() > chain.time_ns) {
        chain.time_ns = warp.time_ns();
        chain.memory_ns = warp.memory_ns();
      }
      chain.loads_bytes += warp.peak_bytes();
    }
    first_warp += role.warps;
  }
  for (const isa::MbarrierPlan& plan : isa::plan_mbarriers(kernel)) {
    chain.boxes_bytes += static_cast<double>(plan.stages * plan.fetch_bytes);
  }
  return chain;
}

}  // namespace wavetail::bound
