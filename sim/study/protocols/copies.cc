// SPDX-License-Identifier: Apache-2.0
// BabelStream (one FP64 element per thread, 1024 threads; the clock of the host runs from the
// launch to the end of a synchronisation), copies within the device one after the other, and sums.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "study/protocols/all.h"
#include "study/protocols/bench.h"

namespace wavetail::study {

namespace {

constexpr std::int64_t kElement = 8, kBlock = 1024;
constexpr std::int64_t kDotBlocksPerSm = 4;

struct Babel {
  std::string_view name;
  std::vector<std::string_view> loads;
  std::string_view store;
  std::int64_t flops;
};

const std::array<Babel, 6>& babel_kernels() {
  static const std::array<Babel, 6> kernels = {Babel{"Copy", {"a"}, "c", 0},
                                               Babel{"Mul", {"c"}, "b", 1},
                                               Babel{"Add", {"a", "b"}, "c", 1},
                                               Babel{"Triad", {"b", "c"}, "a", 1},
                                               Babel{"Nstream", {"a", "b", "c"}, "a", 2},
                                               Babel{"Dot", {"a", "b"}, "", 1}};
  return kernels;
}

// Dot loops over the array with four blocks per SM, the others have a thread per element.
kernel::Kernel kernel_of(const Babel& babel, const gpu::GpuSpec& gpu, std::int64_t bytes) {
  const std::int64_t block = kBlock * kElement, warp = gpu.sm.warp_size * kElement;
  const std::int64_t all = library::ceil_div(bytes, block);
  const bool dot = babel.store.empty();
  const std::int64_t grid = dot ? std::min(all, kDotBlocksPerSm * gpu.sms()) : all;
  library::Access access{.width = kElement, .strides = {.block_x = block, .warp = warp}};
  if (dot) { access.strides.loop = {grid * block}; }
  std::vector<kernel::Array> arrays;
  library::Listing code, body;
  const auto touch = [&](std::string_view name) {
    const auto at = std::find_if(arrays.begin(), arrays.end(),
                                 [&](const kernel::Array& a) { return a.name == name; });
    access.array = static_cast<int>(at - arrays.begin());
    if (at == arrays.end()) {
      arrays.push_back({std::string(name), unit::Bytes{library::round_up(bytes, warp)}, false});
    }
  };
  code.prologue(static_cast<std::int64_t>(babel.loads.size()) + 1);
  for (const std::string_view name : babel.loads) {
    touch(name);
    body.load(access);
  }
  body.wait(0);
  body.arithmetic(kernel::Pipe::Fp64, babel.flops, 1, 2);
  if (dot) {
    body.loop_step(1);
  } else {
    touch(babel.store);
    body.store(access);
  }
  code.repeat(dot ? library::ceil_div(all, grid) : 1, std::move(body));
  if (dot) { code.barrier(); }
  kernel::Kernel k = library::plain_kernel(gpu, {grid, 1, 1}, kBlock, 24, std::move(code));
  k.name = babel.name;
  k.arrays = std::move(arrays);
  return k;
}

}  // namespace

Plan babelstream_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"bandwidth"});
  params.must_be("precision", "double");
  params.ignore({"version"});
  const std::int64_t bytes = params.count("array_bytes");
  std::vector<std::string_view> names;
  for (const Babel& b : babel_kernels()) { names.push_back(b.name); }
  const std::string name = params.one_of("kernel", names);
  const Babel& babel = *std::find_if(babel_kernels().begin(), babel_kernels().end(),
                                     [&](const Babel& b) { return b.name == name; });
  scenario::Scenario s = scenario_of(gpu, {kernel_of(babel, gpu, bytes)}, {0});
  for (int i = 0; i < 2; ++i) {
    s.timeline.items.push_back(s.timeline.items[static_cast<std::size_t>(i)]);
  }
  const double moved = static_cast<double>(bytes) *
                       static_cast<double>(babel.loads.size() + (babel.store.empty() ? 0 : 1));
  return {std::move(s), Quantity::DataRate,
          [=](const run::Happened& h) {  // launch, sync, launch, sync
            return moved / unit::seconds(h.log.spans[3].end - h.log.spans[1].end);
          },
          gpu.sms()};
}

Plan device_copy_plan(Params& params, const gpu::GpuSpec& gpu) {
  constexpr std::int64_t kCopies = 8, kSettled = 4;
  params.metric_is({"bandwidth", "time_per_iter"});
  params.ignore({"api", "iters"});
  const std::int64_t bytes = params.count("bytes", 16);
  auto kernels = from_template(
      "copy", {.numbers = {{"bytes", bytes}}, .words = {{"x", "x"}, {"y", "y"}}}, gpu);
  kernels.front().name = "copy";
  scenario::Scenario s = scenario_of(gpu, std::move(kernels), {0});
  s.timeline.items.front().repeat = kCopies;
  const bool rate = params.row().metric == "bandwidth";
  const double moved = 2 * static_cast<double>(bytes);
  return {std::move(s), rate ? Quantity::DataRate : Quantity::Time,
          [=](const run::Happened& h) {
            const auto& l = h.log.launches;
            const double each = unit::seconds(l[kCopies - 1].ended - l[kSettled - 1].ended) /
                                static_cast<double>(kCopies - kSettled);
            return rate ? moved / each : each;
          },
          gpu.sms()};
}

Plan sum_plan(Params& params, const gpu::GpuSpec& gpu) {
  constexpr std::int64_t kUnit = std::int64_t{8} << 20;  // of the array, so that pieces can be cut
  params.metric_is({"bandwidth"});
  params.must_be("kernel", "cub");
  const std::int64_t bytes = params.count("elems") * 4;
  const Steady run = steady(
      gpu, {.blocks = std::max<std::int64_t>(1, bytes / kUnit),
            .wave = 1,
            .bytes_per_block = static_cast<double>(kUnit),
            .settle_bytes = 1.5 * static_cast<double>(gpu.l2.capacity.count()),
            .measured_bytes = 256e6,
            .make = [=](Piece piece) {
              return from_template("reduce",
                                   {.numbers = {{"bytes", piece.count * kUnit}},
                                    .words = {{"x", fmt::format("x{}", piece.first)},
                                              {"y", fmt::format("y{}", piece.first)}}},
                                   gpu)
                  .front();
            }});
  return {run.scenario, Quantity::DataRate,
          [=](const run::Happened& h) { return static_cast<double>(bytes) / run.seconds(h); },
          gpu.sms()};
}

}  // namespace wavetail::study
