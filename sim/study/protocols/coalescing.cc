// SPDX-License-Identifier: Apache-2.0
// Warp accesses of 16 B per lane that touch a stated number of 32 B sectors, 64 B halves of lines
// and 128 B lines (github Dao-AILab/quack, notes on coalescing): four blocks per SM go over memory,
// one access of a warp under way at a time. "far" lines lie in DRAM rows of their own, and so do
// those of neighbouring warps; other lines are neighbours. The bandwidth counts lanes x 16 B.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <numeric>

#include "study/protocols/all.h"
#include "study/protocols/bench.h"

namespace wavetail::study {

namespace {

constexpr std::int64_t kSector = 32, kHalf = 64, kLine = 128;
constexpr std::int64_t kMemory = std::int64_t{8} << 30;  // far lines are spread over so much
constexpr std::int64_t kLanes = 32;

struct Shape {
  std::int64_t width = 16, sectors = 0, halves = 0, lines = 0;
  bool far = false, store = false;

  // Byte offset of a lane within the warp's access, lines `apart`.
  [[nodiscard]] std::int64_t offset(std::int64_t lane, std::int64_t apart) const {
    const std::int64_t per_sector = kLanes / sectors, sector = lane / per_sector;
    const std::int64_t per_half = sectors / halves, half = sector / per_half;
    const std::int64_t per_line = halves / lines, line = half / per_line;
    return line * apart + half % per_line * kHalf + sector % per_half * kSector +
           lane % per_sector * width;
  }
};

Shape read_shape(Params& params, bool store) {
  Shape s{.width = params.count("bytes_per_lane"), .store = store};
  s.sectors = params.count("sectors32B_per_warp");
  s.lines = params.count("lines128B");
  s.halves = params.has("half_lines64B") ? params.count("half_lines64B")
                                         : std::max(s.lines, library::ceil_div(s.sectors, 2));
  s.far = params.word("shape").find(" far ") != std::string::npos;
  params.must_be("mode", "streaming");
  params.ignore({"pattern"});
  const bool even = kLanes % s.sectors == 0 && s.sectors % s.halves == 0 &&
                    s.halves % s.lines == 0 && s.sectors / s.halves <= 2 &&
                    s.halves / s.lines <= 2 && kLanes / s.sectors * s.width <= kSector;
  if (!even) {
    throw Unmapped("sectors, halves and lines per warp are no even spread of 32 lanes");
  }
  return s;
}

// Far lines: a number near 0.618 of the memory in lines without a common divisor, so that
// neighbouring warps are far apart and no line comes twice.
std::int64_t far_step(std::int64_t lines) {
  std::int64_t step = lines / 1000 * 618 + 1;
  while (std::gcd(step, lines) != 1) { ++step; }
  return step;
}

struct Launch {
  std::int64_t grid, block, iterations;
};

kernel::Kernel accesses(const Shape& s, const gpu::GpuSpec& gpu, const Launch& l,
                        std::int64_t first_trip) {
  const std::int64_t warps = l.block / gpu.sm.warp_size, memory_lines = kMemory / kLine;
  const std::int64_t apart = s.far ? kMemory / s.lines : kLine;
  const std::int64_t step = s.far ? far_step(memory_lines / s.lines) * kLine : s.lines * kLine;
  kernel::Op op{
      .kind = s.store ? kernel::OpKind::Store : kernel::OpKind::Load,
      .access = {
          .array = 0,
          .width = static_cast<int>(s.width),
          .pattern = kernel::Pattern::Listed,
          .bypass_l1 = true,
          .walk = kernel::WalkKind::Strides,
          .strides = {.block_x = warps * step, .warp = step, .loop = {l.grid * warps * step}},
          .offset = first_trip * l.grid * warps * step}};
  for (std::int64_t lane = 0; lane < kLanes; ++lane) {
    op.access.offsets.push_back(s.offset(lane, apart));
  }
  kernel::Op loop{.kind = kernel::OpKind::Repeat, .count = l.iterations};
  kernel::Program body{std::move(op)};
  if (!s.store) {
    body.push_back({.kind = kernel::OpKind::WaitLoads, .count = 0});
    body.push_back({.kind = kernel::OpKind::Arithmetic, .count = 4, .distance = 4});
  }
  body.push_back({.kind = kernel::OpKind::Arithmetic, .count = 3, .pipe = kernel::Pipe::Int32});
  loop.bodies = {std::move(body)};
  kernel::Kernel k;
  k.grid = {l.grid, 1, 1};
  k.block = l.block;
  k.registers = 32;
  k.arrays = {{"x", unit::Bytes{kMemory}, false}};
  k.roles = {{"main", warps, {}, {std::move(loop)}}};
  return k;
}

struct Rate {
  scenario::Scenario scenario;
  std::function<double(const run::Happened&)> seconds_per_trip;
};

// Trips of a launch whose blocks all fit at once: a first launch settles the caches, then a short
// and a long one go on where it ended.
Rate trips(const Shape& s, const gpu::GpuSpec& gpu, const Launch& whole) {
  const double per_trip = static_cast<double>(whole.grid * whole.block * s.width);
  const double touched = static_cast<double>(s.halves * kHalf) /
                         static_cast<double>(kLanes * s.width);
  const auto few = [&](double bytes) {
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(bytes / (per_trip * touched)) + 1, 2,
                                    std::max<std::int64_t>(whole.iterations / 8, 2));
  };
  const std::int64_t warm = few(1.5 * static_cast<double>(gpu.l2.capacity.count())),
                     lead = few(32e6), between = few(128e6);
  const auto piece = [&](const char* name, std::int64_t first, std::int64_t iterations) {
    kernel::Kernel k = accesses(s, gpu, {whole.grid, whole.block, iterations}, first);
    k.name = name;
    return k;
  };
  return {scenario_of(gpu,
                      {piece("warm", 0, warm), piece("short", warm, lead),
                       piece("long", warm + lead, lead + between)},
                      {0, 1, 2}),
          [=](const run::Happened& h) {
            return (seconds_of(h, 2) - seconds_of(h, 1)) / static_cast<double>(between);
          }};
}

Plan scattered(Params& params, const gpu::GpuSpec& gpu, bool store) {
  params.metric_is({"time", "bandwidth"});
  const Shape s = read_shape(params, store);
  const Launch whole{params.count("grid"), params.count("block"), params.count("iterations")};
  params.ignore({"blocks_per_sm"});
  const std::int64_t requested = whole.grid * whole.block * whole.iterations * s.width;
  params.agrees("requested_bytes", requested);
  const Rate rate = trips(s, gpu, whole);
  const auto n = static_cast<double>(whole.iterations);
  if (params.row().metric == "time") {
    return {rate.scenario, Quantity::Time,
            [=](const run::Happened& h) { return n * rate.seconds_per_trip(h); }, gpu.sms()};
  }
  return {rate.scenario, Quantity::DataRate,
          [=](const run::Happened& h) {
            return static_cast<double>(requested) / (n * rate.seconds_per_trip(h));
          },
          gpu.sms()};
}

}  // namespace

Plan coalescing_load_plan(Params& params, const gpu::GpuSpec& gpu) {
  return scattered(params, gpu, false);
}

Plan coalescing_store_plan(Params& params, const gpu::GpuSpec& gpu) {
  return scattered(params, gpu, true);
}

}  // namespace wavetail::study
