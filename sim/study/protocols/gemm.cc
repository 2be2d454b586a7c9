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

struct Size {
  std::int64_t m = 0, n = 0, k = 0;

  [[nodiscard]] double flops() const {
    return 2 * static_cast<double>(m) * static_cast<double>(n) * static_cast<double>(k);
  }
};

Size read_product(Params& params) {
  return {params.count("m"), params.count("n"), params.count("k")};
}

std::vector<kernel::Kernel> kernels_of(const Size& p, std::string_view dtype, bool may_split,
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

Plan replays(const Size& p, const gpu::GpuSpec& gpu) {
  return graph_replays(
      gpu, kernels_of(p, "bf16", true, gpu),
      {.rotated = {"w"}, .copies = rotated_copies(unit::Bytes{p.n * p.k * 2}, gpu)});
}

// Time on the device of one call, as a profiler sums up its kernels, after a write of gigabytes.
Plan after_flush(const Size& p, bool may_split, const gpu::GpuSpec& gpu) {
  auto kernels = kernels_of(p, "bf16", may_split, gpu);
  std::vector<int> order;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    kernels[i].name = fmt::format("step{}", i + 1);
    order.push_back(static_cast<int>(i));
  }
  scenario::Scenario s = scenario_of(gpu, std::move(kernels), order);
  s.initial_l2 = scenario::InitialL2::Dirty;
  let_repeat(s);
  return {std::move(s), Quantity::Time,
          [](const run::Happened& h) {
            unit::Duration all{};
            for (const run::KernelAccount& k : h.kernels) { all = all + k.time; }
            return unit::seconds(all);
          },
          gpu.sms()};
}

// The same product again and again in a stream: operations per second of the mean call.
Plan again_and_again(const Size& p, const gpu::GpuSpec& gpu) {
  constexpr std::int64_t kWarmUp = 20, kTimed = 100;
  auto kernels = kernels_of(p, "bf16", true, gpu);
  const std::size_t warm = static_cast<std::size_t>(kWarmUp) * kernels.size();
  host::Item all{.kind = host::ItemKind::Repeat, .repeat = kWarmUp + kTimed};
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    kernels[i].name = fmt::format("step{}", i + 1);
    all.body.push_back({.kernel = static_cast<int>(i)});
  }
  scenario::Scenario s = scenario_of(gpu, std::move(kernels), {});
  s.timeline.items.insert(s.timeline.items.begin(), std::move(all));
  let_repeat(s);
  return {std::move(s), Quantity::OpRate,
          [=](const run::Happened& h) {
            const auto& launches = h.log.launches;
            return p.flops() * static_cast<double>(kTimed) /
                   unit::seconds(launches.back().ended - launches[warm - 1].ended);
          },
          gpu.sms()};
}

}  // namespace

Plan library_gemm_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  return replays(read_product(params), gpu);
}

Plan gemm_plan(Params& params, const gpu::GpuSpec& gpu) {
  if (states_kernel(params)) { return ladder_plan(params, gpu); }
  const Size p = read_product(params);
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
    return after_flush(p, params.one_of("lib", kLibraries) == "cublasLt", gpu);
  }
  if (params.has("impl")) {
    params.metric_is({"throughput"});
    params.must_be("impl", "torch matmul best shape");
    return again_and_again(p, gpu);
  }
  throw Unmapped("kernel: a product by a kernel of its own has no protocol yet");
}

}  // namespace wavetail::study
