// SPDX-License-Identifier: Apache-2.0
// Bytes per element of the chain on 16-bit input: 6 + 8 + 4 + 0 + 0 + 8 + 6 + 4 = 36, against 4
// when fused.
#include <algorithm>

#include <fmt/format.h>

#include "library/elementwise.h"
#include "library/norm.h"

namespace wavetail::library {

namespace {

// Mean over each row of an FP32 tensor: a block per row, as a framework's row reduction.
kernel::Kernel row_mean(const NormShape& s, const gpu::GpuSpec& gpu) {
  constexpr std::int64_t kWidth = 16, kUnroll = 4;
  const std::int64_t row = s.cols * 4, most = gpu.sm.max_threads_per_block;
  const std::int64_t threads = std::clamp<std::int64_t>(
      round_up(row / (kWidth * kUnroll), gpu.sm.warp_size), gpu.sm.warp_size,
      s.rows < gpu.sms() ? most : 256);
  Listing code, body;
  code.prologue(1);
  body.load({.array = 0,
             .width = kWidth,
             .count = kUnroll,
             .strides = {.block_x = row,
                         .warp = gpu.sm.warp_size * kWidth,
                         .count = threads * kWidth,
                         .loop = {threads * kWidth * kUnroll}}});
  body.loop_step(1);
  body.wait(0);
  body.fp32(kUnroll * kWidth / 4, 4, 1);
  code.repeat(ceil_div(row, threads * kWidth * kUnroll), std::move(body));
  code.shuffle_sum(gpu.sm.warp_size, 1);
  code.barrier();
  code.shuffle_sum(threads / gpu.sm.warp_size, 1);
  code.fp32(1, 1, 1);
  code.store({.array = 1, .width = 4, .strides = {.block_x = 4}, .lanes = 1});
  kernel::Kernel k = plain_kernel(gpu, {s.rows, 1, 1}, threads, 40, std::move(code));
  k.arrays = {{".square", unit::Bytes{round_up(s.rows * row, gpu.sm.warp_size * kWidth)}, false},
              {".mean", unit::Bytes{round_up(s.rows * 4, 512)}, false}};
  k.compulsory_read = unit::Bytes{s.rows * row};
  k.compulsory_write = unit::Bytes{s.rows * 4};
  k.flops = static_cast<double>(s.rows * s.cols);
  k.note = fmt::format("a block of {} threads per row", threads);
  return k;
}

}  // namespace

std::vector<kernel::Kernel> eager_norm(const NormShape& s, const gpu::GpuSpec& gpu) {
  const std::int64_t n = s.rows * s.cols;
  const Tensor x{s.x, s.dtype, n}, wide{".wide", "fp32", n}, square{".square", "fp32", n};
  const Tensor mean{".mean", "fp32", s.rows}, eps{".shifted", "fp32", s.rows},
      rstd{".rstd", "fp32", s.rows};
  const Tensor scaled{".scaled", "fp32", n}, narrow{".narrow", s.dtype, n},
      weights{s.weights, s.dtype, s.cols};
  const Tensor scale{".rstd", "fp32", s.rows, true};
  const Tensor y{s.y, s.dtype, n};
  const std::vector<Pointwise> before{{.elements = n, .inputs = {x}, .outputs = {wide}, .flops = 0},
                                      {.elements = n, .inputs = {wide}, .outputs = {square}}};
  const std::vector<Pointwise> after{
      {.elements = s.rows, .inputs = {mean}, .outputs = {eps}},
      {.elements = s.rows, .inputs = {eps}, .outputs = {rstd}, .flops = 0, .sfu = 1},
      {.elements = n, .inputs = {wide, scale}, .outputs = {scaled}},
      {.elements = n, .inputs = {scaled}, .outputs = {narrow}, .flops = 0},
      {.elements = n, .inputs = {weights, narrow}, .outputs = {y}}};
  std::vector<kernel::Kernel> chain;
  chain.reserve(before.size() + 1 + after.size());
  for (const Pointwise& p : before) { chain.push_back(pointwise_kernel(p, gpu)); }
  chain.push_back(row_mean(s, gpu));
  for (const Pointwise& p : after) { chain.push_back(pointwise_kernel(p, gpu)); }
  for (std::size_t i = 0; i < chain.size(); ++i) { chain[i].name = std::to_string(i + 1); }
  chain.back().arrays.front().per_launch = s.fresh;
  return chain;
}

}  // namespace wavetail::library
