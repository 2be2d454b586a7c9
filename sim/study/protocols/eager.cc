// SPDX-License-Identifier: Apache-2.0
// Operators called one at a time from Python, each followed by a synchronisation and timed by the
// host's clock (LLMCompass, FP16 and BF16 on an A100): softmax and matrix products as an eager
// framework calls them; layernorm and GELU behind torch.compile, which makes Triton kernels. Data
// stay where the call before has left them.
#include <fmt/format.h>

#include <algorithm>

#include "library/row_kernel.h"
#include "study/protocols/all.h"
#include "study/protocols/bench.h"

namespace wavetail::study {

namespace {

constexpr std::int64_t kElement = 2;

Plan plan(const gpu::GpuSpec& gpu, std::vector<kernel::Kernel> kernels, unit::Duration call,
          unit::Duration after = {}) {
  const Steady run = timed_calls(gpu, std::move(kernels), call, after);
  return {run.scenario, Quantity::Time, run.seconds, gpu.sms()};
}

// A reduction as the compiler writes it: rows of up to 1024 elements are held, longer ones are
// walked in steps of 2048 elements and walked again for the result. 16 warps at most.
kernel::Kernel compiled_layernorm(std::int64_t rows, std::int64_t cols, const gpu::GpuSpec& gpu) {
  constexpr std::int64_t kHeld = 1024, kStep = 2048;
  library::RowKernel r{.rows = rows, .cols = cols, .tensors = {{"x", "fp16"}, {"y", "fp16"}}};
  r.kept = cols <= kHeld;
  if (r.kept) {
    r.passes = {{.loads = {0}, .fp32 = 1, .reduced = 1},
                {.fp32 = 2, .reduced = 1},
                {.stores = {1}, .fp32 = 2}};
  } else {
    r.passes = {{.loads = {0}, .fp32 = 6, .sfu = 1, .reduced = 3},
                {.loads = {0}, .stores = {1}, .fp32 = 2}};
  }
  const std::int64_t warp = gpu.sm.warp_size;
  r.width = cols * kElement % 16 == 0 ? 16 : kElement;
  r.threads = std::clamp<std::int64_t>(std::min(cols, kStep) * kElement / r.width / warp * warp,
                                       warp, 16 * warp);
  if (cols * kElement / r.width < warp) {
    r.lanes = 1;
    while (2 * r.lanes <= cols * kElement / r.width) { r.lanes *= 2; }
  }
  return library::row_kernel(r, gpu);
}

// A pointwise function: blocks of 128 threads with 1024 elements, fewer where the tensor is short.
kernel::Kernel compiled_gelu(std::int64_t elements, const gpu::GpuSpec& gpu) {
  const std::int64_t per_block = elements >= (std::int64_t{1} << 20) ? 1024 : 256;
  const std::int64_t vector = per_block / 128, width = vector * kElement;
  const std::int64_t warp = gpu.sm.warp_size * width;
  library::Access access{.width = width, .strides = {.block_x = 128 * width, .warp = warp}};
  library::Listing code;
  code.prologue(2);
  code.load(access);
  code.wait(0);
  code.unpack("fp16", vector);
  code.fp32(12 * vector, vector, 1);
  code.arithmetic(kernel::Pipe::Sfu, 2 * vector, vector, 1);
  code.pack("fp16", vector);
  access.array = 1;
  code.store(access);
  kernel::Kernel k = library::plain_kernel(gpu, {library::ceil_div(elements, per_block), 1, 1}, 128,
                                           32, std::move(code));
  const unit::Bytes bytes{library::round_up(elements * kElement, 128 * width)};
  k.arrays = {{"x", bytes, false}, {"y", bytes, false}};
  return k;
}

// The loop with the most trips among the outermost ones: a product's over K.
kernel::Op* longest_loop(kernel::Program& program) {
  kernel::Op* longest = nullptr;
  for (kernel::Op& op : program) {
    if (op.kind == kernel::OpKind::Repeat && (longest == nullptr || op.count > longest->count)) {
      longest = &op;
    }
  }
  return longest;
}

// A product too long to simulate: a wave of its blocks with some steps of K, and with some more.
// All waves and steps take as long as these; the call's own time is that of the shorter one.
struct LongProduct {
  static constexpr std::int64_t kLead = 6, kBetween = 10;
  static constexpr std::int64_t kMostSteps = 20'000;  // blocks times steps that are run in full
  std::int64_t trips = 0;
  double waves = 1;

  [[nodiscard]] bool cut() const { return trips > 0; }
};

LongProduct length_of(kernel::Kernel& k, const gpu::GpuSpec& gpu) {
  const std::int64_t blocks = kernel::volume(k.grid), wave = wave_of(k, gpu);
  const kernel::Op* loop = longest_loop(k.roles.front().program);
  if (loop == nullptr || loop->count <= LongProduct::kLead + LongProduct::kBetween ||
      loop->count * blocks <= LongProduct::kMostSteps) {
    return {};
  }
  return {loop->count, static_cast<double>(library::ceil_div(blocks, wave))};
}

kernel::Kernel piece(kernel::Kernel k, std::int64_t trips, const gpu::GpuSpec& gpu) {
  const std::int64_t wave = std::min(wave_of(k, gpu), kernel::volume(k.grid));
  longest_loop(k.roles.front().program)->count = trips;
  const std::int64_t x = std::min(k.grid[0], wave), y = std::min(k.grid[1], wave / x);
  k.grid = {x, y, std::min(k.grid[2], wave / (x * y))};
  return k;
}

}  // namespace

// The framework's release of 2023 has no form that keeps long rows in shared memory.
Plan eager_softmax_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  const std::int64_t rows = params.count("m"), cols = params.count("n");
  return plan(gpu,
              from_template("softmax",
                            {.numbers = {{"rows", rows}, {"cols", cols}},
                             .words = {{"dtype", "fp16"},
                                       {"x", "x"},
                                       {"y", "y"},
                                       {"method", cols <= 1024 ? "warp" : "passes"}}},
                            gpu),
              kOperatorCall);
}

Plan eager_matmul_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  auto kernels = from_template(
      "gemm",
      {.numbers = {{"m", params.count("m")}, {"n", params.count("n")}, {"k", params.count("k")}},
       .words = {{"dtype", "bf16"}, {"b_layout", "kn"}}},
      gpu);
  const LongProduct whole = length_of(kernels.front(), gpu);
  if (!whole.cut()) { return plan(gpu, std::move(kernels), kProductCall); }
  const kernel::Kernel longer = piece(kernels.front(), LongProduct::kLead + LongProduct::kBetween,
                                      gpu);
  kernels.front() = piece(kernels.front(), LongProduct::kLead, gpu);
  kernels.push_back(longer);
  const std::size_t last = kernels.size() - 1;
  const Steady run = timed_calls(gpu, std::move(kernels), kProductCall);
  return {run.scenario, Quantity::Time,
          [=](const run::Happened& h) {
            const double shorter = seconds_of(h, 0), longest = seconds_of(h, last);
            const double step = (longest - shorter) / static_cast<double>(LongProduct::kBetween);
            const double rest = static_cast<double>(whole.trips - LongProduct::kLead) * step;
            const double gap = unit::seconds(h.log.launches.back().started -
                                             h.log.launches[h.log.launches.size() - 2].ended);
            return run.seconds(h) - longest - gap - shorter + whole.waves * (shorter + rest);
          },
          gpu.sms()};
}

Plan eager_layernorm_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  // Means and deviations are returned beside the result.
  return plan(gpu, {compiled_layernorm(params.count("m"), params.count("n"), gpu)},
              kCompiledCall + 2 * kBuffer, kCompiledReturn);
}

Plan eager_gelu_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  return plan(gpu, {compiled_gelu(params.count("m"), gpu)}, kCompiledCall, kCompiledReturn);
}

}  // namespace wavetail::study
