// SPDX-License-Identifier: Apache-2.0
// The time of a launch in closed form, which prunes the candidates of a choice:
//
//   chain = start + sum over waves of (steps x max(tensor, fill, tensor of one + wait) + epilogue)
//   t = (chain^3 + L2^3 + DRAM^3)^(1/3) + the kernel that sums up the splits
//
// Blocks that share an SM share its tensor pipes and its port. The third power stands for the
// queueing between three resources that a launch keeps busy at once; simulated times have it from
// their queues. Every rate is the GPU file's.
#include <algorithm>
#include <cmath>

#include "isa/tensor.h"
#include "library/gemm.h"

namespace wavetail::library::gemm {

namespace {

double tensor_cycles(const Plan& p, const gpu::GpuSpec& gpu) {
  const std::int64_t depth = isa::wgmma_depth(p.shape.type);
  const auto unit = static_cast<double>(isa::kThousandths);
  const std::int64_t slices = ceil_div(p.tile.k, p.depth());
  if (p.mainloop == Mainloop::Tma) {
    const auto cost = isa::wgmma_cost(gpu, {64, p.tile.n, depth, p.shape.type, false});
    const double starts = static_cast<double>(p.warps() / 4 * gpu.wgmma.start.count());
    return static_cast<double>(p.tile.m / 64 * slices * cost.pipe) / unit + starts;
  }
  const auto cost = isa::mma_cost(gpu, {16, 8, depth, p.shape.type, false});
  const std::int64_t count = p.tile.m / 16 * (p.tile.n / 8) * slices;
  return static_cast<double>(count * cost.pipe) / unit / static_cast<double>(gpu.sm.schedulers);
}

double cycles(const gpu::GpuSpec& gpu, unit::Duration d) {
  return unit::seconds(d) * static_cast<double>(gpu.sm_clock().count());
}

struct Rates {
  double in = 0, out = 0;      // bytes per SM cycle and SM
  double l2 = 0;               // bytes per SM cycle, all slices
  double wait = 0;             // per step, beside the tensor pipe
  double start = 0, turn = 0;  // cycles of a block before its first step, between its tiles
};

Rates rates_of(const Plan& p, const gpu::GpuSpec& gpu) {
  const double l2_clock = static_cast<double>(gpu.clock.l2.count()) /
                          static_cast<double>(gpu.sm_clock().count());
  Rates r;
  r.out = unit::bytes_per_cycle(gpu.crossbar.egress) * l2_clock;
  r.l2 = static_cast<double>(gpu.l2.slices) * unit::bytes_per_cycle(gpu.l2.slice_bandwidth) *
         l2_clock;
  r.start = cycles(gpu, gpu.launch.block_start) + cycles(gpu, gpu.hbm.latency) +
            cycles(gpu, gpu.l2.latency_far);
  r.turn = r.start;
  r.start += 2 * cycles(gpu, gpu.l2.latency_far);  // parameters and code
  if (p.mainloop == Mainloop::Tma) {
    r.in = unit::bytes_per_cycle(gpu.tma.rate);
    r.wait = static_cast<double>(gpu.mbarrier.latency.count()) + promotion_cycles(p, gpu);
    r.start += cycles(gpu, gpu.l2.latency_far);  // tensor maps
    if (p.schedule == Schedule::Persistent) { r.turn = r.wait; }
    return r;
  }
  r.in = unit::bytes_per_cycle(gpu.crossbar.ingress) * l2_clock;
  r.wait = 2 * static_cast<double>(gpu.shared_memory.latency.count()) +
           static_cast<double>(gpu.mma.latency.count());
  return r;
}

// A wave with `together` blocks on the fullest SM.
double wave_cycles(const Plan& p, const Rates& r, double tensor, double together) {
  const double step = std::max({together * tensor, together * fetched(p) / r.in, tensor + r.wait});
  const double out = together * static_cast<double>(p.tile.m * p.tile.n) *
                     (p.split > 1 ? 4 : p.shape.out_element) / r.out;
  return static_cast<double>(p.steps) * step + out;
}

double chain_cycles(const Plan& p, const Rates& r, const gpu::GpuSpec& gpu) {
  const double tensor = tensor_cycles(p, gpu);
  const std::int64_t all = p.tiles() * p.split, waves = all / p.capacity;
  const std::int64_t rest = all - waves * p.capacity;
  const auto together = [&](std::int64_t blocks) {
    return static_cast<double>(ceil_div(blocks, gpu.sms()));
  };
  double total = static_cast<double>(waves) * wave_cycles(p, r, tensor, together(p.capacity));
  if (rest > 0) { total += wave_cycles(p, r, tensor, together(rest)); }
  return total + r.start + static_cast<double>(ceil_div(all, p.capacity) - 1) * r.turn;
}

// What the sum over splits adds: a launch with a block's life in it, and the workspace once more
// through L2.
double reduction_us(const Plan& p, const Rates& r, const gpu::GpuSpec& gpu) {
  if (p.split == 1) { return 0; }
  const gpu::LaunchSpec& l = gpu.launch;
  const unit::Duration fixed = l.graph_gap + l.block_start + l.block_exit + gpu.l2.latency_far +
                               gpu.l2.latency_far;
  const double turns = static_cast<double>(p.split) / 2 * unit::microseconds(gpu.l2.latency_far);
  const auto bytes = static_cast<double>(p.split * p.tiles() * p.partial_bytes());
  const double rate = r.in * static_cast<double>(gpu.sms() * gpu.sm_clock().count());
  return unit::microseconds(fixed) + turns + 2 * bytes / rate * 1e6;
}

}  // namespace

double fetched(const Plan& p) {
  const bool shares = p.multicast;
  return static_cast<double>(p.a_bytes()) / static_cast<double>(shares ? p.cluster_x : 1) +
         static_cast<double>(p.b_bytes()) / static_cast<double>(shares ? p.cluster_y : 1);
}

double estimate_us(const Plan& p, const gpu::GpuSpec& gpu) {
  const Rates r = rates_of(p, gpu);
  const double us = 1e6 / static_cast<double>(gpu.sm_clock().count());
  const Shape& s = p.shape;
  const double blocks = static_cast<double>(p.tiles() * p.split);
  const double l2 = blocks * static_cast<double>(p.steps) * fetched(p) / r.l2 * us;
  const auto bytes = static_cast<double>((s.m + s.n) * s.k * s.element + s.m * s.n * s.out_element);
  const double dram = bytes / static_cast<double>(gpu.sustained_bandwidth().count()) * 1e6;
  const double chain = chain_cycles(p, r, gpu) * us;
  return std::cbrt(chain * chain * chain + l2 * l2 * l2 + dram * dram * dram) +
         reduction_us(p, r, gpu);
}

}  // namespace wavetail::library::gemm
