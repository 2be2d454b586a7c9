// SPDX-License-Identifier: Apache-2.0
// Matrix products of libraries, D = X W^T: rows X [m, k] of activations and weights W [n, k], both
// along K.
#include <fmt/format.h>

#include <array>

#include "study/protocols/all.h"
#include "study/protocols/library.h"
#include "study/protocols/products.h"

namespace wavetail::study {

namespace {

std::vector<kernel::Kernel> kernels_of(const LibrarySize& p, std::string_view dtype, bool may_split,
                                       const gpu::GpuSpec& gpu) {
  library::Arguments arguments{.numbers = {{"m", p.m}, {"n", p.n}, {"k", p.k}},
                               .words = {{"dtype", std::string(dtype)},
                                         {"b_layout", "nk"},
                                         {"x", "x"},
                                         {"weights", "w"},
                                         {"y", "y"}}};
  if (!may_split) { arguments.numbers.emplace("split_k", 1); }
  return from_template("gemm", std::move(arguments), gpu);
}

// CUTLASS' CuTe DSL examples for Blackwell with FP32 results (github Antoniomv7/gb300-microbench,
// P3_4_PROTOCOL.md): tiles of 128 x 128 by one SM, or of 256 x 128 by a pair.
std::vector<kernel::Kernel> example_kernels(const std::string& variant, const LibrarySize& p,
                                            const gpu::GpuSpec& gpu) {
  Product made{.m = p.m, .n = p.n, .k = p.k, .fp32_out = true, .mainloop = "tcgen05"};
  made.cluster_m = variant.ends_with("2cta") ? 2 : 1;
  made.tile = {128 * made.cluster_m, 128, 64};
  if (variant.starts_with("persistent")) { made.schedule = "persistent"; }
  made.group = library::ceil_div(p.n, 128);
  return kernels_of(made, gpu);
}

Plan replays(const LibrarySize& p, const gpu::GpuSpec& gpu) {
  return graph_replays(
      gpu, kernels_of(p, "bf16", true, gpu),
      {.rotated = {"w"}, .copies = rotated_copies(unit::Bytes{p.n * p.k * 2}, gpu)});
}

}  // namespace

Plan library_gemm_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  return replays(read_size(params), gpu);
}

Plan gemm_plan(Params& params, const gpu::GpuSpec& gpu) {
  if (states_kernel(params)) { return ladder_plan(params, gpu); }
  const LibrarySize p = read_size(params);
  if (params.has("weight_bytes")) {
    params.metric_is({"time"});
    params.must_be("layout", "x[m,k] @ W[n,k]^T");
    params.agrees("weight_bytes", p.n * p.k * 2);
    return replays(p, gpu);
  }
  if (params.has("lib")) {
    params.metric_is({"time"});
    params.must_be("layout", "NT");
    params.must_be("out", "BF16");
    params.must_be("scale", "none");
    constexpr std::array<std::string_view, 2> kLibraries{"deepgemm", "cublasLt"};
    // DeepGEMM's dense kernels do not split K.
    const bool may_split = params.one_of("lib", kLibraries) == "cublasLt";
    return after_flush(kernels_of(p, "bf16", may_split, gpu), p.flops(), "time", gpu);
  }
  if (params.has("impl")) {
    params.metric_is({"time", "throughput"});
    const std::string metric = params.row().metric;
    constexpr std::array<std::string_view, 5> kImplementations{"torch matmul best shape", "pytorch",
                                                               "hipkittens", "cublaslt", "cutedsl"};
    const std::string impl = params.one_of("impl", kImplementations);
    params.ignore({"hot_cache"});
    if (impl == "cutedsl") {
      return again_and_again(example_kernels(params.word("variant"), p, gpu), p.flops(), metric,
                             gpu);
    }
    params.ignore({"variant"});
    return again_and_again(kernels_of(p, "bf16", true, gpu), p.flops(), metric, gpu);
  }
  throw Unmapped("kernel: a product by a kernel of its own has no protocol yet");
}

}  // namespace wavetail::study
