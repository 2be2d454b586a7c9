// SPDX-License-Identifier: Apache-2.0
// Normalisations and short chains of pointwise kernels, timed on the device with L2 cleared before
// (triton do_bench writes a large buffer, so that L2 is full of dirty lines of others): the
// library's RMSNorm, fused or as the eager chain of eight kernels, and relu(x)^2. The figure runs
// from the first block of the first kernel to the last of the last.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "study/protocols/all.h"
#include "study/protocols/bench.h"

namespace wavetail::study {

namespace {

// `cfg` says "M: 2048 dtype: torch.bfloat16 eps: 1e-06".
std::string word_behind(const std::string& text, std::string_view key) {
  const std::size_t at = text.find(key);
  if (at == std::string::npos) {
    throw Unmapped(fmt::format("cfg={}: '{}' is not stated", text, key));
  }
  const std::size_t from = text.find_first_not_of(' ', at + key.size());
  return from == std::string::npos ? "" : text.substr(from, text.find(' ', from) - from);
}

std::string dtype_of(const std::string& cfg) {
  const std::string name = word_behind(cfg, "dtype:");
  if (name == "torch.bfloat16") { return "bf16"; }
  if (name == "torch.float16") { return "fp16"; }
  if (name == "torch.float32") { return "fp32"; }
  throw Unmapped(
      fmt::format("dtype: {}: there is torch.bfloat16, torch.float16, torch.float32", name));
}

std::int64_t rows_of(const std::string& cfg) {
  const std::string text = word_behind(cfg, "M:");
  std::int64_t rows = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), rows);
  if (error != std::errc() || rest != text.data() + text.size() || rows < 1) {
    throw Unmapped(fmt::format("M: {}: a whole number is needed", text));
  }
  return rows;
}

struct Shape {
  std::int64_t rows, cols;
  std::string dtype;
};

std::vector<kernel::Kernel> norm(const Shape& s, bool fused, bool residual,
                                 const gpu::GpuSpec& gpu) {
  return from_template("norm",
                       {.numbers = {{"rows", s.rows},
                                    {"cols", s.cols},
                                    {"fused", fused ? 1 : 0},
                                    {"residual", residual ? 1 : 0}},
                        .words = {{"dtype", s.dtype}, {"x", "x"}, {"y", "y"}}},
                       gpu);
}

kernel::Kernel pointwise(const Shape& s, std::int64_t flops, const std::string& from,
                         const std::string& to, const gpu::GpuSpec& gpu) {
  return from_template("elementwise",
                       {.numbers = {{"elements", s.rows * s.cols}, {"flops", flops}},
                        .words = {{"dtype", s.dtype}, {"x", from}, {"y", to}}},
                       gpu)
      .front();
}

// relu(x)^2 as Liger's kernel does it: a block per row, 4 warps, 8 from 2048 columns on, 16 from
// 8192 and 32 from 32768; the columns are a power of two, as all rows here.
kernel::Kernel row_blocks(const Shape& s, const gpu::GpuSpec& gpu) {
  const std::int64_t warps = s.cols >= 32768 ? 32 : s.cols >= 8192 ? 16 : s.cols >= 2048 ? 8 : 4;
  const std::int64_t threads = warps * gpu.sm.warp_size, each = s.cols / threads;
  if ((s.cols & (s.cols - 1)) != 0 || each == 0) {
    throw Unmapped(fmt::format("N={}: a power of two of at least {} is needed", s.cols, threads));
  }
  const std::int64_t element = library::dtype_bytes(s.dtype);
  const std::int64_t width = std::min<std::int64_t>(16, each * element);
  library::Access access{
      .array = 0,
      .width = width,
      .count = each * element / width,
      .strides = {
          .block_x = s.cols * element, .warp = gpu.sm.warp_size * width, .count = threads * width}};
  library::Listing code;
  code.prologue(2);
  code.load(access);
  code.wait(0);
  code.unpack(s.dtype, each);
  code.fp32(2 * each, each, 1);
  code.pack(s.dtype, each);
  access.array = 1;
  code.store(access);
  kernel::Kernel k = library::plain_kernel(gpu, {s.rows, 1, 1}, threads, 16 + 2 * each,
                                           std::move(code));
  const unit::Bytes bytes{library::round_up(s.rows * s.cols * element, 512)};
  k.arrays = {{"x", bytes, false}, {"y", bytes, false}};
  return k;
}

std::vector<kernel::Kernel> kernels_of(Params& params, const std::string& op,
                                       const gpu::GpuSpec& gpu) {
  const std::string impl = params.word("impl"), cfg = params.word("cfg");
  const auto shape = [&](std::string_view columns) {
    return Shape{rows_of(cfg), params.count(columns), dtype_of(cfg)};
  };
  if (op == "rms_norm" && impl == "liger") { return norm(shape("H"), true, false, gpu); }
  if (op == "rms_norm" && impl == "huggingface") { return norm(shape("H"), false, false, gpu); }
  if (op == "fused_add_rms_norm" && impl == "liger_fused_add_rms_norm") {
    return norm(shape("H"), true, true, gpu);
  }
  if (op == "relu_squared" && impl == "liger") { return {row_blocks(shape("N"), gpu)}; }
  if (op == "relu_squared" && impl == "torch") {
    const Shape s = shape("N");
    return {pointwise(s, 1, "x", "t", gpu), pointwise(s, 1, "t", "y", gpu)};
  }
  throw Unmapped(fmt::format("op={} of impl={}: the library does not state its kernels", op, impl));
}

}  // namespace

Plan norm_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  params.must_be("mode", "forward");
  auto kernels = kernels_of(params, params.word("op"), gpu);
  std::vector<int> order;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    kernels[i].name = fmt::format("step{}", i + 1);
    order.push_back(static_cast<int>(i));
  }
  scenario::Scenario s = scenario_of(gpu, std::move(kernels), order);
  s.initial_l2 = scenario::InitialL2::Dirty;
  return {std::move(s), Quantity::Time,
          [](const run::Happened& h) {
            return unit::seconds(h.log.launches.back().ended - h.log.launches.front().started);
          },
          gpu.sms()};
}

}  // namespace wavetail::study
