// SPDX-License-Identifier: Apache-2.0
// Normalisations as training frameworks and Triton write them. Forward, kept: one pass for the sum
// of squares (LayerNorm: for the mean, then for the variance from registers), the result from
// registers. Forward, read again: a running mean and variance by 128 threads (Welford), then the
// row once more. Backward: as many blocks as SMs, each with a share of the rows, the weights'
// gradient in registers until the last, then a sum over the blocks.
#include <algorithm>

#include <fmt/format.h>

#include "library/norm.h"
#include "library/row_kernel.h"

namespace wavetail::library {

namespace {

constexpr std::int64_t kAgainThreads = 128;
constexpr std::int64_t kMostVectors = 16;  // of a row per thread

// What a row of `cols` elements is kept or walked in.
std::int64_t vector_bytes(const NormShape& s, const NormWay& way) {
  const std::int64_t element = dtype_bytes(s.dtype);
  const std::int64_t wanted = way.again ? 4 * element : 16;
  return s.cols * element % wanted == 0 ? wanted : element;
}

RowKernel forward(const NormShape& s, const NormWay& way, const std::string& bias) {
  RowKernel r{.rows = s.rows, .cols = s.cols, .tensors = {{s.x, s.dtype}, {s.y, s.dtype}}};
  r.tensors.push_back({s.weights, s.dtype, true, s.fresh});
  std::vector<int> weights{2};
  if (way.layer) {
    r.tensors.push_back({bias, s.dtype, true, s.fresh});
    weights.push_back(3);
  }
  r.scalars = way.layer ? 2 : 1;
  if (way.again) {
    std::vector<int> second{0};
    second.insert(second.end(), weights.begin(), weights.end());
    // Welford's step: five operations, three of which wait for each other, and a division in full
    // precision by the count (a reciprocal and five operations).
    const std::int64_t step = way.layer ? 10 : 1;
    r.passes = {{.loads = {0},
                 .fp32 = step,
                 .sfu = way.layer ? 1 : 0,
                 .reduced = way.layer ? 3 : 1,
                 .distance = way.layer ? 2 : 4},
                {.loads = second, .stores = {1}, .fp32 = way.layer ? 3 : 2}};
    return r;
  }
  std::vector<int> first{0};
  first.insert(first.end(), weights.begin(), weights.end());
  r.kept = true;
  if (way.layer) {
    r.passes = {{.loads = first, .fp32 = 1, .reduced = 1},
                {.fp32 = 2, .reduced = 1},
                {.stores = {1}, .fp32 = 3}};
  } else {
    r.passes = {{.loads = first, .fp32 = 1, .reduced = 1}, {.stores = {1}, .fp32 = 2}};
  }
  return r;
}

void add_residual(RowKernel& r, const NormShape& s) {
  r.tensors.push_back({".residual", s.dtype});
  r.tensors.push_back({".sum", s.dtype});
  const int residual = static_cast<int>(r.tensors.size()) - 2;
  r.passes.front().loads.push_back(residual);
  r.passes.front().stores.push_back(residual + 1);
  r.passes.front().fp32 += 1;
}

RowKernel backward(const NormShape& s, const NormWay& way, const gpu::GpuSpec& gpu) {
  RowKernel r{.rows = s.rows, .cols = s.cols};
  r.tensors = {
      {s.y, s.dtype}, {s.x, s.dtype}, {s.weights, s.dtype, true, s.fresh}, {".gradient", s.dtype}};
  r.kept = true;
  r.passes = {{.loads = {0, 1, 2}, .fp32 = way.layer ? 5 : 3, .reduced = way.layer ? 2 : 1},
              {.stores = {3}, .fp32 = way.layer ? 7 : 5}};
  r.sums = way.layer ? 2 : 1;
  r.trips = ceil_div(s.rows, std::min(gpu.sms(), s.rows));
  return r;
}

// Columns of the blocks' partial sums: a thread adds up one column, four loads under way.
kernel::Kernel column_sums(const RowKernel& r, const std::string& from, const std::string& to,
                           std::int64_t blocks, const gpu::GpuSpec& gpu) {
  constexpr std::int64_t kThreads = 128, kUnroll = 4;
  const std::int64_t columns = r.cols * r.sums, row = columns * 4;
  Listing code, body;
  code.prologue(2);
  body.load({.array = 0,
             .width = 4,
             .count = kUnroll,
             .strides = {.block_x = kThreads * 4,
                         .warp = gpu.sm.warp_size * 4,
                         .count = row,
                         .loop = {row * kUnroll}}});
  body.wait(0);
  body.fp32(kUnroll, 1, 1);
  body.loop_step(1);
  code.repeat(ceil_div(blocks, kUnroll), std::move(body));
  code.store(
      {.array = 1, .width = 4, .strides = {.block_x = kThreads * 4, .warp = gpu.sm.warp_size * 4}});
  kernel::Kernel k = plain_kernel(gpu, {ceil_div(columns, kThreads), 1, 1}, kThreads, 32,
                                  std::move(code));
  k.name = "sum";
  k.arrays = {{from, unit::Bytes{round_up(blocks * row, 512)}, false},
              {to, unit::Bytes{round_up(row, 512)}, false}};
  k.compulsory_read = unit::Bytes{blocks * row};
  k.compulsory_write = unit::Bytes{row};
  k.flops = static_cast<double>(blocks * columns);
  k.note = fmt::format("sums {} rows", blocks);
  return k;
}

}  // namespace

std::vector<Mistake> norm_rows(const NormShape& s, const NormWay& way, const gpu::GpuSpec& gpu,
                               std::vector<kernel::Kernel>& out) {
  const std::int64_t warp = gpu.sm.warp_size;
  if (way.threads % warp != 0) {
    return {{"threads", fmt::format("is {}; whole warps of {} are needed", way.threads, warp)}};
  }
  if (way.backward && (way.again || way.residual)) {
    return {{"direction", "is backward; it keeps its rows and has no residual stream"}};
  }
  RowKernel r = way.backward ? backward(s, way, gpu) : forward(s, way, ".bias");
  if (way.residual) { add_residual(r, s); }
  r.width = vector_bytes(s, way);
  r.threads = way.threads > 0 ? way.threads
              : way.again     ? kAgainThreads
                              : std::min(triton_warps(s.cols) * warp, gpu.sm.max_threads_per_block);
  const std::int64_t vectors = s.cols * dtype_bytes(s.dtype) / r.width;
  if (r.kept && vectors > r.threads * kMostVectors) {
    return {{"cols",
             fmt::format("is {}; {} threads keep up to {} elements of a row in registers", s.cols,
                         r.threads, r.threads * kMostVectors * r.width / dtype_bytes(s.dtype))}};
  }
  kernel::Kernel k = row_kernel(r, gpu);
  k.note = fmt::format("a block of {} threads per row{}, {}", r.threads,
                       way.backward ? " after row" : "",
                       r.kept ? "kept in registers" : "read twice");
  const std::int64_t blocks = kernel::volume(k.grid);
  out.push_back(std::move(k));
  if (way.backward) { out.push_back(column_sums(r, ".sums", ".weights_gradient", blocks, gpu)); }
  return {};
}

}  // namespace wavetail::library
