// SPDX-License-Identifier: Apache-2.0
// What the scenario leaves open. Tiles come from a short list, clusters are none or pairs; the
// choice is the least closed-form time:
//
//   max(waves x (start + steps x max(tensor cycles + wait, bytes fetched / rate) + epilogue) /
//   clock,
//       A and B / DRAM bandwidth) + reduction of the splits
//
// with every figure from the GPU file. Of clusters that take alike, within 2 %, the one that
// fetches least: what a closed form leaves out waits at ports and slices. The order of tiles is the
// one whose waves read least.
#include <algorithm>

#include <fmt/format.h>

#include "isa/tensor.h"
#include "library/gemm.h"

namespace wavetail::library::gemm {

namespace {

// M x N. The tiles that cuBLAS' and CUTLASS' kernels for these architectures are made of, those
// that give a choice between fill and waves.
constexpr std::array<std::array<std::int64_t, 2>, 9> kWgmmaTiles{{{128, 256},
                                                                  {256, 128},
                                                                  {128, 192},
                                                                  {128, 128},
                                                                  {64, 256},
                                                                  {128, 64},
                                                                  {64, 128},
                                                                  {64, 64},
                                                                  {64, 32}}};
constexpr std::array<std::array<std::int64_t, 2>, 6> kMmaTiles{
    {{256, 128}, {128, 256}, {128, 128}, {128, 64}, {64, 128}, {64, 64}}};

// K per step: the 128 B of a swizzled row.
std::int64_t default_depth(const Plan& p) { return 128 / p.shape.element; }

double tensor_cycles(const Plan& p, const gpu::GpuSpec& gpu) {
  const std::int64_t depth = isa::wgmma_depth(p.shape.type);
  const auto unit = static_cast<double>(isa::kThousandths);
  if (p.mainloop == Mainloop::Tma) {
    const auto cost = isa::wgmma_cost(gpu, {64, p.tile.n, depth, p.shape.type, false});
    return static_cast<double>(p.tile.m / 64 * (p.tile.k / depth) * cost.pipe) / unit;
  }
  const auto cost = isa::mma_cost(gpu, {16, 8, depth, p.shape.type, false});
  const std::int64_t count = p.tile.m / 16 * (p.tile.n / 8) * (p.tile.k / depth);
  return static_cast<double>(count * cost.pipe) / unit / static_cast<double>(gpu.sm.schedulers);
}

// Bytes that a block fetches per step.
double fetched(const Plan& p) {
  const bool shares = p.multicast;
  return static_cast<double>(p.a_bytes()) / static_cast<double>(shares ? p.cluster_x : 1) +
         static_cast<double>(p.b_bytes()) / static_cast<double>(shares ? p.cluster_y : 1);
}

double cycles(const gpu::GpuSpec& gpu, unit::Duration d) {
  return unit::seconds(d) * static_cast<double>(gpu.sm_clock().count());
}

struct Rates {
  double in = 0, out = 0;  // bytes per SM cycle and SM
  double wait = 0;         // per step, beside the tensor pipe
};

Rates rates_of(const Plan& p, const gpu::GpuSpec& gpu) {
  const double l2_clock = static_cast<double>(gpu.clock.l2.count()) /
                          static_cast<double>(gpu.sm_clock().count());
  const double egress = unit::bytes_per_cycle(gpu.crossbar.egress) * l2_clock;
  if (p.mainloop == Mainloop::Tma) {
    return {unit::bytes_per_cycle(gpu.tma.rate), egress,
            static_cast<double>(gpu.mbarrier.latency.count())};
  }
  return {unit::bytes_per_cycle(gpu.crossbar.ingress) * l2_clock, egress,
          static_cast<double>(gpu.shared_memory.latency.count())};
}

std::int64_t waves_of(const Plan& p) { return ceil_div(p.tiles() * p.split, p.capacity); }

void set_stages(Plan& p, std::int64_t wanted, const gpu::GpuSpec& gpu) {
  constexpr std::int64_t kMost = 16, kMostCopies = 3;
  const std::int64_t most = std::min(most_stages(p, gpu),
                                     p.mainloop == Mainloop::Tma ? kMost : kMostCopies);
  p.stages = p.mainloop == Mainloop::Sync ? 1
             : wanted > 0                 ? wanted
                                          : std::max<std::int64_t>(1, most);
}

std::string name_of(const Plan& p) { return fmt::format("{}x{}x{}", p.tile.m, p.tile.n, p.tile.k); }

std::vector<Tile> tiles_of(const Plan& p, const Wanted& wanted) {
  if (wanted.tile) { return {p.tile}; }
  std::vector<Tile> tiles;
  const auto add = [&](const auto& list) {
    for (const auto& [m, n] : list) { tiles.push_back({m, n, default_depth(p)}); }
  };
  p.mainloop == Mainloop::Tma ? add(kWgmmaTiles) : add(kMmaTiles);
  return tiles;
}

// Splits are for products whose tiles leave SMs without work.
bool worth_splitting(const Plan& p) {
  constexpr std::int64_t kLeastSteps = 8;
  return p.steps >= kLeastSteps && p.tiles() * p.split <= p.capacity;
}

// Every way that the scenario leaves open, in a fixed order.
std::vector<Plan> candidates(const Plan& p, const Wanted& wanted, const gpu::GpuSpec& gpu) {
  std::vector<std::array<std::int64_t, 2>> clusters{{p.cluster_x, p.cluster_y}};
  const bool pairs = !wanted.cluster && p.multicast && p.mainloop == Mainloop::Tma &&
                     gpu.sm.max_cluster > 1;
  if (pairs) { clusters = {{1, 1}, {2, 1}, {1, 2}}; }
  const std::vector<std::int64_t> splits = wanted.split ? std::vector{p.split}
                                                        : std::vector<std::int64_t>{1, 2, 4, 8};
  std::vector<Plan> all;
  for (const Tile& tile : tiles_of(p, wanted)) {
    for (const auto& [x, y] : clusters) {
      for (const std::int64_t split : splits) {
        Plan c = p;
        c.tile = tile;
        c.cluster_x = x;
        c.cluster_y = y;
        c.split = split;
        count_tiles(c);
        c.steps = std::max<std::int64_t>(c.steps, 1);
        set_stages(c, p.stages, gpu);
        const bool uneven = pairs && (std::min(tile.m, p.shape.m) % x != 0 || tile.k % y != 0);
        if (uneven || (!wanted.tile && c.stages > most_stages(c, gpu))) { continue; }
        count_capacity(c, gpu);
        const bool parts = ceil_div(p.shape.k, tile.k) % split == 0 && worth_splitting(c);
        if (wanted.split || split == 1 || parts) { all.push_back(c); }
      }
    }
  }
  return all;
}

bool same_tile(const Plan& a, const Plan& b) {
  return a.tile.m == b.tile.m && a.tile.n == b.tile.n;
}

// The candidate with the least time, or one with another cluster that takes hardly longer and
// fetches less.
std::size_t best_of(const std::vector<Plan>& all, const std::vector<double>& us) {
  constexpr double kAlike = 1.02;
  const auto least = static_cast<std::size_t>(std::min_element(us.begin(), us.end()) - us.begin());
  std::size_t best = least;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool kin = same_tile(all[i], all[least]) && all[i].split == all[least].split;
    if (kin && us[i] <= kAlike * us[least] && fetched(all[i]) < fetched(all[best])) { best = i; }
  }
  return best;
}

// What the sum over splits adds: a launch, and the workspace once more through L2.
double reduction_us(const Plan& p, const Rates& r, const gpu::GpuSpec& gpu) {
  if (p.split == 1) { return 0; }
  const unit::Duration fixed = gpu.launch.stream_gap + gpu.launch.block_start + gpu.l2.latency_far;
  const double bytes = static_cast<double>(p.split * p.tiles() * p.partial_bytes());
  const double rate = r.in * static_cast<double>(gpu.sms() * gpu.sm_clock().count());
  return unit::microseconds(fixed) + bytes / rate * 1e6;
}

// A and B once, at the rate that DRAM can sustain.
double dram_us(const Plan& p, const gpu::GpuSpec& gpu) {
  const Shape& s = p.shape;
  const auto bytes = static_cast<double>((s.m + s.n) * s.k * s.element);
  return bytes / static_cast<double>(gpu.sustained_bandwidth().count()) * 1e6;
}

}  // namespace

double estimate_us(const Plan& p, const gpu::GpuSpec& gpu) {
  const Rates r = rates_of(p, gpu);
  // A block alone on its SM has it for itself; several share pipe and port.
  const std::int64_t resident = std::min(p.capacity, p.tiles() * p.split);
  const auto together = static_cast<double>(ceil_div(resident, gpu.sms()));
  const double step = std::max(together * tensor_cycles(p, gpu) + r.wait,
                               together * fetched(p) / r.in);
  const double start = cycles(gpu, gpu.launch.block_start) + cycles(gpu, gpu.hbm.latency);
  const double out = together * static_cast<double>(p.tile.m * p.tile.n) *
                     (p.split > 1 ? 4 : p.shape.out_element) / r.out;
  const double block = start + static_cast<double>(p.steps) * step + out;
  const double clock = static_cast<double>(gpu.sm_clock().count());
  const double waves_us = static_cast<double>(waves_of(p)) * block / clock * 1e6;
  return std::max(waves_us, dram_us(p, gpu)) + reduction_us(p, r, gpu);
}

void choose_tile(Plan& p, const Wanted& wanted, const gpu::GpuSpec& gpu) {
  const std::vector<Plan> all = candidates(p, wanted, gpu);
  if (all.empty()) {  // nothing fits: the stages are then refused
    p.tile = tiles_of(p, wanted).front();
    return;
  }
  std::vector<double> us;
  for (const Plan& c : all) { us.push_back(estimate_us(c, gpu)); }
  const std::size_t best = best_of(all, us);
  std::size_t second = best;
  for (std::size_t i = 0; i < all.size(); ++i) {
    const bool nearer = second == best || us[i] < us[second];
    if (!same_tile(all[i], all[best]) && nearer) { second = i; }
  }
  p = all[best];
  if (wanted.tile) { return; }
  p.why = fmt::format("chosen by waves x tile time: {:.1f} us", us[best]);
  if (second != best) {
    p.why += fmt::format(" ({} would take {:.1f} us)", name_of(all[second]), us[second]);
  }
}

// Rows and columns of tiles that the blocks of a wave cover, in bytes per step of K.
std::int64_t choose_group(const Plan& p) {
  std::int64_t best = p.tiles_n, least = 0;
  for (std::int64_t group = p.cluster_x; group <= p.tiles_n; group += p.cluster_x) {
    if (p.tiles_n % group != 0) { continue; }
    const std::int64_t resident = std::min(p.capacity, p.tiles());
    const std::int64_t rows = std::min(p.tiles_m, ceil_div(resident, group));
    const std::int64_t columns = std::min(p.tiles_n, group * ceil_div(resident, group * p.tiles_m));
    const std::int64_t bytes = rows * p.a_bytes() + columns * p.b_bytes();
    if (least == 0 || bytes < least) {
      least = bytes;
      best = group;
    }
  }
  return best;
}

// How the tiles fall into waves, up to which M they stay as many, and the next M that fills all of
// them; stream-K has no waves.
std::string wave_note(const Plan& p) {
  if (p.schedule == Schedule::StreamK) {
    return fmt::format("{} tiles of {} steps, shared out evenly over {} places", p.tiles(), p.steps,
                       std::min(p.capacity, p.tiles() * p.steps));
  }
  const std::int64_t per_row = p.tiles_n * p.split, waves = waves_of(p);
  const std::int64_t rows = waves * p.capacity / per_row / p.cluster_y * p.cluster_y;
  std::int64_t whole = p.tiles_m;
  while (whole * per_row % p.capacity != 0) { whole += p.cluster_y; }
  return fmt::format("{} tiles on {} places: {} {}; M up to {} takes as many, M = {} fills {}",
                     p.tiles() * p.split, p.capacity, waves, waves == 1 ? "wave" : "waves",
                     rows * p.tile.m, whole * p.tile.m, whole * per_row / p.capacity);
}

}  // namespace wavetail::library::gemm
