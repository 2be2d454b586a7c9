// SPDX-License-Identifier: Apache-2.0
// Blocks store tiles of 16 B per thread, tile after tile; within a tile the threads are permuted
// (github Dao-AILab/quack, notes on coalescing), so that a warp, and each group of eight lanes,
// touches a stated number of sectors and lines. Four blocks per SM, as in the other measurements of
// the notes. The bandwidth counts the bytes of the tiles.
#include <fmt/format.h>

#include <array>

#include "study/protocols/all.h"
#include "study/protocols/bench.h"

namespace wavetail::study {

namespace {

constexpr std::int64_t kWidth = 16, kUnit = 8;  // bytes per lane; lanes of a group
constexpr std::int64_t kBlocksPerSm = 4;

std::int64_t reversed(std::int64_t value, std::int64_t below) {
  std::int64_t out = 0;
  for (std::int64_t bit = 1; bit < below; bit *= 2, value /= 2) { out = out * 2 + value % 2; }
  return out;
}

// Where thread t of a block of n stores, in units of 16 B.
std::int64_t target(const std::string& permutation, std::int64_t t, std::int64_t n,
                    std::int64_t warp) {
  const std::int64_t warps = n / warp, lane = t % warp, w = t / warp;
  if (permutation == "lane_reverse") { return w * warp + warp - 1 - lane; }
  if (permutation == "block_reverse") { return n - 1 - t; }
  if (permutation == "unit8_interleave") {
    return (lane / kUnit * warps + w) * kUnit + lane % kUnit;
  }
  // groups of four lanes: the first half of them fills the lower halves of lines, the second the
  // upper
  if (permutation == "split_halves") {
    const std::int64_t group = t / 4, groups = n / 4;
    return (group % (groups / 2) * 2 + group / (groups / 2)) * 4 + t % 4;
  }
  if (permutation == "bit_reverse") { return reversed(t, n); }
  if (permutation == "warp_interleave") { return lane * warps + w; }
  return t;  // identity
}

kernel::Kernel tiles(const std::string& permutation, std::int64_t block, const gpu::GpuSpec& gpu,
                     std::int64_t first, std::int64_t count) {
  const std::int64_t warp = gpu.sm.warp_size, tile = block * kWidth,
                     grid = kBlocksPerSm * gpu.sms();
  kernel::Kernel k;
  k.grid = {grid, 1, 1};
  k.block = block;
  k.registers = 32;
  k.arrays = {{"y", unit::Bytes{library::round_up(std::int64_t{8} << 30, grid * tile)}, false}};
  for (std::int64_t w = 0; w < block / warp; ++w) {
    kernel::Op store{.kind = kernel::OpKind::Store,
                     .access = {.array = 0,
                                .width = kWidth,
                                .pattern = kernel::Pattern::Listed,
                                .walk = kernel::WalkKind::Strides,
                                .strides = {.block_x = tile, .loop = {grid * tile}},
                                .offset = first * grid * tile}};
    for (std::int64_t lane = 0; lane < warp; ++lane) {
      store.access.offsets.push_back(target(permutation, w * warp + lane, block, warp) * kWidth);
    }
    kernel::Op step{.kind = kernel::OpKind::Arithmetic, .count = 3, .pipe = kernel::Pipe::Int32};
    kernel::Op loop{.kind = kernel::OpKind::Repeat, .count = count};
    loop.bodies = {{std::move(store), std::move(step)}};
    k.roles.push_back({fmt::format("warp{}", w), 1, {}, {std::move(loop)}});
  }
  return k;
}

}  // namespace

Plan store_permutation_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"bandwidth"});
  const std::string permutation = params.one_of(
      "perm", std::array<std::string_view, 7>{"identity", "lane_reverse", "block_reverse",
                                              "unit8_interleave", "split_halves", "bit_reverse",
                                              "warp_interleave"});
  const std::int64_t block = params.count("block"), iterations = params.count("iterations");
  if (block % gpu.sm.warp_size != 0 || reversed(1, block) * 2 != block) {
    throw Unmapped(fmt::format("block={}: a power of two of whole warps is needed", block));
  }
  params.agrees("tile_bytes", block * kWidth);
  params.ignore({"warp_sec_line", "unit8_sec_line"});
  const double per_trip = static_cast<double>(kBlocksPerSm * gpu.sms() * block * kWidth);
  const auto trips = [&](double bytes) { return static_cast<std::int64_t>(bytes / per_trip) + 1; };
  const std::int64_t warm = trips(1.5 * static_cast<double>(gpu.l2.capacity.count())),
                     lead = trips(32e6), between = std::min(trips(128e6), iterations);
  std::vector<kernel::Kernel> kernels{tiles(permutation, block, gpu, 0, warm),
                                      tiles(permutation, block, gpu, warm, lead),
                                      tiles(permutation, block, gpu, warm + lead, lead + between)};
  kernels[0].name = "warm";
  kernels[1].name = "short";
  kernels[2].name = "long";
  const double bytes = per_trip * static_cast<double>(between);
  return {scenario_of(gpu, std::move(kernels), {0, 1, 2}), Quantity::DataRate,
          [=](const run::Happened& h) { return bytes / (seconds_of(h, 2) - seconds_of(h, 1)); },
          gpu.sms()};
}

}  // namespace wavetail::study
