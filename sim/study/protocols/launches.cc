// SPDX-License-Identifier: Apache-2.0
// Small kernels launched again and again (gpu-small-kernels of gpu-benches): scale reads one array
// and writes another, then the other way round, one FP64 element per thread; in a stream, or as
// nodes of a graph. The figure is the time from one end to the next once launches follow each other
// evenly. And empty kernels, from the first call to the end of the synchronisation.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "study/protocols/all.h"
#include "study/protocols/bench.h"

namespace wavetail::study {

namespace {

constexpr std::int64_t kElement = 8;
constexpr std::int64_t kPairs = 20;        // of launches
constexpr std::size_t kSettledAfter = 16;  // launches

kernel::Kernel scale(const gpu::GpuSpec& gpu, std::int64_t grid, std::int64_t block,
                     std::int64_t elements, bool back) {
  const library::Access access{
      .width = kElement,
      .strides = {.block_x = block * kElement, .warp = gpu.sm.warp_size * kElement}};
  library::Access target = access;
  target.array = 1;
  library::Listing code;
  code.prologue(2);
  code.load(access);
  code.wait(0);
  code.arithmetic(kernel::Pipe::Fp64, 1, 1, 1);
  code.store(target);
  kernel::Kernel k = library::plain_kernel(gpu, {grid, 1, 1}, block, 16, std::move(code));
  const unit::Bytes bytes{library::round_up(elements * kElement, gpu.sm.warp_size * kElement)};
  k.arrays = {{back ? "a" : "b", bytes, false}, {back ? "b" : "a", bytes, false}};
  k.name = back ? "back" : "forth";
  return k;
}

scenario::Scenario ping_pong(const gpu::GpuSpec& gpu, std::vector<kernel::Kernel> kernels,
                             bool graph) {
  scenario::Scenario s = scenario_of(gpu, std::move(kernels), {});
  host::Item all{.kind = graph ? host::ItemKind::Graph : host::ItemKind::Repeat,
                 .repeat = graph ? 1 : kPairs};
  for (std::int64_t i = 0; i < (graph ? kPairs : 1); ++i) {
    all.body.push_back({.kernel = 0});
    all.body.push_back({.kernel = 1});
  }
  s.timeline.items.insert(s.timeline.items.begin(), std::move(all));
  return s;
}

}  // namespace

Plan small_kernel_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"eff_bandwidth"});
  const std::string mode = params.word("mode");
  if (mode.starts_with("persistent")) {
    throw Unmapped(fmt::format("mode={}: programs have no barrier of the whole grid", mode));
  }
  const bool graph = params.one_of("mode", std::array<std::string_view, 2>{
                                               "stream_launch", "cuda_graph"}) == "cuda_graph";
  params.must_be("kernel", "scale A[i]=B[i]*0.25 fp64");
  const std::int64_t elements = params.count("elems"), block = params.count("block"),
                     grid = params.count("grid"), bytes = 2 * kElement * elements;
  params.agrees("bytes", bytes);
  params.ignore({"launches"});
  return {
      ping_pong(gpu,
                {scale(gpu, grid, block, elements, false), scale(gpu, grid, block, elements, true)},
                graph),
      Quantity::DataRate,
      [=](const run::Happened& h) {
        const auto& launches = h.log.launches;
        const double span = unit::seconds(launches.back().ended -
                                          launches[kSettledAfter - 1].ended);
        return static_cast<double>(bytes) * static_cast<double>(launches.size() - kSettledAfter) /
               span;
      },
      gpu.sms()};
}

Plan launch_overhead_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  params.must_be("kernel", "empty");
  const std::string test = params.word("case");
  std::int64_t n = 0;
  const auto [rest, error] = std::from_chars(test.data(), test.data() + test.size(), n);
  const std::string_view what(rest, static_cast<std::size_t>(test.data() + test.size() - rest));
  if (error != std::errc() || n < 1 || n > 100000 ||
      (what != " plain launches" && what != " plain launch")) {
    throw Unmapped(
        fmt::format("case={}: 'N plain launches' is needed; cooperative launches and "
                    "graphs of other shapes are not simulated",
                    test));
  }
  auto kernels = from_template("empty", {}, gpu);
  kernels.front().name = "empty";
  scenario::Scenario s = scenario_of(gpu, std::move(kernels), {0});
  s.timeline.items.front().repeat = n;
  return {std::move(s), Quantity::Time,
          [](const run::Happened& h) { return unit::seconds(h.end - unit::Time{}); }, gpu.sms()};
}

}  // namespace wavetail::study
