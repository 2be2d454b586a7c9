// SPDX-License-Identifier: Apache-2.0
// Row-wise kernels of frameworks, one launch of each: softmax and LayerNorm on FP32 tensors that
// are larger than L2 or cold, and what serving stacks do before an FP8 product: the largest
// magnitude of a tensor, and its conversion with a scale. The former are calls between two events
// of an idle stream; the latter are replayed again and again, so that L2 holds what of them fits.
#include <fmt/format.h>

#include <algorithm>

#include "library/eager.h"
#include "study/protocols/all.h"
#include "study/protocols/bench.h"

namespace wavetail::study {

namespace {

void ignore_profile(Params& params) {
  if (params.has("dtype")) { params.must_be("dtype", "fp32"); }
  params.ignore({"kernel", "grid", "block"});
}

// A kernel of rows: blocks are cut as those of pointwise kernels are. `passes`: how often the row
// crosses to or from memory at most, for the length of the pieces.
Plan rows_of(Params& params, std::string_view name, library::Arguments shape, std::int64_t passes,
             const gpu::GpuSpec& gpu) {
  const std::int64_t rows = params.count("rows"), cols = params.count("cols");
  shape.numbers["cols"] = cols;
  const auto make = [=](std::int64_t first, std::int64_t count) {
    library::Arguments a = shape;
    a.numbers["rows"] = count;
    kernel::Kernel k = from_template(name, std::move(a), gpu).front();
    for (kernel::Array& array : k.arrays) { array.name += fmt::format(".{}", first); }
    return k;
  };
  const kernel::Kernel whole = make(0, rows);
  const std::int64_t blocks = kernel::volume(whole.grid), each = (rows + blocks - 1) / blocks;
  Steady run = steady(
      gpu, {.blocks = blocks,
            .wave = wave_of(whole, gpu),
            .bytes_per_block = static_cast<double>(each * cols * 4 * passes),
            .settle_bytes = 1.5 * static_cast<double>(gpu.l2.capacity.count()),
            .make = [=](Piece p) { return make(p.first, std::min(p.count * each, rows)); }});
  run = called_between_events(std::move(run), kOperatorCall);
  return {std::move(run.scenario), Quantity::Time, run.seconds, gpu.sms()};
}

// A graph of so many rounds; the time from the end of one round to that of the next.
Plan replayed(const gpu::GpuSpec& gpu, std::vector<kernel::Kernel> kernels) {
  constexpr std::size_t kRounds = 4;
  host::Item graph{.kind = host::ItemKind::Graph};
  const std::size_t each = kernels.size();
  for (std::size_t round = 0; round < kRounds; ++round) {
    for (std::size_t k = 0; k < each; ++k) {
      graph.body.push_back({.kernel = static_cast<int>(k)});
    }
  }
  for (std::size_t k = 0; k < each; ++k) { kernels[k].name = fmt::format("step{}", k + 1); }
  scenario::Scenario s = scenario_of(gpu, std::move(kernels), {});
  s.timeline.items.insert(s.timeline.items.begin(), std::move(graph));
  return {std::move(s), Quantity::Time,
          [=](const run::Happened& h) {
            const auto& all = h.log.launches;
            return unit::seconds(all.back().ended - all[all.size() - 1 - each].ended);
          },
          gpu.sms()};
}

}  // namespace

Plan softmax_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  ignore_profile(params);
  return rows_of(params, "softmax",
                 {.numbers = {}, .words = {{"dtype", "fp32"}, {"x", "x"}, {"y", "y"}}}, 2, gpu);
}

Plan layernorm_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  ignore_profile(params);
  return rows_of(
      params, "norm",
      {.numbers = {},
       .words = {{"dtype", "fp32"}, {"x", "x"}, {"y", "y"}, {"kind", "layer"}, {"row", "again"}}},
      2, gpu);
}

Plan quantize_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  params.ignore({"op", "kernels"});
  return replayed(
      gpu, from_template("quantize",
                         {.numbers = {{"rows", params.count("m")}, {"cols", params.count("k")}},
                          .words = {{"dtype", "bf16"}, {"x", "x"}, {"y", "y"}}},
                         gpu));
}

Plan amax_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  params.ignore({"op", "kernels"});
  auto kernels = from_template(
      "quantize",
      {.numbers = {{"rows", params.count("m")}, {"cols", params.count("k")}},
       .words = {{"dtype", "bf16"}, {"x", "x"}, {"y", "y"}, {"scale", "tensor"}}},
      gpu);
  kernels.pop_back();  // the conversion is a row of its own
  // The scale: a division and a lower limit, one value each.
  for (const char* name : {"scale", "limit"}) {
    kernels.push_back(library::eager_kernel(
        {.elements = 32, .inputs = {{".amax", "fp32", 32}}, .outputs = {{name, "fp32", 32}}}, gpu));
  }
  return replayed(gpu, std::move(kernels));
}

}  // namespace wavetail::study
