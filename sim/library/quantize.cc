// SPDX-License-Identifier: Apache-2.0
// quantize: a matrix to FP8. With a given scale it is one pointwise kernel; with `scale: tensor`
// the largest magnitude is found first, as a framework's chain does: magnitudes, then a reduction
// of the whole tensor to one value per block and of those to one; with `scale: row` one kernel
// holds each row in registers, finds its largest magnitude and writes row and scale; with `scale:
// block`, `mx` and `nv` every group of a row has its own (quantize.h).
#include <algorithm>

#include <fmt/format.h>

#include "library/all.h"
#include "library/eager.h"
#include "library/quantize.h"
#include "library/row_kernel.h"

namespace wavetail::library {

namespace {

// Blocks of 512 threads that walk the tensor together and leave a value each; the last block of
// all sums those up.
kernel::Kernel largest(std::int64_t elements, const std::string& dtype, const std::string& x,
                       const gpu::GpuSpec& gpu) {
  constexpr std::int64_t kThreads = 512, kUnroll = 4;
  const std::int64_t element = dtype_bytes(dtype), vector = std::min<std::int64_t>(16, 4 * element);
  const std::int64_t tile = kThreads * vector * kUnroll, bytes = elements * element;
  const std::int64_t per_sm = gpu.sm.max_warps * gpu.sm.warp_size / kThreads;
  const std::int64_t grid = std::min(gpu.sms() * per_sm, ceil_div(bytes, tile));
  Listing code, body;
  code.prologue(1);
  body.load({.array = 0,
             .width = vector,
             .count = kUnroll,
             .strides = {.block_x = tile,
                         .warp = gpu.sm.warp_size * vector,
                         .count = kThreads * vector,
                         .loop = {grid * tile}}});
  body.loop_step(1);
  body.wait(0);
  body.unpack(dtype, kUnroll * vector / element);
  body.fp32(kUnroll * vector / element, 4, 1);
  code.repeat(ceil_div(bytes, grid * tile), std::move(body));
  block_sum(code, kThreads, 1, gpu);
  code.store({.array = 1, .width = 4, .strides = {.block_x = 4}, .lanes = 1});
  // The last block to arrive reads what the others have left; every block waits for its turn at
  // the counter.
  code.load({.array = 1, .width = 4, .strides = {}});
  code.wait(0);
  kernel::Kernel k = plain_kernel(gpu, {grid, 1, 1}, kThreads, 32, std::move(code));
  k.name = "amax";
  k.arrays = {{x, unit::Bytes{round_up(bytes, 512)}, false},
              {".amax", unit::Bytes{round_up(grid * 4, 512)}, false}};
  k.compulsory_read = unit::Bytes{bytes};
  k.compulsory_write = unit::Bytes{4 * grid};
  k.flops = static_cast<double>(elements);
  k.shared_memory = unit::Bytes{kThreads / gpu.sm.warp_size * 4};
  k.note = fmt::format("{} blocks of {} threads", grid, kThreads);
  return k;
}

kernel::Kernel convert(std::int64_t elements, const std::string& dtype, const std::string& x,
                       const std::string& y, const gpu::GpuSpec& gpu) {
  Pointwise p{.elements = elements,
              .inputs = {{x, dtype, elements}},
              .outputs = {{y, "fp8", elements}},
              .flops = 3};
  kernel::Kernel k = pointwise_kernel(p, gpu);
  k.name = "convert";
  return k;
}

std::vector<Mistake> by_row(std::int64_t rows, std::int64_t cols, const std::string& dtype,
                            const std::string& x, const std::string& y, const gpu::GpuSpec& gpu,
                            std::vector<kernel::Kernel>& out) {
  const std::int64_t bytes = cols * dtype_bytes(dtype);
  RowKernel r{.rows = rows,
              .cols = cols,
              .tensors = {{x, dtype}, {y, "fp8"}},
              .passes = {{.loads = {0}, .fp32 = 1, .reduced = 1}, {.stores = {1}, .fp32 = 2}},
              .kept = true,
              .scalars = 1};
  r.threads = std::min(triton_warps(cols) * gpu.sm.warp_size, gpu.sm.max_threads_per_block);
  if (bytes % 16 != 0 || bytes / 16 > r.threads * 8) {
    return {{"cols", fmt::format("gives rows of {} B; a row kept in registers takes a multiple of "
                                 "16 B, up to {} here",
                                 bytes, r.threads * 128)}};
  }
  kernel::Kernel k = row_kernel(r, gpu);
  k.arrays.back().name = ".scales";
  k.note = fmt::format("a block of {} threads per row, kept in registers", r.threads);
  out.push_back(std::move(k));
  return {};
}

std::vector<Mistake> by_group(std::int64_t elements, const Values& v, const gpu::GpuSpec& gpu,
                              std::vector<kernel::Kernel>& out) {
  const std::string scale = v.word("scale"), x = v.array("x");
  GroupQuantize q{.elements = elements, .dtype = v.word("dtype"), .x = x, .y = v.array("y")};
  q.scales = q.y + ".scales";
  if (scale != "block") {
    q.group = scale == "nv" ? 16 : 32;
    q.scale_bytes = 1;
    q.out_bits = v.word("out") == "fp4" ? 4 : 8;
  }
  if (q.dtype != "bf16" && q.dtype != "fp16") {
    return {{"dtype", fmt::format("is {}; groups are of bf16 or fp16", q.dtype)}};
  }
  if (v.number("cols") % q.group != 0) {
    return {{"cols", fmt::format("is {}; a scale is for {} of a row", v.number("cols"), q.group)}};
  }
  kernel::Kernel k = group_quantize_kernel(q, gpu);
  k.name.clear();
  out.push_back(std::move(k));
  return {};
}

std::vector<Mistake> make(const Arguments& arguments, const gpu::GpuSpec& gpu,
                          std::vector<kernel::Kernel>& out) {
  const Values v(arguments);
  const std::int64_t rows = v.number("rows"), cols = v.number("cols"), elements = rows * cols;
  const std::string dtype = v.word("dtype"), scale = v.word("scale"), x = v.array("x"),
                    y = v.array("y");
  if (scale != "row" && scale != "tensor" && scale != "given") {
    return by_group(elements, v, gpu, out);
  }
  if (v.word("out") != "fp8") {
    return {{"out", fmt::format("is {}; only scale: mx and nv make it", v.word("out"))}};
  }
  if (scale == "row") { return by_row(rows, cols, dtype, x, y, gpu, out); }
  if (scale == "tensor") {
    const Tensor magnitude{".magnitude", dtype, elements};
    kernel::Kernel k = eager_kernel(
        {.elements = elements, .inputs = {{x, dtype, elements}}, .outputs = {magnitude}}, gpu);
    k.name = "magnitude";
    out.push_back(std::move(k));
    out.push_back(largest(elements, dtype, ".magnitude", gpu));
  }
  out.push_back(convert(elements, dtype, x, y, gpu));
  if (scale == "given") { out.back().name.clear(); }
  return {};
}

}  // namespace

Template quantize_template() {
  return {"quantize",
          "a matrix to FP8 or FP4",
          {required_count("rows", 1, std::int64_t{1} << 31, "rows"),
           required_count("cols", 8, 1 << 20, "elements per row"),
           dtype_parameter(),
           {"scale",
            ParameterKind::Choice,
            false,
            0,
            0,
            "given",
            {"given", "tensor", "row", "block", "mx", "nv"},
            "known, from the tensor's largest magnitude (three kernels), from each row's, or from "
            "every 128 (block, FP32), 32 (mx) or 16 (nv) of a row"},
           {"out", ParameterKind::Choice, false, 0, 0, "fp8", {"fp8", "fp4"}, "of y"},
           array_parameter("x", "input"),
           array_parameter("y", "output")},
          &make,
          {{"rows", "cols"}}};
}

}  // namespace wavetail::library
