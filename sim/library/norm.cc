// SPDX-License-Identifier: Apache-2.0
// norm: RMSNorm over rows. Fused: a row stays in the registers of its block between the sum of
// squares and the scaling, so that it is read once and written once. Rows too short for a block get
// a warp each.
#include "library/norm.h"

#include <algorithm>
#include <cstdlib>
#include <optional>

#include <fmt/format.h>

#include "library/all.h"

namespace wavetail::library {

namespace {

constexpr std::int64_t kWidth = 16;
constexpr std::int64_t kMostVectors = 8;  // of a row per thread

struct Plan {
  std::int64_t threads = 0;  // per block
  std::int64_t vectors = 0;  // per thread
  int lanes = 0;             // 0: a block per row; else a warp per row, so many lanes of it
};

// A block per row: about 256 threads where rows are plenty, as many as fit where SMs would stay
// empty; always whole warps and whole vectors.
Plan plan_for(std::int64_t rows, std::int64_t row_bytes, const gpu::GpuSpec& gpu) {
  const std::int64_t row_lanes = row_bytes / kWidth, warp = gpu.sm.warp_size;
  if (row_lanes <= warp) { return {256, 1, static_cast<int>(row_lanes)}; }
  const std::int64_t wanted = rows >= gpu.sms() ? 256 : gpu.sm.max_threads_per_block;
  Plan best;
  for (std::int64_t vectors = 1; vectors <= kMostVectors; ++vectors) {
    const std::int64_t threads = row_lanes / vectors;
    if (row_lanes % vectors != 0 || threads % warp != 0 || threads > gpu.sm.max_threads_per_block) {
      continue;
    }
    if (best.threads == 0 || std::abs(threads - wanted) < std::abs(best.threads - wanted)) {
      best = {threads, vectors, 0};
    }
  }
  return best;
}

kernel::Kernel fused_norm(const NormShape& s, bool residual, const Plan& plan,
                          const gpu::GpuSpec& gpu) {
  const std::int64_t row = s.cols * dtype_bytes(s.dtype), warp = gpu.sm.warp_size;
  const std::int64_t each = plan.vectors * kWidth / dtype_bytes(s.dtype);
  const std::int64_t rows_per_block = plan.lanes == 0 ? 1 : plan.threads / warp;
  Access x{.array = 0,
           .width = kWidth,
           .count = plan.vectors,
           .strides = {.block_x = rows_per_block * row,
                       .warp = plan.lanes == 0 ? warp * kWidth : row,
                       .count = plan.threads * kWidth},
           .lanes = plan.lanes};
  Access weights = x;
  weights.array = 1;
  weights.strides.block_x = 0;
  if (plan.lanes != 0) { weights.strides.warp = 0; }
  Access y = x;
  y.array = 2;
  Access sum = x;
  sum.array = 3;
  Listing code;
  code.prologue(residual ? 4 : 3);
  code.load(x);
  if (residual) { code.load(sum); }
  code.load(weights);
  code.wait(plan.vectors);  // the weights may still be on their way
  code.unpack(s.dtype, residual ? 2 * each : each);
  if (residual) {
    code.fp32(each, each, 1);
    code.pack(s.dtype, each);
    code.store(sum);
  }
  code.fp32(each, 4, 2);
  code.shuffle_sum(plan.lanes == 0 ? warp : plan.lanes, 1);
  if (plan.lanes == 0) {
    code.barrier();
    code.shuffle_sum(plan.threads / warp, 1);
  }
  code.fp32(2, 1, 1);
  code.arithmetic(kernel::Pipe::Sfu, 1, 1, 1);
  code.wait(0);
  code.unpack(s.dtype, each);
  code.fp32(2 * each, each, 1);
  code.pack(s.dtype, each);
  code.store(y);
  const std::int64_t registers = std::min<std::int64_t>(round_up(24 + each + each / 2, 8), 128);
  return plain_kernel(gpu, {ceil_div(s.rows, rows_per_block), 1, 1}, plan.threads, registers,
                      std::move(code));
}

std::vector<Mistake> make_fused(const NormShape& s, bool residual, const std::string& sum,
                                const gpu::GpuSpec& gpu, std::vector<kernel::Kernel>& out) {
  const std::int64_t row = s.cols * dtype_bytes(s.dtype);
  const Plan plan = row % kWidth == 0 ? plan_for(s.rows, row, gpu) : Plan{};
  if (plan.threads == 0) {
    return {
        {"cols",
         fmt::format(
             "gives rows of {} B; a row kept in registers takes 16 to 512 B in steps of 16, or a "
             "multiple of 512 B up to 128 KiB that up to 8 vectors per thread cover",
             row)}};
  }
  kernel::Kernel k = fused_norm(s, residual, plan, gpu);
  const unit::Bytes tensor{round_up(s.rows * row, 512)};
  k.arrays = {{s.x, tensor, false},
              {s.weights, unit::Bytes{round_up(row, 512)}, s.fresh},
              {s.y, tensor, false}};
  if (residual) { k.arrays.push_back({sum, tensor, false}); }
  k.compulsory_read = unit::Bytes{s.rows * row * (residual ? 2 : 1) + row};
  k.compulsory_write = unit::Bytes{s.rows * row * (residual ? 2 : 1)};
  k.flops = static_cast<double>(s.rows * s.cols) * (residual ? 5 : 4);
  k.note = plan.lanes == 0
               ? fmt::format("a block of {} threads per row, {} vectors of 16 B each in registers",
                             plan.threads, plan.vectors)
               : fmt::format("a warp per row, {} lanes used", plan.lanes);
  out.push_back(std::move(k));
  return {};
}

// Nothing where the kernel of a serving stack is meant: RMSNorm forward, threads chosen.
std::optional<NormWay> way_of(const Values& v) {
  const NormWay way{v.word("kind") == "layer", v.word("direction") == "backward",
                    v.word("row") == "again", v.flag("residual"), v.number_or("threads", 0)};
  if (!way.layer && !way.backward && !way.again && way.threads == 0) { return std::nullopt; }
  return way;
}

std::vector<Mistake> make(const Arguments& arguments, const gpu::GpuSpec& gpu,
                          std::vector<kernel::Kernel>& out) {
  const Values v(arguments);
  const NormShape s{v.number("rows"), v.number("cols"),   v.word("dtype"), v.array("x"),
                    v.array("y"),     v.array("weights"), v.flag("fresh")};
  if (auto way = way_of(v)) {
    if (!v.flag("fused")) {
      return {{"fused", "is false; the eager chain is that of RMSNorm forward, without threads"}};
    }
    return norm_rows(s, *way, gpu, out);
  }
  if (v.flag("fused")) {
    if (v.has("step")) {
      return {{"step", "picks a kernel of the eager chain; it needs fused: false"}};
    }
    return make_fused(s, v.flag("residual"), v.array("sum"), gpu, out);
  }
  if (v.flag("residual")) { return {{"residual", "is available in the fused kernel only"}}; }
  std::vector<kernel::Kernel> chain = eager_norm(s, gpu);
  if (!v.has("step")) {
    std::move(chain.begin(), chain.end(), std::back_inserter(out));
    return {};
  }
  out.push_back(std::move(chain[static_cast<std::size_t>(v.number("step") - 1)]));
  out.back().name.clear();
  return {};
}

Parameter choice(std::string_view name, std::string_view fallback,
                 std::vector<std::string_view> choices, std::string_view sentence) {
  return {name, ParameterKind::Choice, false, 0, 0, fallback, std::move(choices), sentence};
}

}  // namespace

Template norm_template() {
  return {
      "norm",
      "RMSNorm or LayerNorm over rows: one fused kernel, or RMSNorm as the eight kernels of an "
      "eager "
      "framework with FP32 intermediates",
      {required_count("rows", 1, std::int64_t{1} << 31, "rows (tokens)"),
       required_count("cols", 8, 1 << 20, "elements per row"), dtype_parameter(),
       flag_parameter("fused", "true", "one kernel that keeps the row in registers; else eight"),
       count_parameter("step", 1, 8, {}, "only this kernel of the eager chain"),
       flag_parameter("residual", "false", "adds a residual stream first and writes the sum too"),
       choice("kind", "rms", {"rms", "layer"}, "RMSNorm, or LayerNorm with a bias"),
       choice("direction", "forward", {"forward", "backward"},
              "backward: gradients of the input and of the weights, the latter summed by NAME.sum"),
       choice(
           "row", "registers", {"registers", "again"},
           "where a row is behind its statistics: kept, or read again by 128 threads as an eager "
           "framework's kernel does"),
       count_parameter("threads", 32, 1024, {}, "per block; chosen if absent"),
       flag_parameter("fresh", "false", "every launch has weights of its own"),
       array_parameter("x", "input"), array_parameter("y", "output"),
       array_parameter("weights", "scale per column"),
       array_parameter("sum", "the residual stream, read and written")},
      &make,
      {{"rows", "cols"}}};
}

}  // namespace wavetail::library
