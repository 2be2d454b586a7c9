// SPDX-License-Identifier: Apache-2.0
// The plan of a product by tcgen05: tiles of 128 rows and up to 256 columns per SM, alone or in
// pairs of SMs. What the scenario leaves open is chosen by the least closed-form time:
//
//   start + rounds x steps x max(tensor, fetch) + last tile to D, and A and B / DRAM bandwidth,
//   put together as gemm_estimate.cc does,
//
// with every figure from the GPU file; the simulation then has what queues and barriers add.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "isa/availability.h"
#include "isa/tensor.h"
#include "library/gemm.h"
#include "occupancy/occupancy.h"
#include "unit/print.h"

namespace wavetail::library::gemm {

namespace {

constexpr std::int64_t kRows = 128;  // lanes of tensor memory
constexpr std::int64_t kColumns[] = {256, 224, 192, 160, 128, 96, 64, 32, 16};

std::vector<Mistake> refuse(const char* key, const std::string& text) { return {{key, text}}; }

void set_pair(Plan& p, bool pair) {
  p.pair = pair;
  p.cluster_x = 1;
  p.cluster_y = pair ? 2 : 1;
}

std::int64_t stages_that_fit(const Plan& p, const gpu::GpuSpec& gpu) {
  constexpr std::int64_t kMost = 16;
  return std::min(kMost, most_stages(p, gpu));
}

}  // namespace

void count_tcgen05(Plan& p, const gpu::GpuSpec& gpu) {
  count_tiles(p);
  p.steps = std::max<std::int64_t>(p.steps, 1);
  const auto fit = occupancy::occupy(gpu, {.block = tcgen05_warps(p) * gpu.sm.warp_size,
                                           .registers = tcgen05_registers(p),
                                           .shared_memory = unit::Bytes{p.shared_bytes()},
                                           .cluster = p.cluster(),
                                           .grid = p.cluster(),
                                           .tmem_columns = tmem_columns(p)});
  p.capacity = std::max(fit.capacity(), p.cluster());
}

namespace {

double cycles(const gpu::GpuSpec& gpu, unit::Duration d) {
  return unit::seconds(d) * static_cast<double>(gpu.sm_clock().count());
}

// Bytes per SM cycle that come to one SM when all ask.
double fill_rate(const gpu::GpuSpec& gpu) {
  const double l2 = unit::bytes_per_cycle(gpu.l2.slice_bandwidth) *
                    static_cast<double>(gpu.l2.slices) / static_cast<double>(gpu.sms()) *
                    static_cast<double>(gpu.clock.l2.count()) /
                    static_cast<double>(gpu.sm_clock().count());
  return std::min(
      {unit::bytes_per_cycle(gpu.tma.rate), unit::bytes_per_cycle(gpu.tma.landing), l2});
}

// Of a block and step; rows beyond a matrix are not fetched.
double fetched_bytes(const Plan& p) {
  const double rows = static_cast<double>(std::min(p.tile.m, p.shape.m)) /
                      static_cast<double>(p.tile.m);
  const double columns = static_cast<double>(std::min(p.tile.n, p.shape.n)) /
                         static_cast<double>(p.tile.n);
  return rows * static_cast<double>(p.a_bytes()) + columns * static_cast<double>(p.b_bytes()) +
         static_cast<double>(p.scale_bytes());
}

}  // namespace

double estimate_tcgen05(const Plan& p, const gpu::GpuSpec& gpu) {
  const std::int64_t depth = isa::wgmma_depth(p.shape.type), ctas = p.pair ? 2 : 1;
  const std::int64_t row_tiles = p.tile.m / kRows;
  kernel::TensorShape shape{kRows * ctas, p.tile.n, depth, p.shape.type, false};
  shape.ctas = ctas;
  const auto together = static_cast<double>(
      ceil_div(std::min(p.capacity, p.tiles() * p.split), gpu.sms()));
  const double tensor = static_cast<double>(p.tile.k / p.depth() * row_tiles *
                                                isa::tcgen05_cost(gpu, shape).pipe +
                                            isa::tcgen05_copy_cost(gpu, p.scale_bytes()).pipe) /
                        static_cast<double>(isa::kThousandths);
  const double fetch = fetched_bytes(p) / fill_rate(gpu);
  const double start = cycles(gpu, gpu.launch.block_start) + cycles(gpu, gpu.hbm.latency);
  const double out = static_cast<double>(p.tile.m * p.tile.n) *
                     (p.split > 1 ? 4 : p.shape.out_element) /
                     unit::bytes_per_cycle(gpu.crossbar.egress);
  const auto rounds = static_cast<double>(ceil_div(p.tiles() * p.split, p.capacity));
  const double chain = static_cast<double>(p.steps) * together * std::max(tensor, fetch);
  const double tiles = p.loops_over_tiles() ? start + rounds * std::max(chain, out) + out
                                            : rounds * (start + chain + out);
  const Shape& s = p.shape;
  const auto bytes = static_cast<double>((s.m + s.n) * s.k * s.element);
  const double dram = bytes / static_cast<double>(gpu.sustained_bandwidth().count());
  const double reduction = p.split == 1
                               ? 0
                               : unit::seconds(gpu.launch.stream_gap) +
                                     unit::seconds(gpu.launch.block_start) +
                                     static_cast<double>(p.split * p.tiles() * p.partial_bytes()) /
                                         (fill_rate(gpu) * static_cast<double>(gpu.sms()) *
                                          static_cast<double>(gpu.sm_clock().count()));
  const double chain_s = tiles / static_cast<double>(gpu.sm_clock().count());
  return std::cbrt(chain_s * chain_s * chain_s + dram * dram * dram) + reduction;
}

namespace {

struct Open {  // what the scenario leaves open
  bool tile = false, pair = false, split = false, schedule = false;
};

void add(std::vector<Plan>& all, Plan c, const Open& open, const gpu::GpuSpec& gpu) {
  if (open.schedule && c.split > 1) { c.schedule = Schedule::DataParallel; }
  count_tcgen05(c, gpu);
  if (open.split && c.split > 1) {
    constexpr std::int64_t kLeastSteps = 8;
    const bool whole = ceil_div(c.shape.k, c.tile.k) % c.split == 0;
    if (!whole || c.steps < kLeastSteps || c.tiles() * c.split > c.capacity) { return; }
  }
  const std::int64_t most = stages_that_fit(c, gpu);
  if (most < 1) { return; }
  if (c.stages == 0) { c.stages = most; }
  if (c.stages > most) { return; }
  count_tcgen05(c, gpu);
  all.push_back(std::move(c));
}

// Every tile, pairs or not, every split of one side.
void add_ways(std::vector<Plan>& all, const Plan& p, const Open& open, const gpu::GpuSpec& gpu) {
  for (const std::int64_t n : kColumns) {
    for (const bool pair : {true, false}) {
      for (const std::int64_t split : {1, 2, 4, 8}) {
        Plan c = p;
        if (open.tile) { c.tile = {kRows, n, 128 / p.shape.element}; }
        if (open.pair) { set_pair(c, pair); }
        if (open.split) { c.split = split; }
        const bool again = (!open.tile && n != kColumns[0]) || (!open.pair && !pair) ||
                           (!open.split && split != 1);
        const bool odd = c.pair && c.tile.n % 32 != 0;
        if (!again && !odd) { add(all, c, open, gpu); }
      }
    }
  }
}

std::vector<Plan> candidates(const Plan& p, const Open& open, const gpu::GpuSpec& gpu) {
  std::vector<Plan> all;
  const bool turns = open.tile && p.shape.b_k_major && !p.shape.d_m_major;
  Plan turned = p;
  turn(turned);
  for (const Plan& side : {p, turned}) {
    if (side.swapped && !turns) { break; }
    add_ways(all, side, open, gpu);
  }
  return all;
}

std::string name_of(const Plan& p) {
  return fmt::format("{}x{}x{}{}", p.tile.m * (p.pair ? 2 : 1), p.tile.n, p.tile.k,
                     p.pair ? " of a pair" : "");
}

std::vector<Mistake> choose(Plan& p, const Open& open, const gpu::GpuSpec& gpu) {
  const std::vector<Plan> all = candidates(p, open, gpu);
  if (all.empty()) {
    return refuse(p.stages > 0 ? "stages" : "tile",
                  fmt::format("is too much: {} of shared memory are a block's",
                              unit::print(gpu.sm.shared_memory_per_block)));
  }
  std::vector<double> seconds;
  for (const Plan& c : all) { seconds.push_back(estimate_tcgen05(c, gpu)); }
  const auto least = std::min_element(seconds.begin(), seconds.end());
  p = all[static_cast<std::size_t>(least - seconds.begin())];
  if (open.tile) {
    p.why = fmt::format("{} chosen by rounds x tile time: {:.1f} us", name_of(p), *least * 1e6);
  }
  return {};
}

// [256, n, k] is a tile of a pair: each block has half of its rows.
std::vector<Mistake> read_tile(const Values& v, Plan& p, Open& open) {
  if (v.has("cta_group")) {
    open.pair = false;
    set_pair(p, v.number("cta_group") == 2);
  }
  if (!v.has("tile")) { return {}; }
  const auto tile = v.list_or("tile", {0, 0, 128 / p.shape.element});
  p.tile = {tile[0], tile[1], tile[2]};
  const std::string shown = fmt::format("is {}x{}x{}; ", tile[0], tile[1], tile[2]);
  if ((tile[0] == 2 * kRows || tile[0] == 4 * kRows) && (open.pair || p.pair)) {
    open.pair = false;
    set_pair(p, true);
    p.tile.m = tile[0] / 2;
  } else if (tile[0] == 2 * kRows) {
    return refuse("tile", shown + "256 rows take a pair of SMs, cta_group: 2");
  } else if (tile[0] == 4 * kRows) {
    return refuse("tile", shown + "512 rows take a pair of SMs, cta_group: 2");
  } else if (tile[0] != kRows) {
    return refuse("tile", shown + "the first number must be 128, or 256 or 512 for a pair of SMs");
  } else if (open.pair) {
    open.pair = false;
    set_pair(p, false);
  }
  const std::int64_t unit = p.pair ? 32 : 16, depth = p.depth();
  if (p.tile.n % unit != 0 || p.tile.n > 256) {
    return refuse("tile", shown + fmt::format("the second number must be a multiple of {} up to "
                                              "256",
                                              unit));
  }
  if (p.tile.k % depth != 0 || p.tile.k * p.shape.element > 256) {
    return refuse("tile", shown + fmt::format("the third number must be a multiple of {} up to {}",
                                              depth, 256 / p.shape.element));
  }
  open.tile = false;
  return {};
}

// Words that only other mainloops have.
std::vector<Mistake> read_ways(const Values& v, const gpu::GpuSpec& gpu, Plan& p) {
  if (const auto why = isa::lacks("tcgen05_mma", gpu.architecture)) {
    return refuse("mainloop", "is tcgen05; " + *why);
  }
  if (v.has("roles") && v.word("roles") != "cooperative") {
    return refuse("roles", "is none; tcgen05 has warps for each part: cooperative");
  }
  if (v.has("epilogue") && v.word("epilogue") != "tma") {
    return refuse("epilogue",
                  "is direct; sums in tensor memory leave by way of shared memory: tma");
  }
  if (v.has("cluster")) {
    return refuse("cluster", "is given; tcgen05 has pairs of blocks: cta_group");
  }
  const std::string schedule = v.has("schedule") ? v.word("schedule") : "persistent";
  if (schedule == "stream-k") {
    return refuse("schedule", "is stream-k; it needs the TMA mainloop with wgmma");
  }
  p.mainloop = Mainloop::Tcgen05;
  p.tma_epilogue = true;
  p.schedule = schedule == "persistent" ? Schedule::Persistent : Schedule::DataParallel;
  p.split = v.number_or("split_k", 1);
  if (p.split > 1) {
    if (v.has("schedule") && p.schedule == Schedule::Persistent) {
      return refuse("split_k",
                    fmt::format("is {}; persistent shares K out in a way of its own: 1", p.split));
    }
    p.schedule = Schedule::DataParallel;
  }
  return {};
}

}  // namespace

std::int64_t tcgen05_warps(const Plan& p) { return p.warps() + 2; }

std::int64_t tcgen05_registers(const Plan& p) {
  return round_up(std::max<std::int64_t>(p.strip(), 64) + kOtherRegisters, 8);
}

bool takes_tcgen05(const Values& v, const gpu::GpuSpec& gpu) {
  if (v.has("mainloop")) { return v.word("mainloop") == "tcgen05"; }
  return !isa::lacks("tcgen05_mma", gpu.architecture);
}

std::vector<Mistake> make_tcgen05_plan(const Values& v, const gpu::GpuSpec& gpu, Plan& p) {
  if (auto m = shape_of(v, gpu, p.shape); !m.empty()) { return m; }
  if (auto m = read_ways(v, gpu, p); !m.empty()) { return m; }
  Open open{.tile = true, .pair = true, .split = true, .schedule = !v.has("schedule")};
  if (auto m = read_tile(v, p, open); !m.empty()) { return m; }
  p.stages = v.number_or("stages", 0);
  open.split = !v.has("split_k") && !v.has("group") && open.tile && open.schedule;
  if (auto m = choose(p, open, gpu); !m.empty()) { return m; }
  if (ceil_div(p.shape.k, p.tile.k) % p.split != 0) {
    return refuse("split_k", fmt::format("is {}; it must divide the {} steps of {} along K",
                                         p.split, ceil_div(p.shape.k, p.tile.k), p.tile.k));
  }
  p.group = p.split > 1 ? p.tiles_n : choose_group(p);
  if (v.has("group")) {
    const std::int64_t wanted = v.number("group");
    if (p.split > 1 && wanted != p.tiles_n) {
      return refuse("group",
                    fmt::format("is {}; with split_k all {} columns of tiles are one group", wanted,
                                p.tiles_n));
    }
    p.group = std::min(wanted, p.tiles_n);
  }
  return {};
}

}  // namespace wavetail::library::gemm
