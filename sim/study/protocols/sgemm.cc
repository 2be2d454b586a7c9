// SPDX-License-Identifier: Apache-2.0
// FP32 products without tensor cores, one or a batch: cuBLAS kernels whose tile, stages and grid a
// profiler's name gives (NeuSight), library products whose tile is chosen (KernelBench), and the
// steps of a hand-written ladder (SGEMM_CUDA).
//
// All blocks of a wave do the same for as many steps of K as there are, and waves follow each
// other. A wave is simulated with some steps and with some more; the rest of its steps take as long
// as those between. The last wave, with fewer blocks, is simulated alike.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "isa/availability.h"
#include "library/sgemm.h"
#include "study/protocols/all.h"
#include "study/protocols/bench.h"

namespace wavetail::study {

namespace {

using library::ceil_div;
using Product = library::sgemm::Plan;

// "128x64x8": up to three numbers.
std::vector<std::int64_t> numbers(std::string_view key, const std::string& text) {
  std::vector<std::int64_t> all;
  const char* at = text.data();
  const char* const end = text.data() + text.size();
  while (at != end) {
    std::int64_t n = 0;
    const auto [rest, error] = std::from_chars(at, end, n);
    if (error != std::errc() || (rest != end && *rest != 'x') || n < 1) {
      throw Unmapped(fmt::format("{}={}: whole numbers with x between are needed", key, text));
    }
    all.push_back(n);
    at = rest == end ? end : rest + 1;
  }
  return all;
}

// The sides of D and the inner one. Where the grid is stated it decides: NeuSight's rows of linear
// layers and batches name the inner side second.
struct Sides {
  std::int64_t m = 0, n = 0, k = 0;
};

struct Row {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  std::vector<std::int64_t> tile, grid;
  std::int64_t stages = 0, threads = 0;
  std::string kernel;
};

Row read(Params& params) {
  Row r;
  r.batch = params.has("b") ? params.count("b") : params.has("batch") ? params.count("batch") : 1;
  r.m = params.count("m");
  r.n = params.count("n");
  r.k = params.count("k");
  if (params.has("dtype") && !params.word("dtype").starts_with("fp32")) {
    throw Unmapped(fmt::format("dtype={}: there is fp32", params.word("dtype")));
  }
  if (params.has("kernel")) { r.kernel = params.word("kernel"); }
  if (params.has("tile")) {
    const std::string tile = params.word("tile");  // or "1 output/thread"
    if (tile.find(' ') == std::string::npos) { r.tile = numbers("tile", tile); }
  }
  if (params.has("grid")) { r.grid = numbers("grid", params.word("grid")); }
  if (params.has("block")) {
    r.threads = 1;
    for (const std::int64_t n : numbers("block", params.word("block"))) { r.threads *= n; }
  }
  if (params.has("stages") && !params.word("stages").empty()) { r.stages = params.count("stages"); }
  params.ignore({"access"});
  return r;
}

// Tiles of D by either pair of sides and with the tile either way up, against the blocks of the
// grid's plane, which may be folded and padded: the nearest counts. A third dimension of a single
// product's grid is parts of K.
struct Reading {
  Sides sides;
  bool turned = false;  // the tile's first number lies along N
};

Reading reading_of(const Row& r) {
  const Sides plain{r.m, r.n, r.k}, other{r.m, r.k, r.n};
  if (r.grid.size() < 2 || r.tile.size() < 2) { return {plain}; }
  const std::int64_t blocks = r.grid[0] * r.grid[1];
  Reading best{other};
  std::int64_t least = -1;
  for (const Sides& s : {other, plain}) {
    for (const bool turned : {false, true}) {
      const std::int64_t tiles = ceil_div(s.m, r.tile[turned ? 1 : 0]) *
                                 ceil_div(s.n, r.tile[turned ? 0 : 1]);
      if (const std::int64_t off = std::abs(tiles - blocks); least < 0 || off < least) {
        least = off;
        best = {s, turned};
      }
    }
  }
  return best;
}

// "sliced1x4" in a kernel's name.
std::int64_t slices_of(const std::string& kernel) {
  const std::size_t at = kernel.find("sliced1x");
  return at == std::string::npos ? 1 : kernel[at + 8] - '0';
}

Product library_plan(const Row& r, const gpu::GpuSpec& gpu) {
  const auto [s, turned] = reading_of(r);
  Product p;
  p.m = s.m;
  p.n = s.n;
  p.k = s.k;
  p.batch = r.batch;
  p.b_k_major = r.kernel.find("_tn") != std::string::npos;
  p.async = !isa::lacks("cp_async", gpu.architecture);
  p.stages = r.stages > 0 ? r.stages : p.async ? 3 : 2;
  if (r.tile.size() < 2) {
    library::sgemm::choose(p, gpu, true);
    return p;
  }
  p.slices = slices_of(r.kernel);
  p.aligned = r.kernel.find("align1") == std::string::npos;
  p.tile_m = r.tile[turned ? 1 : 0];
  p.tile_n = r.tile[turned ? 0 : 1];
  if (r.batch == 1 && r.grid.size() > 2) { p.split = r.grid[2]; }
  p.tile_k = r.tile.size() > 2 ? r.tile[2] : 8 * p.slices;
  p.threads = r.threads > 0 ? r.threads : 128;
  return p;
}

// As many blocks as whole rows of tiles have room for in a wave, with some of the steps of K.
kernel::Kernel wave(Product p, std::int64_t blocks, std::int64_t steps, const gpu::GpuSpec& gpu) {
  p.steps_run = steps;
  kernel::Kernel k = library::sgemm::main_kernel(p, gpu, "a", "b", "d");
  const std::int64_t x = std::min(k.grid[0], blocks);
  const std::int64_t y = std::min(k.grid[1], blocks / x);
  k.grid = {x, y, std::min(k.grid[2], blocks / (x * y))};
  return k;
}

struct Parts {
  std::vector<kernel::Kernel> kernels;
  std::function<double(const run::Happened&)> seconds;
};

using Make = std::function<kernel::Kernel(std::int64_t blocks, std::int64_t steps)>;

// Seconds of `count` waves of `blocks` blocks with `steps` steps each.
void append_waves(Parts& parts, const Make& make, std::int64_t steps, std::int64_t blocks,
                  std::int64_t count) {
  constexpr std::int64_t kLead = 16, kBetween = 24;
  if (blocks == 0 || count == 0) { return; }
  const std::int64_t most = std::min(steps, kLead + kBetween);
  const bool cut = steps > most;
  const std::size_t first = parts.kernels.size();
  if (cut) { parts.kernels.push_back(make(blocks, kLead)); }
  parts.kernels.push_back(make(blocks, most));
  const auto before = parts.seconds;
  parts.seconds = [=](const run::Happened& h) {
    const double longer = seconds_of(h, cut ? first + 1 : first);
    const double step = cut ? (longer - seconds_of(h, first)) / static_cast<double>(kBetween) : 0;
    const double one = longer + step * static_cast<double>(steps - most);
    return (before ? before(h) : 0.0) + one * static_cast<double>(count);
  };
}

// The ladder's kernels, in which operands come through registers and B is row-major.
Product ladder_plan(const Row& r, const gpu::GpuSpec& gpu) {
  Product p = library_plan({r.m, r.n, r.k, 1, {}, {}, 0, 0, ""}, gpu);

  struct Rung {
    std::string_view name;
    std::int64_t m, n, k, threads, stages;
    bool word_wise;
  };

  constexpr Rung kRungs[] = {
      {"3 ", 32, 32, 32, 1024, 1, true},   {"4 ", 64, 64, 8, 512, 1, true},
      {"5 ", 128, 128, 8, 256, 1, true},   {"6 ", 128, 128, 8, 256, 1, false},
      {"9 ", 128, 128, 16, 256, 1, false}, {"10 ", 128, 128, 16, 128, 1, false},
      {"11 ", 128, 128, 16, 256, 2, false}};
  for (const Rung& rung : kRungs) {
    if (!r.kernel.starts_with(rung.name)) { continue; }
    p.tile_m = rung.m;
    p.tile_n = rung.n;
    p.tile_k = rung.k;
    p.threads = rung.threads;
    p.stages = rung.stages;
    p.word_wise = rung.word_wise;
    p.split = 1;
    p.async = false;
    return p;
  }
  if (r.kernel.starts_with("0 ")) { return p; }
  throw Unmapped(fmt::format("kernel={}: its loads are not stated", r.kernel));
}

// A thread per element of D, blocks of 32 x 32, no shared memory; a step is a line of A. The lanes
// of a warp lie along M (each reads a row of A of its own) or along N.
kernel::Kernel naive(const Row& r, bool along_m, std::int64_t blocks, std::int64_t steps,
                     const gpu::GpuSpec& gpu) {
  constexpr std::int64_t kSide = 32, kUnroll = 4;
  const std::int64_t a = r.k * 4, b = r.n * 4;
  library::Listing code, body;
  library::Access across{.array = along_m ? 0 : 1, .width = 4, .strides = {}};
  library::Access same{.array = along_m ? 1 : 0, .width = 4, .strides = {}, .broadcast = true};
  across.count = same.count = kUnroll;
  library::Access& of_a = along_m ? across : same;
  library::Access& of_b = along_m ? same : across;
  of_a.strides = {.block_y = kSide * a, .warp = along_m ? 0 : a, .count = 4, .loop = {4 * kUnroll}};
  of_b.strides = {.block_x = kSide * 4, .warp = along_m ? 4 : 0, .count = b, .loop = {b * kUnroll}};
  if (along_m) { across.lane_stride = a; }
  body.load(of_a);
  body.load(of_b);
  body.loop_step(2);
  body.wait(0);
  body.fp32(kUnroll, 1, 2);
  code.prologue(3);
  code.repeat(steps * kSide / kUnroll, std::move(body));
  code.store({.array = 2,
              .width = 4,
              .strides = {.block_x = kSide * 4, .block_y = kSide * b, .warp = along_m ? 4 : b},
              .lane_stride = along_m ? b : 0});
  const std::int64_t x = std::min(ceil_div(r.n, kSide), blocks);
  kernel::Kernel k = library::plain_kernel(gpu, {x, std::max<std::int64_t>(1, blocks / x), 1},
                                           kSide * kSide, 32, std::move(code));
  k.arrays = {{"a", unit::Bytes{r.m * a}, false},
              {"b", unit::Bytes{r.k * b}, false},
              {"d", unit::Bytes{r.m * b}, false}};
  return k;
}

// `quantum`: warps take turns of so many instructions; long runs of multiply-adds allow it.
Plan measured(const Make& make, std::int64_t steps, std::int64_t blocks, double flops,
              std::int64_t quantum, Quantity quantity, const gpu::GpuSpec& gpu) {
  Parts parts;
  const std::int64_t capacity = wave_of(make(1, 1), gpu);
  append_waves(parts, make, steps, capacity, blocks / capacity);
  append_waves(parts, make, steps, blocks % capacity, 1);
  std::vector<int> order;
  for (std::size_t i = 0; i < parts.kernels.size(); ++i) {
    parts.kernels[i].name = fmt::format("wave{}", i);
    order.push_back(static_cast<int>(i));
  }
  scenario::Scenario s = scenario_of(gpu, std::move(parts.kernels), order);
  s.simulation.issue_quantum = quantum;
  const auto seconds = parts.seconds;
  if (quantity == Quantity::Time) { return {std::move(s), quantity, seconds, gpu.sms()}; }
  return {std::move(s), quantity, [=](const run::Happened& h) { return flops / seconds(h); },
          gpu.sms()};
}

}  // namespace

Plan sgemm_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time", "gflops", "throughput"});
  const Row r = read(params);
  const auto quantity = params.row().metric == "time" ? Quantity::Time : Quantity::OpRate;
  if (r.kernel.starts_with("1 ") || r.kernel.starts_with("2 ")) {
    const bool along_m = r.kernel[0] == '1';
    const double flops = 2.0 * static_cast<double>(r.m) * static_cast<double>(r.n) *
                         static_cast<double>(r.k);
    return measured([=](std::int64_t blocks,
                        std::int64_t steps) { return naive(r, along_m, blocks, steps, gpu); },
                    ceil_div(r.k, 32), ceil_div(r.m, 32) * ceil_div(r.n, 32), flops, 16, quantity,
                    gpu);
  }
  const bool ladder = !r.kernel.empty() && r.kernel[0] >= '0' && r.kernel[0] <= '9';
  const Product p = ladder ? ladder_plan(r, gpu) : library_plan(r, gpu);
  const kernel::Kernel whole = library::sgemm::main_kernel(p, gpu, "a", "b", "d");
  return measured(
      [=](std::int64_t blocks, std::int64_t steps) { return wave(p, blocks, steps, gpu); },
      p.steps(), kernel::volume(whole.grid), whole.flops,
      std::clamp<std::int64_t>(p.patch() / 2, 16, 64), quantity, gpu);
}

}  // namespace wavetail::study
