// SPDX-License-Identifier: Apache-2.0
// What the scenario leaves open. Tiles come from a short list, clusters are none or pairs; the
// choice is the least closed-form time:
//
//   waves x (start + steps x max(tensor cycles + wait, bytes fetched / rate) + epilogue) / clock
//
// with every figure from the GPU file. The order of tiles is the one whose waves read least.
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

}  // namespace

double estimate_us(const Plan& p, const gpu::GpuSpec& gpu) {
  const Rates r = rates_of(p, gpu);
  // A block alone on its SM has it for itself; several share pipe and port.
  const double together = std::ceil(static_cast<double>(p.capacity) /
                                    static_cast<double>(gpu.sms()));
  const double step = std::max(together * tensor_cycles(p, gpu) + r.wait,
                               together * fetched(p) / r.in);
  const double start = cycles(gpu, gpu.launch.block_start) + cycles(gpu, gpu.hbm.latency);
  const double out = together * static_cast<double>(p.tile.m * p.tile.n) *
                     (p.split > 1 ? 4 : p.shape.out_element) / r.out;
  const double block = start + static_cast<double>(p.steps) * step + out;
  return static_cast<double>(waves_of(p)) * block / static_cast<double>(gpu.sm_clock().count()) *
         1e6;
}

void choose_tile(Plan& p, const Wanted& wanted, const gpu::GpuSpec& gpu) {
  std::vector<Tile> tiles;
  if (wanted.tile) {
    tiles.push_back(p.tile);
  } else if (p.mainloop == Mainloop::Tma) {
    for (const auto& [m, n] : kWgmmaTiles) { tiles.push_back({m, n, default_depth(p)}); }
  } else {
    for (const auto& [m, n] : kMmaTiles) { tiles.push_back({m, n, default_depth(p)}); }
  }
  std::vector<std::array<std::int64_t, 2>> clusters{{p.cluster_x, p.cluster_y}};
  const bool pairs = !wanted.cluster && p.multicast && p.mainloop == Mainloop::Tma &&
                     gpu.sm.max_cluster > 1;
  if (pairs) { clusters = {{1, 1}, {2, 1}, {1, 2}}; }
  const std::int64_t stages = p.stages;
  Plan best, second;
  double best_us = 0, second_us = 0;
  for (const Tile& tile : tiles) {
    for (const auto& [x, y] : clusters) {
      Plan candidate = p;
      candidate.tile = tile;
      candidate.cluster_x = x;
      candidate.cluster_y = y;
      count_tiles(candidate);
      if (candidate.steps < 1) { candidate.steps = 1; }
      set_stages(candidate, stages, gpu);
      if (!wanted.tile && candidate.stages > most_stages(candidate, gpu)) { continue; }
      const bool uneven = std::min(tile.m, p.shape.m) % x != 0 || tile.k % y != 0;
      if (pairs && uneven) { continue; }
      count_capacity(candidate, gpu);
      const double us = estimate_us(candidate, gpu);
      if (best_us == 0 || us < best_us) {
        if (best_us > 0 && (best.tile.m != tile.m || best.tile.n != tile.n)) {
          second = best;
          second_us = best_us;
        }
        best = candidate;
        best_us = us;
      } else if ((best.tile.m != tile.m || best.tile.n != tile.n) &&
                 (second_us == 0 || us < second_us)) {
        second = candidate;
        second_us = us;
      }
    }
  }
  if (best_us == 0) {  // nothing fits: the first, whose stages are then refused
    best = p;
    best.tile = tiles.front();
  }
  p = best;
  if (wanted.tile) { return; }
  p.why = fmt::format("chosen by waves x tile time: {:.1f} us", best_us);
  if (second_us > 0) {
    p.why += fmt::format(" ({} would take {:.1f} us)", name_of(second), second_us);
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
// them.
std::string wave_note(const Plan& p) {
  const std::int64_t per_row = p.tiles_n * p.split, waves = waves_of(p);
  const std::int64_t rows = waves * p.capacity / per_row / p.cluster_y * p.cluster_y;
  std::int64_t whole = p.tiles_m;
  while (whole * per_row % p.capacity != 0) { whole += p.cluster_y; }
  return fmt::format("{} tiles on {} places: {} {}; M up to {} takes as many, M = {} fills {}",
                     p.tiles() * p.split, p.capacity, waves, waves == 1 ? "wave" : "waves",
                     rows * p.tile.m, whole * p.tile.m, whole * per_row / p.capacity);
}

}  // namespace wavetail::library::gemm
