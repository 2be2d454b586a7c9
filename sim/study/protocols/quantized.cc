// SPDX-License-Identifier: Apache-2.0
// Products of libraries whose operands are FP8 or FP4. A framework's layer quantises its
// activations first, in a kernel of its own: by rows (a scale per token) for FP8 with one scale per
// matrix, by 128 of K for block-scaled FP8, by 16 for NVFP4 (github ai-dynamo/aiconfigurator,
// collector/*/collect_gemm.py: the collected time is that of the layer). Benchmarks of the product
// alone have quantised operands.
#include <fmt/format.h>

#include <array>

#include "study/protocols/all.h"
#include "study/protocols/library.h"
#include "study/protocols/products.h"

namespace wavetail::study {

namespace {

// How operands are made narrow: the template's words for product and quantisation.
struct Narrow {
  std::string_view dtype, scale, activations;
  double weight_bytes = 1;  // per element
};

constexpr Narrow kTensor{"fp8", "none", "row"}, kBlocks{"fp8", "block", "block"},
    kNvfp4{"fp4", "nv", "nv", 0.5};

// A bare product; K as the template takes it, in whole 16 bytes.
std::vector<kernel::Kernel> product(const LibrarySize& p, const Narrow& how, bool may_split,
                                    const gpu::GpuSpec& gpu) {
  library::Arguments arguments{.numbers = {{"m", p.m}, {"n", p.n}, {"k", p.k}},
                               .words = {{"dtype", std::string(how.dtype)},
                                         {"scale", std::string(how.scale)},
                                         {"b_layout", "nk"},
                                         {"x", "q"},
                                         {"weights", "w"},
                                         {"y", "y"}}};
  if (!may_split) { arguments.numbers.emplace("split_k", 1); }
  return from_template("gemm", std::move(arguments), gpu);
}

// The layer: activations, product, over copies of the weights.
Plan layer(const LibrarySize& p, const Narrow& how, const gpu::GpuSpec& gpu) {
  std::vector<kernel::Kernel> kernels = from_template(
      "quantize",
      {.numbers = {{"rows", p.m}, {"cols", p.k}},
       .words = {{"dtype", "bf16"},
                 {"scale", std::string(how.activations)},
                 {"out", std::string(how.dtype)},
                 {"x", "x"},
                 {"y", "q"}}},
      gpu);
  for (kernel::Kernel& k : product(p, how, true, gpu)) { kernels.push_back(std::move(k)); }
  const auto bytes = static_cast<std::int64_t>(static_cast<double>(p.n * p.k) * how.weight_bytes);
  return graph_replays(
      gpu, std::move(kernels),
      {.rotated = {"w", "w.scales"}, .copies = rotated_copies(unit::Bytes{bytes}, gpu)});
}

// The collectors' block-scaled kernels know whole blocks only; what ran for other shapes is not
// stated, and their times (60 to 190 us whatever the size) are those of no product.
LibrarySize whole_blocks(const LibrarySize& p) {
  if (p.n < 128 || p.k < 128) {
    throw Unmapped(fmt::format(
        "n={};k={}: below one block of 128 x 128 a fallback runs that no source describes", p.n,
        p.k));
  }
  return p;
}

}  // namespace

Plan library_fp8_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  return layer(read_size(params), kTensor, gpu);
}

Plan library_fp8_blocks_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  return layer(whole_blocks(read_size(params)), kBlocks, gpu);
}

Plan library_nvfp4_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  return layer(read_size(params), kNvfp4, gpu);
}

// A layer of the tables of operators, by its dtype.
Plan narrow_layer_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  const LibrarySize p = read_size(params);
  const Narrow& how = params.row().kind == "gemm_nvfp4" ? kNvfp4 : kBlocks;
  params.must_be("layout", "x[m,k] @ W[n,k]^T");
  params.agrees("weight_bytes",
                static_cast<std::int64_t>(static_cast<double>(p.n * p.k) * how.weight_bytes));
  return layer(p, how, gpu);
}

// DeepGEMM's benchmark of a dense product: kernel time after a flush, no split of K. Scales of both
// operands by 128 of K (1D1D) take as many instructions as with weights by 128 x 128.
Plan blockscale_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time", "throughput"});
  const LibrarySize p = read_size(params);
  params.ignore({"in_", "out", "acc", "scale", "layout", "lib"});
  return after_flush(product(p, kBlocks, false, gpu), p.flops(), params.row().metric, gpu);
}

Plan fp8_plan(Params& params, const gpu::GpuSpec& gpu) {
  if (states_kernel(params)) { return ladder_plan(params, gpu); }
  if (params.has("lib")) { return blockscale_plan(params, gpu); }
  if (!params.has("impl")) { throw Unmapped("what multiplied is not stated"); }
  const LibrarySize p = read_size(params);
  constexpr std::array<std::string_view, 3> kImplementations{"torch _scaled_mm best shape",
                                                             "hipblaslt", "hipkittens"};
  (void)params.one_of("impl", kImplementations);
  return again_and_again(product(p, kTensor, true, gpu), p.flops(), params.row().metric, gpu);
}

}  // namespace wavetail::study
