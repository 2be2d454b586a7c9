// SPDX-License-Identifier: Apache-2.0
// cross_entropy: the loss of every row of logits against its target. Fused: one kernel, a block of
// 1024 threads per row, that reads the row for its running maximum and sum and again for the
// gradient, which it writes in its place. Eager: log-softmax as a kernel of its own, then the
// framework's reduction over the targets, whose one block of one warp takes a row per lane and trip
// and waits for the target and for the row's element behind it.
#include <algorithm>

#include <fmt/format.h>

#include "library/all.h"
#include "library/softmax.h"

namespace wavetail::library {

namespace {

constexpr std::int64_t kMostAtOnce = 32768;  // elements of a row that a block holds

kernel::Kernel fused(std::int64_t rows, std::int64_t cols, const std::string& dtype,
                     const std::string& x, const gpu::GpuSpec& gpu) {
  const std::int64_t threads = gpu.sm.max_threads_per_block;
  std::int64_t block = 1024;
  while (block < std::min(cols, kMostAtOnce)) { block *= 2; }
  const std::int64_t element = dtype_bytes(dtype), each = block / threads;
  const bool vectors = cols * element % 16 == 0;
  const std::int64_t width = vectors ? std::min<std::int64_t>(16, each * element) : element;
  RowKernel r{.rows = rows, .cols = cols, .tensors = {{x, dtype}}};
  r.passes = {{.loads = {0}, .fp32 = 3, .sfu = 1, .reduced = 2, .every_trip = true},
              {.loads = {0}, .stores = {0}, .fp32 = 4, .sfu = 1}};
  r.threads = threads;
  r.width = width;
  r.unroll = std::max<std::int64_t>(1, each * element / width);
  r.scalars = 1;
  r.lookups = 2;
  r.held = 16;  // running maximum and sum, target, loss
  kernel::Kernel k = row_kernel(r, gpu);
  k.arrays.back().name = ".loss";
  k.note = fmt::format("a block of {} threads per row, read twice; the gradient in its place",
                       threads);
  return k;
}

// 32 threads, one row each per trip: the target, then the element that it names.
kernel::Kernel gather(std::int64_t rows, std::int64_t cols, const std::string& dtype,
                      const gpu::GpuSpec& gpu) {
  const std::int64_t element = dtype_bytes(dtype), warp = gpu.sm.warp_size;
  Listing code, body;
  code.prologue(3);
  body.load({.array = 0, .width = 8, .strides = {.loop = {warp * 8}}});
  body.wait(0);
  body.int32(6, 2);
  body.load({.array = 1,
             .width = element,
             .strides = {.loop = {warp * cols * element}},
             .lane_stride = cols * element});
  body.wait(0);
  body.fp32(1, 1, 2);
  body.loop_step(2);
  code.repeat(ceil_div(rows, warp), std::move(body));
  block_sum(code, warp, 2, gpu);
  code.store({.array = 2, .width = 4, .strides = {}, .lanes = 1});
  kernel::Kernel k = plain_kernel(gpu, {1, 1, 1}, warp, 32, std::move(code));
  k.name = "gather";
  k.shared_memory = unit::Bytes{256};  // a sum and a weight per thread
  k.arrays = {{".targets", unit::Bytes{round_up(rows * 8, 512)}, false},
              {".logp", unit::Bytes{round_up(rows * cols * element, 512)}, false},
              {".loss", unit::Bytes{512}, false}};
  k.compulsory_read = unit::Bytes{rows * (8 + element)};
  k.compulsory_write = unit::Bytes{4};
  k.flops = static_cast<double>(rows);
  k.note = "one warp, a row per lane and trip";
  return k;
}

std::vector<Mistake> make(const Arguments& arguments, const gpu::GpuSpec& gpu,
                          std::vector<kernel::Kernel>& out) {
  const Values v(arguments);
  const std::int64_t rows = v.number("rows"), vocabulary = v.number("vocab");
  const std::string dtype = v.word("dtype");
  if (v.flag("fused")) {
    out.push_back(fused(rows, vocabulary, dtype, v.array("x"), gpu));
    return {};
  }
  if (auto m = softmax({rows, vocabulary, dtype, "", v.array("x"), ".logp", 0}, gpu, out);
      !m.empty()) {
    return m;
  }
  out.back().name = "log_softmax";
  out.push_back(gather(rows, vocabulary, dtype, gpu));
  return {};
}

}  // namespace

Template cross_entropy_template() {
  return {"cross_entropy",
          "loss of rows of logits against their targets",
          {required_count("rows", 1, std::int64_t{1} << 31, "rows (tokens)"),
           required_count("vocab", 32, std::int64_t{1} << 31, "logits per row"),
           dtype_parameter("fp32"),
           flag_parameter("fused", "true",
                          "one kernel that leaves the gradient in place of the logits; else "
                          "log-softmax and a reduction, forward only"),
           array_parameter("x", "logits; their gradient where fused")},
          &make,
          {{"rows", "vocab"}}};
}

}  // namespace wavetail::library
