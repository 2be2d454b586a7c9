// SPDX-License-Identifier: Apache-2.0
// Bandwidth of the TMA from DRAM against the bytes that every SM has under way.
//
// tma_bw of NVIDIA-Hopper-Benchmark: every block is one thread that asks for a box, waits for it
// and goes on with the box a grid further. A box is a range (a bulk copy) or a tile of a tensor of
// 32768 x 32768 or 1024 x 1024 x 1024 elements, x fastest. tma2d_tput of microbench-blackwell: a
// ring of boxes per block, rows of a tensor as wide as the box, so that they lie side by side; the
// oldest is waited for, and the next takes its place.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "study/protocols/all.h"
#include "study/protocols/async.h"

namespace wavetail::study {

namespace {

constexpr std::int64_t kTensorBytes = std::int64_t{4} << 30;  // of the tensors of tma_bw
constexpr std::int64_t kElement = 4;                          // FP32
constexpr std::int64_t kMostSide = 256;  // elements of a box, by the tensor map
// Simulated of every block: bytes of all together, trips of each, whatever is more.
constexpr double kLeadBytes = 24e6, kMeasuredBytes = 96e6;
constexpr std::int64_t kLeadTrips = 16, kMeasuredTrips = 96;

// "X=16xY=8xZ=4", with `dimensions` of them.
kernel::Dim3 tensor_box(const std::string& text, int dimensions) {
  kernel::Dim3 sides{1, 1, 1};
  std::string_view rest = text;
  bool sound = true;
  for (int d = 0; d < dimensions && sound; ++d) {
    const std::string name = fmt::format("{}{}=", d == 0 ? "" : "x", "XYZ"[d]);
    std::int64_t& side = sides[static_cast<std::size_t>(d)];
    sound = rest.starts_with(name);
    rest.remove_prefix(sound ? name.size() : 0);
    const auto [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), side);
    sound = sound && error == std::errc() && side >= 1 && side <= kMostSide;
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
  }
  if (!sound || !rest.empty()) {
    throw Unmapped(fmt::format("box={}: {} dimensions of 1 to {} elements are needed", text,
                               dimensions, kMostSide));
  }
  return sides;
}

// The boxes of an array in the order in which blocks take them.
struct Tiling {
  kernel::Box first;
  kernel::Dim3 tiles{1, 1, 1};  // of the whole array, x fastest
  std::int64_t load = 0;        // bytes of a tile
};

Tiling range_of(std::int64_t bytes, std::int64_t load) {
  kernel::Box range = box(1, load, load, {.block_x = load, .loop = {0}});
  range.tensor_map = false;
  return {std::move(range), {bytes / load, 1, 1}, load};
}

Tiling tensor_of(const kernel::Dim3& sides, int dimensions) {
  const std::int64_t side = dimensions == 2 ? 32768 : 1024;
  const std::int64_t row = sides[0] * kElement, pitch = side * kElement, plane = side * pitch;
  Tiling t;
  t.load = kernel::volume(sides) * kElement;
  t.first = box(
      sides[1], row, pitch,
      {.block_x = row, .block_y = sides[1] * pitch, .block_z = sides[2] * plane, .loop = {0}});
  t.first.planes = sides[2];
  t.first.plane_pitch = plane;
  t.tiles = {side / sides[0], side / sides[1], dimensions == 2 ? 1 : side / sides[2]};
  return t;
}

// The first `tiles` tiles of the array, which are whole rows, or planes, of them.
kernel::Dim3 first_tiles(const Tiling& t, std::int64_t tiles) {
  const std::int64_t plane = t.tiles[0] * t.tiles[1];
  return {std::min(tiles, t.tiles[0]), std::min(library::ceil_div(tiles, t.tiles[0]), t.tiles[1]),
          library::ceil_div(tiles, plane)};
}

kernel::Kernel one_at_a_time(const gpu::GpuSpec& gpu, const Tiling& t, std::int64_t grid,
                             std::int64_t tiles) {
  library::Listing code, body;
  body.int32(t.first.tensor_map ? kNextTensorBox : kNextRange, 1);
  body.op(tma_load({t.first}, 0));
  body.op(mbarrier_wait(0));
  kernel::Op loop;
  loop.kind = kernel::OpKind::Repeat;
  loop.over = kernel::Over::Tiles;
  loop.count = library::ceil_div(tiles, grid);
  loop.bodies = {body.take()};
  code.prologue(1);
  code.op(std::move(loop));
  kernel::Kernel k = library::plain_kernel(gpu, {grid, 1, 1}, 1, 32, std::move(code));
  k.shared_memory = unit::Bytes{t.load + 8};
  k.arrays = {{"array", unit::Bytes{kTensorBytes}, false}};
  k.mbarriers = {ring("bar", 1)};
  k.shares = kernel::Shares{.tiles = first_tiles(t, tiles)};
  return k;
}

struct Ring {
  std::int64_t blocks, stages, rows, row_bytes, trips;

  [[nodiscard]] std::int64_t load() const { return rows * row_bytes; }
};

kernel::Kernel ring_of_boxes(const gpu::GpuSpec& gpu, const Ring& r, std::int64_t trips) {
  const std::int64_t all = r.blocks * r.load();
  kernel::Box next = box(r.rows, r.row_bytes, r.row_bytes, {.block_x = r.load(), .loop = {all}});
  library::Listing code, fill, steady_state, drain;
  const std::int64_t ahead = std::min(r.stages, trips);
  fill.op(tma_load({next}, 0));
  next.offset = ahead * all;
  steady_state.op(mbarrier_wait(0));
  steady_state.int32(kNextOfRing, 1);
  steady_state.op(tma_load({next}, 0));
  drain.op(mbarrier_wait(0));
  code.prologue(1);
  code.repeat(ahead, std::move(fill));
  code.repeat(trips - ahead, std::move(steady_state));
  code.repeat(ahead, std::move(drain));
  kernel::Kernel k = library::plain_kernel(gpu, {r.blocks, 1, 1}, gpu.sm.warp_size, 32,
                                           std::move(code));
  k.shared_memory = unit::Bytes{r.stages * (r.load() + 8)};
  k.arrays = {{"data", unit::Bytes{trips * all}, false}};
  k.mbarriers = {ring("bars", r.stages)};
  return k;
}

}  // namespace

Plan tma_throughput_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  for (const auto& [key, value] : params.row().params) {
    if (key.ends_with("as_printed")) {
      throw Unmapped(
          fmt::format("{}={}: the size of a box as the log printed it; rows of 0.75 and 1.0 KB are "
                      "equal there, "
                      "so that one of them is mislabelled",
                      key, value));
    }
  }
  const std::string kind = params.one_of(
      "tma", std::array<std::string_view, 3>{"bulk_1d_nontensor", "tensor_2d", "tensor_3d"});
  const std::string shape = params.word("box");
  const std::int64_t load = params.count("load_bytes", 16), grid = params.count("grid"),
                     bytes = params.count("total_bytes");
  params.must_be("block", "1");
  params.must_be("elem", "fp32");
  params.must_be("in_flight_per_block", "1");
  params.agrees("blocks_per_sm", library::ceil_div(grid, gpu.sms()));
  const int dimensions = kind == "tensor_2d" ? 2 : kind == "tensor_3d" ? 3 : 1;
  if (dimensions == 1) { params.must_be("box", "linear"); }
  const Tiling t = dimensions == 1 ? range_of(bytes, load)
                                   : tensor_of(tensor_box(shape, dimensions), dimensions);
  params.agrees("load_bytes", t.load);
  if (bytes > kTensorBytes || (dimensions > 1 && bytes != kTensorBytes)) {
    throw Unmapped(fmt::format("total_bytes={}: the array has {} B", bytes, kTensorBytes));
  }
  const std::int64_t tiles = bytes / t.load;
  const std::int64_t lead = rounds_for(kLeadBytes / static_cast<double>(t.load), 1,
                                       kLeadTrips * grid),
                     more = rounds_for(kMeasuredBytes / static_cast<double>(t.load), 1,
                                       kMeasuredTrips * grid);
  const std::int64_t row = dimensions == 1 ? grid : t.tiles[0];
  const std::int64_t unit = lead + more + 2 * row <= t.tiles[0] * t.tiles[1]
                                ? row
                                : t.tiles[0] * t.tiles[1];
  const Steady run = steady(gpu, LongLoop{.rounds = tiles / unit,
                                          .lead = library::ceil_div(lead, unit),
                                          .between = library::ceil_div(more, unit),
                                          .make = [=](std::int64_t rounds) {
                                            return one_at_a_time(gpu, t, grid, rounds * unit);
                                          }});
  const double whole = static_cast<double>(tiles) / static_cast<double>(tiles / unit * unit);
  return {run.scenario, Quantity::Time,
          [=](const run::Happened& h) { return run.seconds(h) * whole; }};
}

Plan tma_dram_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"dram_bandwidth"});
  const std::int64_t per_sm = params.count("ctas_per_sm");
  const auto [width, height] = sides_of("box", params.word("box"), " fp32");
  params.must_be("total", "2GB");
  Ring r{.blocks = per_sm * gpu.sms(),
         .stages = params.count("stages"),
         .rows = height,
         .row_bytes = width * kElement,
         .trips = 0};
  params.agrees("tile_bytes", r.load());
  params.agrees("bytes_in_flight_per_sm", per_sm * r.stages * r.load());
  const std::int64_t round = r.blocks * r.load();
  r.trips = (std::int64_t{2} << 30) / round;
  const auto bytes = static_cast<double>(round);
  const Steady run = steady(
      gpu, LongLoop{.rounds = r.trips,
                    .lead = rounds_for(kLeadBytes, bytes, kLeadTrips + r.stages),
                    .between = rounds_for(kMeasuredBytes, bytes, kMeasuredTrips),
                    .make = [=](std::int64_t trips) { return ring_of_boxes(gpu, r, trips); }});
  const double all = bytes * static_cast<double>(r.trips);
  return {run.scenario, Quantity::DataRate,
          [=](const run::Happened& h) { return all / run.seconds(h); }};
}

}  // namespace wavetail::study
