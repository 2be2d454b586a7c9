// SPDX-License-Identifier: Apache-2.0
// FP32 products of libraries without tensor cores, one or a batch: cuBLAS kernels whose tile,
// stages and grid a profiler's name gives (NeuSight), and products whose tile is chosen
// (KernelBench, cuBLAS beside a ladder).
//
// All blocks of a wave do the same for as many steps of K as there are, and waves follow each
// other. A wave is simulated with some steps and with some more; the rest of its steps take as long
// as those between. The last wave, with fewer blocks, is simulated alike.
#include "study/protocols/sgemm.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "isa/availability.h"
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

using Row = SgemmRow;

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
  params.ignore({"access", "impl"});
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

// Blocks in whole rows of tiles where that is possible: of the ways to write their number as a
// product the one with the longest rows. What leaves the plane of tiles goes on in the next
// product.
kernel::Dim3 grid_of(const kernel::Dim3& whole, std::int64_t blocks) {
  const std::int64_t plane = whole[0] * whole[1];
  if (blocks % plane == 0) { return {whole[0], whole[1], blocks / plane}; }
  for (std::int64_t x = std::min(whole[0], blocks); x > 0; --x) {
    if (blocks % x == 0 && blocks / x <= whole[1] * whole[2]) { return {x, blocks / x, 1}; }
  }
  return {blocks, 1, 1};
}

// Seconds of `count` waves of `blocks` blocks; kernels are numbered from those before on.
void append_waves(std::vector<kernel::Kernel>& kernels, std::vector<WaveTime>& times,
                  const WaveKernel& k, std::int64_t blocks, std::int64_t count) {
  constexpr std::int64_t kLead = 6, kBetween = 10;
  if (blocks == 0 || count == 0) { return; }
  const std::int64_t most = std::min(k.steps, kLead + kBetween);
  const auto make = [&](std::int64_t steps) {
    kernel::Kernel made = k.make(steps);
    made.grid = grid_of(made.grid, blocks);
    made.name = fmt::format("wave{}", kernels.size());
    kernels.push_back(std::move(made));
  };
  WaveTime t{.longer = kernels.size(), .waves = static_cast<double>(count)};
  if (k.steps > most) {
    make(kLead);
    t.shorter = t.longer++;
    t.more = static_cast<double>(k.steps - most) / static_cast<double>(kBetween);
  }
  make(most);
  times.push_back(t);
}

double seconds_of_waves(const run::Happened& h, const std::vector<WaveTime>& times) {
  double all = 0;
  for (const WaveTime& t : times) {
    const double longer = seconds_of(h, t.longer);
    const double step = t.more == 0 ? 0 : longer - seconds_of(h, t.shorter);
    all += t.waves * (longer + t.more * step);
  }
  return all;
}

// Long ones have the board at the power that it keeps for long.
bool is_long(double flops, const gpu::GpuSpec& gpu) {
  const double rate = 2.0 *
                      static_cast<double>(gpu.pipes.fp32.lanes * gpu.sm.schedulers * gpu.sms()) *
                      static_cast<double>(gpu.sm_clock().count());
  return gpu.power.known() && flops / rate > unit::seconds(gpu.power.control.window);
}

}  // namespace

Plan waves_plan(const WaveKernel& k, const SgemmRow& row, Harness harness, Quantity quantity,
                const gpu::GpuSpec& gpu) {
  const kernel::Kernel whole = k.make(1);
  const std::int64_t blocks = kernel::volume(whole.grid), capacity = wave_of(whole, gpu);
  std::vector<kernel::Kernel> kernels;
  std::vector<WaveTime> times;
  append_waves(kernels, times, k, capacity, blocks / capacity);
  append_waves(kernels, times, k, blocks % capacity, 1);
  const double flops = 2.0 * static_cast<double>(row.batch * row.m) * static_cast<double>(row.n) *
                       static_cast<double>(row.k);
  std::vector<int> order;
  for (std::size_t i = 0; i < kernels.size(); ++i) { order.push_back(static_cast<int>(i)); }
  order.insert(order.begin(), 0);  // caches are warm; the gap between two launches is seen
  Steady run{scenario_of(gpu, std::move(kernels), order), {}, {}};
  run.seconds = [=](const run::Happened& h) {
    const double gap = unit::seconds(h.log.launches[1].started - h.log.launches[0].ended);
    return seconds_of_waves(h, times) + (harness == Harness::Launches ? gap : 0);
  };
  run.scenario.busy_board = is_long(flops, gpu);
  if (harness == Harness::Call) { run = called_between_events(std::move(run), kProductCall); }
  const bool time = quantity == Quantity::Time;
  return {std::move(run.scenario), quantity,
          [=, seconds = run.seconds](const run::Happened& h) {
            return time ? seconds(h) : flops / seconds(h);
          },
          gpu.sms()};
}

WaveKernel tiles_of(const library::sgemm::Plan& plan, const gpu::GpuSpec& gpu) {
  return {.steps = plan.steps(), .make = [=](std::int64_t steps) {
            library::sgemm::Plan p = plan;
            p.steps_run = steps;
            return library::sgemm::main_kernel(p, gpu, "a", "b", "d");
          }};
}

Plan sgemm_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time", "gflops", "throughput"});
  const SgemmRow r = read(params);
  const auto quantity = params.row().metric == "time" ? Quantity::Time : Quantity::OpRate;
  if (auto ladder = ladder_kernel(r, gpu)) {
    return waves_plan(*ladder, r, Harness::Launches, quantity, gpu);
  }
  const bool alone = r.kernel.starts_with("0 ") || r.kernel == "cublas";
  return waves_plan(tiles_of(library_plan(r, gpu), gpu), r,
                    alone ? Harness::Launches : Harness::Call, quantity, gpu);
}

}  // namespace wavetail::study
