// SPDX-License-Identifier: Apache-2.0
// From parameters to a plan: what the GPU has, what fits, what divides what.
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "isa/availability.h"
#include "isa/tensor.h"
#include "library/gemm.h"
#include "occupancy/occupancy.h"
#include "unit/print.h"

namespace wavetail::library::gemm {

std::int64_t Plan::warps() const {
  if (wanted_warps > 0) { return wanted_warps; }
  if (mainloop == Mainloop::Tma) { return tile.m == 192 ? 12 : tile.m >= 128 ? 8 : 4; }
  if (mainloop == Mainloop::Tcgen05) { return tile.m == 256 ? 8 : 4; }
  return tile.m * tile.n >= 32768 ? 8 : 4;
}

std::int64_t Plan::row_blocks() const { return tile.m / 64 / (warps() / 4); }

Tile Plan::warp_tile() const {
  std::int64_t along_m = 1;  // the larger half of the warps along the tile's longer side
  while (4 * along_m * along_m <= warps()) { along_m *= 2; }
  if (tile.m >= tile.n && along_m * along_m < warps()) { along_m *= 2; }
  along_m = std::min(along_m, tile.m / 16);
  return {tile.m / along_m, tile.n / (warps() / along_m), tile.k};
}

std::int64_t Plan::strip() const {
  std::int64_t columns = 128 / shape.out_element;
  while (columns > 8 && along() % columns != 0) { columns /= 2; }
  return std::min(columns, along());
}

std::int64_t Plan::depth() const { return isa::wgmma_depth(shape.type) / shape.packed; }

int out_bytes(kernel::TensorType type) { return type == kernel::TensorType::Tf32 ? 4 : 2; }

// What a block is launched with is what its roles share after they have moved registers. mma.sync
// holds two sets of fragments, a plain copy also what it moves.
std::int64_t registers_of(const Plan& p) {
  if (p.wanted_registers > 0) { return p.wanted_registers; }
  const std::int64_t each = round_up(p.held_sums() + kOtherRegisters, 8);
  if (p.specialised) {
    return round_up(ceil_div(4 * kProducerRegisters + p.warps() * each, p.warps() + 4), 8);
  }
  if (p.mainloop == Mainloop::Tma) { return each; }
  const Tile w = p.warp_tile();
  const std::int64_t fragments = 2 * 4 * (w.m / 16 + ceil_div(w.n, 16));
  const std::int64_t staged = p.mainloop == Mainloop::Sync
                                  ? ceil_div(p.stage_bytes(), p.warps() * 32 * 4)
                                  : 0;
  return std::min<std::int64_t>(255, round_up(p.held_sums() + 24 + fragments + staged, 8));
}

std::int64_t most_stages(const Plan& p, const gpu::GpuSpec& gpu) {
  const std::int64_t room = gpu.sm.shared_memory_per_block.count() - p.staging_bytes() -
                            kBesideStages;
  return room / p.stage_bytes();
}

void count_tiles(Plan& p) {
  p.tiles_m = round_up(ceil_div(p.shape.m, p.tile.m), p.cluster_y);
  p.tiles_n = round_up(ceil_div(p.shape.n, p.tile.n), p.cluster_x);
  p.steps = ceil_div(ceil_div(p.shape.k, p.tile.k), p.split);
}

void count_capacity(Plan& p, const gpu::GpuSpec& gpu) {
  const bool producer = p.specialised;
  const auto fit = occupancy::occupy(gpu,
                                     {.block = (p.warps() + (producer ? 4 : 0)) * gpu.sm.warp_size,
                                      .registers = registers_of(p),
                                      .shared_memory = unit::Bytes{p.shared_bytes()},
                                      .cluster = p.cluster(),
                                      .grid = p.cluster()});
  p.capacity = std::max(fit.capacity(), p.cluster());
  if (p.blocks > 0) { p.capacity = std::min(p.capacity, p.blocks); }
}

namespace {

using kernel::TensorType;

constexpr TensorType kTypes[] = {TensorType::Bf16, TensorType::Fp16, TensorType::Tf32,
                                 TensorType::Fp8, TensorType::Fp4};

// Only narrow operands have scales, and 4-bit ones always.
std::vector<Mistake> read_scales(const Values& v, Shape& s) {
  const bool fp4 = s.type == TensorType::Fp4;
  const std::string scale = v.has("scale") ? v.word("scale") : fp4 ? "nv" : "none";
  s.scales = scale == "block" ? Scales::Block
             : scale == "mx"  ? Scales::Mx
             : scale == "nv"  ? Scales::Nv
                              : Scales::None;
  const bool goes = fp4 ? scale == "mx" || scale == "nv"
                        : scale == "none" || (s.type == TensorType::Fp8 && scale != "nv");
  if (goes) { return {}; }
  return {{"scale", fmt::format("is {}; {} has {}", scale, v.word("dtype"),
                                fp4                         ? "mx or nv"
                                : s.type == TensorType::Fp8 ? "none, block or mx"
                                                            : "none")}};
}

std::vector<Mistake> read_shape(const Values& v, const gpu::GpuSpec& gpu, Shape& s) {
  const std::string dtype = v.word("dtype");
  s.m = v.number("m");
  s.n = v.number("n");
  s.k = v.number("k");
  std::vector<std::string_view> has;
  for (const TensorType t : kTypes) {
    if (isa::tensor_rate(gpu.tensor, t) > 0) { has.push_back(isa::name(t)); }
    if (isa::name(t) == dtype) { s.type = t; }
  }
  if (std::find(has.begin(), has.end(), dtype) == has.end()) {
    return {{"dtype", has.empty() ? fmt::format("is {}; {} has no tensor cores", dtype, gpu.name)
                                  : fmt::format("is {}; the tensor cores of {} multiply {}", dtype,
                                                gpu.name, fmt::join(has, ", "))}};
  }
  if (auto m = read_scales(v, s); !m.empty()) { return m; }
  s.packed = s.type == TensorType::Fp4 ? 2 : 1;
  s.element = std::max(1, isa::bits(s.type) / 8);
  if (s.k % s.packed != 0) {
    return {{"k", fmt::format("is {}; two elements of {} share a byte", s.k, dtype)}};
  }
  s.k /= s.packed;
  s.out_element = v.has("out") ? (v.word("out") == "fp32" ? 4 : 2) : out_bytes(s.type);
  s.d_m_major = v.word("d_layout") == "nm";
  // wgmma reads types other than 16-bit ones along K only.
  s.b_k_major = v.has("b_layout") ? v.word("b_layout") == "nk" : s.element != 2;
  if (!s.b_k_major && s.element != 2) {
    return {
        {"b_layout", fmt::format("is kn; tensor instructions read {} along K only: nk", dtype)}};
  }
  const auto rows = [&](const char* key, std::int64_t n, int element) -> std::vector<Mistake> {
    if (n * element % 16 == 0) { return {}; }
    return {{key, fmt::format("is {}: rows of {} B; copies of 16 B need a multiple of {}", n,
                              n * element, 16 / element)}};
  };
  if (auto m = rows("k", s.k, s.element); !m.empty()) { return m; }
  if (s.d_m_major) {
    if (auto m = rows("m", s.m, s.out_element); !m.empty()) { return m; }
    return s.b_k_major ? std::vector<Mistake>{} : rows("n", s.n, s.element);
  }
  return rows("n", s.n, s.b_k_major ? s.out_element : std::min(s.element, s.out_element));
}

std::vector<Mistake> lacks(const char* key, std::string_view operation, std::string_view value,
                           const gpu::GpuSpec& gpu) {
  const auto why = isa::lacks(operation, gpu.architecture);
  return why ? std::vector<Mistake>{{key, fmt::format("is {}; {}", value, *why)}}
             : std::vector<Mistake>{};
}

// What a scenario may say of the multiplying warps and the ring between them and the copies.
std::vector<Mistake> read_warps(const Values& v, Plan& p) {
  const bool tma = p.mainloop == Mainloop::Tma;
  p.wanted_warps = v.number_or("warps", 0);
  p.wanted_registers = v.number_or("registers", 0);
  p.left = v.number_or("under_way", p.specialised && !p.promotes() ? 1 : 0);
  p.every_thread_arrives = v.word("arrivals") == "thread";
  p.swizzled = v.flag("swizzle");
  p.reads_ahead = v.flag("read_ahead");
  p.blocks = v.number_or("blocks", 0);
  if (tma && p.wanted_warps % 4 != 0) {
    return {{"warps", fmt::format("is {}; wgmma takes warpgroups of 4", p.wanted_warps)}};
  }
  if (!tma && (p.wanted_warps & (p.wanted_warps - 1)) != 0) {
    return {{"warps",
             fmt::format("is {}; a grid of warps needs 1, 2, 4, 8, 16 or 32", p.wanted_warps)}};
  }
  if (p.left > 0 && p.promotes()) {
    return {
        {"under_way", fmt::format("is {}; sums are scaled when all products are done: 0", p.left)}};
  }
  if (p.left > 0 && !p.specialised) {
    return {{"under_way", fmt::format("is {}; without a producer warp a stage is filled again when "
                                      "all wgmma are done: 0",
                                      p.left)}};
  }
  if (p.every_thread_arrives && !tma) {
    return {{"arrivals", "is thread; only the TMA mainloop has mbarriers: warpgroup"}};
  }
  if (!p.swizzled && tma) {
    return {{"swizzle", "is false; wgmma reads rows of 128 B as the TMA swizzles them: true"}};
  }
  if (!p.reads_ahead && tma) {
    return {{"read_ahead", "is false; wgmma reads no fragments: true"}};
  }
  if (p.blocks > 0 && p.schedule != Schedule::Persistent) {
    return {{"blocks", fmt::format("is {}; only schedule: persistent has blocks that are not the "
                                   "tiles",
                                   p.blocks)}};
  }
  return {};
}

std::vector<Mistake> read_ways(const Values& v, const gpu::GpuSpec& gpu, Plan& p) {
  const bool hopper = !isa::lacks("wgmma", gpu.architecture);
  const bool copies = !isa::lacks("cp_async", gpu.architecture);
  const std::string mainloop = v.has("mainloop") ? v.word("mainloop")
                               : hopper          ? "tma"
                               : copies          ? "cp_async"
                                                 : "sync";
  p.mainloop = mainloop == "tma"        ? Mainloop::Tma
               : mainloop == "cp_async" ? Mainloop::CpAsync
                                        : Mainloop::Sync;
  const bool tma = p.mainloop == Mainloop::Tma;
  const char* needed = tma ? "wgmma" : p.mainloop == Mainloop::CpAsync ? "cp_async" : "mma";
  if (auto m = lacks("mainloop", needed, mainloop, gpu); !m.empty()) { return m; }
  if (auto m = lacks("dtype", "mma", v.word("dtype"), gpu); !m.empty()) { return m; }
  const std::string roles = v.has("roles") ? v.word("roles") : tma ? "cooperative" : "none";
  p.specialised = roles == "cooperative";
  if (p.specialised && !tma) {
    return {{"roles", "is cooperative; only the TMA mainloop has a producer warp: none"}};
  }
  const char* registers = p.shape.d_m_major ? "scalar" : "direct";
  const std::string epilogue = v.has("epilogue") ? v.word("epilogue") : tma ? "tma" : registers;
  p.tma_epilogue = epilogue == "tma";
  p.scalar_epilogue = epilogue == "scalar" || (p.shape.d_m_major && !p.tma_epilogue);
  if (p.tma_epilogue && !tma) {
    return {{"epilogue", "is tma; it goes with the TMA mainloop: direct or scalar"}};
  }
  if (epilogue == "direct" && p.shape.d_m_major) {
    return {{"epilogue",
             "is direct; a lane's neighbouring sums are neighbours in a row-major D only: scalar"}};
  }
  const std::string schedule = v.has("schedule") ? v.word("schedule") : "data-parallel";
  p.schedule = schedule == "persistent" ? Schedule::Persistent
               : schedule == "stream-k" ? Schedule::StreamK
                                        : Schedule::DataParallel;
  p.split = v.number_or("split_k", 1);
  if (p.schedule == Schedule::StreamK && !p.specialised && p.mainloop != Mainloop::CpAsync) {
    return {
        {"schedule", "is stream-k; it needs mainloop: cp_async, or tma with roles: cooperative"}};
  }
  if (p.split > 1 && p.schedule != Schedule::DataParallel) {
    return {{"split_k",
             fmt::format("is {}; {} shares K out in a way of its own: 1", p.split, schedule)}};
  }
  return read_warps(v, p);
}

std::vector<Mistake> read_cluster(const Values& v, const gpu::GpuSpec& gpu, Plan& p) {
  const auto cluster = v.list_or("cluster", {1, 1});
  p.cluster_x = cluster[0];
  p.cluster_y = cluster[1];
  if (p.cluster() == 1) { return {}; }
  if (p.every_thread_arrives) {
    return {{"arrivals", "is thread; a stage that a cluster shares is released by warpgroups"}};
  }
  const std::string shown = fmt::format("{}x{}", p.cluster_x, p.cluster_y);
  if (auto m = lacks("cluster", "cluster", shown, gpu); !m.empty()) { return m; }
  if (p.mainloop != Mainloop::Tma) {
    return {{"cluster", fmt::format("is {}; only the TMA mainloop uses clusters: 1", shown)}};
  }
  if (p.cluster() > gpu.sm.max_cluster) {
    return {{"cluster", fmt::format("is {}; {} has clusters of up to {} blocks", shown, gpu.name,
                                    gpu.sm.max_cluster)}};
  }
  return {};
}

std::vector<Mistake> check_cluster(const Plan& p) {
  const auto check = [&](std::int64_t part, std::int64_t rows, const char* what,
                         const char* way) -> std::vector<Mistake> {
    if (!p.multicast || part == 1 || rows % part == 0) { return {}; }
    return {{"cluster", fmt::format("has {} blocks {}; they do not divide the {} rows of {} that "
                                    "each fetches a share of",
                                    part, way, rows, what)}};
  };
  if (auto m = check(p.cluster_x, p.tile.m, "A", "along x"); !m.empty()) { return m; }
  return check(p.cluster_y, p.shape.b_k_major ? p.tile.n : p.tile.k, "B", "along y");
}

std::vector<Mistake> check_tile(const Plan& p) {
  const bool tma = p.mainloop == Mainloop::Tma;
  const std::int64_t n_unit = tma ? 8 : 32, depth = p.depth();
  const auto tile = fmt::format("{}x{}x{}", p.tile.m, p.tile.n, p.tile.k);
  if (p.tile.m != 64 && p.tile.m != 128 && p.tile.m != 256 && (!tma || p.tile.m != 192)) {
    return {{"tile", fmt::format("is {}; the first number must be 64, 128{} or 256", tile,
                                 tma ? ", 192" : "")}};
  }
  if (p.tile.n % (n_unit * p.column_blocks()) != 0) {
    return {{"tile", fmt::format("is {}; the second number must be a multiple of {}", tile,
                                 n_unit * p.column_blocks())}};
  }
  if (tma && p.tile.m % (16 * p.warps()) != 0) {
    return {{"tile", fmt::format("is {}; {} warpgroups do not divide its blocks of 64 rows", tile,
                                 p.warps() / 4)}};
  }
  if (!tma && (p.warp_tile().m < 16 || p.warp_tile().n < 8)) {
    return {
        {"tile", fmt::format("is {}; {} warps do not find 16 x 8 of it each", tile, p.warps())}};
  }
  if (p.tile.k % depth != 0 || p.tile.k * p.shape.element > 256) {
    return {{"tile", fmt::format("is {}; the third number must be a multiple of {} up to {}", tile,
                                 depth, 256 / p.shape.element)}};
  }
  if (p.held_sums() > kMostAccumulators) {
    return {{"tile",
             fmt::format("is {}; a thread would hold {} sums, {} registers leave room for the rest",
                         tile, p.held_sums(), kMostAccumulators)}};
  }
  if (p.promotes() && p.tile.k != kScaleBlock) {
    return {{"tile", fmt::format("is {}; scaled sums are those of {} of K", tile, kScaleBlock)}};
  }
  return {};
}

std::vector<Mistake> read_stages(const Values& v, const gpu::GpuSpec& gpu, Plan& p) {
  const std::int64_t most = most_stages(p, gpu);
  const std::string room = fmt::format("{} of {} fit the {} of shared memory of a block beside {}",
                                       most, unit::print(unit::Bytes{p.stage_bytes()}),
                                       unit::print(gpu.sm.shared_memory_per_block),
                                       unit::print(unit::Bytes{p.staging_bytes() + kBesideStages}));
  if (most < 1) { return {{"tile", "is too large: " + room}}; }
  p.stages = v.number_or("stages", p.stages);
  if (p.mainloop == Mainloop::Sync) {
    if (v.has("stages") && p.stages != 1) {
      return {{"stages", fmt::format("is {}; a synchronous mainloop has one", p.stages)}};
    }
    p.stages = 1;
  }
  if (p.stages > most) { return {{"stages", fmt::format("is {}; {}", p.stages, room)}}; }
  return {};
}

// The scenario's columns of tiles per group must be whole clusters.
std::vector<Mistake> read_group(const Values& v, Plan& p) {
  const bool fixed = p.split > 1;
  p.group = fixed ? p.tiles_n : choose_group(p);
  if (!v.has("group")) { return {}; }
  const std::int64_t wanted = v.number("group");
  if (fixed && wanted != p.tiles_n) {
    return {{"group", fmt::format("is {}; with split_k all {} columns of tiles are one group",
                                  wanted, p.tiles_n)}};
  }
  if (wanted % p.cluster_x != 0) {
    return {{"group", fmt::format("is {}; clusters of {} must divide it", wanted, p.cluster_x)}};
  }
  p.group = std::min(wanted, p.tiles_n);
  return {};
}

}  // namespace

std::vector<Mistake> shape_of(const Values& v, const gpu::GpuSpec& gpu, Shape& s) {
  return read_shape(v, gpu, s);
}

std::vector<Mistake> make_plan(const Values& v, const gpu::GpuSpec& gpu, Plan& p) {
  p.lanes = gpu.sm.warp_size;
  if (auto m = read_shape(v, gpu, p.shape); !m.empty()) { return m; }
  if (auto m = read_ways(v, gpu, p); !m.empty()) { return m; }
  if (auto m = read_cluster(v, gpu, p); !m.empty()) { return m; }
  p.multicast = v.flag("multicast");
  if (v.has("tile")) {
    const auto tile = v.list_or("tile", {0, 0, 128 / p.shape.element});
    p.tile = {tile[0], tile[1], tile[2]};
    if (auto m = check_tile(p); !m.empty()) { return m; }
  }
  p.stages = v.number_or("stages", 0);
  const bool one_kernel = v.has("tile") || v.has("group") || p.loops_over_tiles();
  choose_tile(p,
              {.tile = v.has("tile"),
               .cluster = v.has("cluster"),
               .split = v.has("split_k") || one_kernel,
               .schedule = v.has("schedule"),
               .epilogue = v.has("epilogue")},
              gpu);
  if (auto m = check_cluster(p); !m.empty()) { return m; }
  if (auto m = read_stages(v, gpu, p); !m.empty()) { return m; }
  count_tiles(p);
  const std::int64_t steps = ceil_div(p.shape.k, p.tile.k);
  if (v.has("split_k") && steps % p.split != 0) {
    return {{"split_k", fmt::format("is {}; it must divide the {} steps of {} along K", p.split,
                                    steps, p.tile.k)}};
  }
  count_capacity(p, gpu);
  return read_group(v, p);
}

}  // namespace wavetail::library::gemm
