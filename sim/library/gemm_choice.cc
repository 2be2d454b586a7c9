// SPDX-License-Identifier: Apache-2.0
// What the scenario leaves open. Candidates are what the libraries' kernels are made of: on Hopper
// one side of a tile in blocks of 64 rows, the other a multiple of 8 up to 256, either operand on
// the side of the rows, in pairs of blocks, K in up to 16 parts (names of cuBLAS' kernels
// in public profiles: nvjet 64x8 to 256x128 and their transposes); before Hopper CUTLASS' tiles for
// mma.sync. The choice is the least closed-form time (gemm_estimate.cc). Of clusters that take
// alike, within 2 %, the one that fetches least: what a closed form leaves out waits at ports and
// slices. The order of tiles is the one whose waves read least.
#include <algorithm>
#include <optional>

#include <fmt/format.h>

#include "isa/tensor.h"
#include "library/gemm.h"

namespace wavetail::library::gemm {

namespace {

constexpr std::array<std::int64_t, 4> kWgmmaRows{64, 128, 192, 256};
constexpr std::array<std::int64_t, 18> kWgmmaColumns{8,   16,  24,  32,  40,  48,  64,  80,  96,
                                                     112, 128, 144, 160, 176, 192, 208, 224, 256};
constexpr std::int64_t kMostArea = 40960;  // of a tile: two warpgroups hold no more sums
constexpr std::array<std::array<std::int64_t, 2>, 15> kMmaTiles{{{256, 128},
                                                                 {128, 256},
                                                                 {128, 128},
                                                                 {256, 64},
                                                                 {64, 256},
                                                                 {128, 64},
                                                                 {64, 128},
                                                                 {64, 64},
                                                                 {128, 32},
                                                                 {32, 128},
                                                                 {64, 32},
                                                                 {32, 64},
                                                                 {32, 32},
                                                                 {16, 128},
                                                                 {16, 64}}};
constexpr std::array<std::int64_t, 8> kSplits{1, 2, 3, 4, 6, 8, 12, 16};

// K per step: the 128 B of a swizzled row.
std::int64_t default_depth(const Plan& p) { return 128 / p.shape.element; }

std::int64_t waves_of(const Plan& p) { return ceil_div(p.tiles() * p.split, p.capacity); }

// As many as fit where the TMA fills them. Copies by the warps: three, which leaves room for more
// blocks on an SM, and more of them where there are no more blocks.
void set_stages(Plan& p, std::int64_t wanted, bool tile_stated, const gpu::GpuSpec& gpu) {
  constexpr std::int64_t kMost = 16, kCopies = 3, kMostCopies = 6;
  const bool alone = !tile_stated && p.tiles() * p.split <= gpu.sms();
  const std::int64_t copies = alone ? kMostCopies : kCopies;
  const std::int64_t most = std::min(most_stages(p, gpu),
                                     p.mainloop == Mainloop::Tma ? kMost : copies);
  p.stages = p.mainloop == Mainloop::Sync ? 1
             : wanted > 0                 ? wanted
                                          : std::max<std::int64_t>(1, most);
}

std::string name_of(const Plan& p) { return fmt::format("{}x{}x{}", p.tile.m, p.tile.n, p.tile.k); }

std::vector<Tile> tiles_of(const Plan& p, const Wanted& wanted) {
  if (wanted.tile) { return {p.tile}; }
  std::vector<Tile> tiles;
  if (p.mainloop != Mainloop::Tma) {
    for (const auto& [m, n] : kMmaTiles) { tiles.push_back({m, n, default_depth(p)}); }
    return tiles;
  }
  for (const std::int64_t m : kWgmmaRows) {
    for (const std::int64_t n : kWgmmaColumns) {
      if (m * n <= kMostArea / (p.promotes() ? 2 : 1)) {
        tiles.push_back({m, n, default_depth(p)});
      }
    }
  }
  return tiles;
}

// Every part has steps of its own, and all together hardly more than there are.
bool worth_splitting(const Plan& p) {
  constexpr std::int64_t kLeastSteps = 4;
  const std::int64_t steps = ceil_div(p.shape.k, p.tile.k);
  return p.steps >= kLeastSteps && 16 * p.steps * p.split <= 17 * steps;
}

using Pair = std::array<std::int64_t, 2>;

// Whether the blocks of a cluster can share out what they fetch alike.
bool shares_evenly(const Plan& p) {
  const std::int64_t left = std::min(p.tile.m, p.shape.m);
  const std::int64_t right = p.shape.b_k_major ? std::min(p.tile.n, p.shape.n) : p.tile.k;
  return left % p.cluster_x == 0 && right % p.cluster_y == 0;
}

// The candidate with this tile, cluster and split, if it can be.
std::optional<Plan> candidate(const Plan& p, const Tile& tile, const Pair& cluster,
                              std::int64_t split, const Wanted& wanted, const gpu::GpuSpec& gpu) {
  Plan c = p;
  c.tile = tile;
  c.cluster_x = cluster[0];
  c.cluster_y = cluster[1];
  c.split = split;
  count_tiles(c);
  set_stages(c, p.stages, wanted.tile, gpu);
  if (wanted.tile && !wanted.cluster && !shares_evenly(c)) { return std::nullopt; }
  if (!wanted.tile && c.stages > most_stages(c, gpu)) { return std::nullopt; }
  if (!wanted.split && split > 1 && !worth_splitting(c)) { return std::nullopt; }
  count_capacity(c, gpu);
  const bool loops = !wanted.schedule && !wanted.tile && c.specialised && split == 1;
  if (loops && c.tiles() > c.capacity) { c.schedule = Schedule::Persistent; }
  c.staged_epilogue = !wanted.tile && !wanted.epilogue && c.mainloop == Mainloop::CpAsync;
  return c;
}

// Every way that the scenario leaves open, in a fixed order.
std::vector<Plan> candidates(const Plan& p, const Wanted& wanted, const gpu::GpuSpec& gpu) {
  std::vector<Pair> clusters{{p.cluster_x, p.cluster_y}};
  const bool pairs = !wanted.cluster && p.multicast && p.mainloop == Mainloop::Tma &&
                     gpu.sm.max_cluster > 1;
  if (pairs && wanted.tile) { clusters = {{1, 1}, {2, 1}, {1, 2}}; }
  if (pairs && !wanted.tile) { clusters = {{2, 1}, {1, 2}}; }
  std::vector<std::int64_t> splits{p.split};
  if (!wanted.split) { splits.assign(kSplits.begin(), kSplits.end()); }
  const bool turns = !wanted.tile && p.shape.b_k_major && !p.shape.d_m_major && p.specialised &&
                     p.tma_epilogue;
  std::vector<Plan> all;
  for (const bool swapped : {false, true}) {
    if (swapped && !turns) { break; }
    Plan side = p;
    if (swapped) { turn(side); }
    for (const Tile& tile : tiles_of(p, wanted)) {
      for (const Pair& cluster : clusters) {
        for (const std::int64_t split : splits) {
          if (auto c = candidate(side, tile, cluster, split, wanted, gpu)) {
            all.push_back(std::move(*c));
          }
        }
      }
    }
  }
  return all;
}

bool same_tile(const Plan& a, const Plan& b) {
  return a.tile.m == b.tile.m && a.tile.n == b.tile.n && a.swapped == b.swapped;
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

}  // namespace

void turn(Plan& p) {
  p.swapped = true;
  std::swap(p.shape.m, p.shape.n);
  p.shape.d_m_major = true;
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
