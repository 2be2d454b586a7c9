// SPDX-License-Identifier: Apache-2.0
// Kernels of language models as Liger's benchmark times them (triton do_bench: between two events,
// behind a cleared buffer): Triton kernels, a block per row, against what an eager framework or a
// compiler of pointwise chains launches. Whose kernels a word of `impl` means is Liger's scripts'.
#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "library/eager.h"
#include "library/row_kernel.h"
#include "study/protocols/all.h"
#include "study/protocols/bench.h"

namespace wavetail::study {

namespace {

using library::Pointwise;
using library::Tensor;

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
  if (cfg.find("dtype:") == std::string::npos) { return "bf16"; }
  const std::string name = word_behind(cfg, "dtype:");
  if (name == "torch.bfloat16") { return "bf16"; }
  if (name == "torch.float16") { return "fp16"; }
  if (name == "torch.float32") { return "fp32"; }
  throw Unmapped(
      fmt::format("dtype: {}: there is torch.bfloat16, torch.float16, torch.float32", name));
}

std::int64_t number_behind(const std::string& cfg, std::string_view key) {
  const std::string text = word_behind(cfg, key);
  std::int64_t number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || rest != text.data() + text.size() || number < 1) {
    throw Unmapped(fmt::format("{} {}: a whole number is needed", key, text));
  }
  return number;
}

struct Shape {
  std::int64_t rows, cols;
  std::string dtype;

  [[nodiscard]] std::int64_t elements() const { return rows * cols; }
};

// Rows are M, or sequence times batch.
std::int64_t rows_of(const std::string& cfg) {
  if (cfg.find("M:") != std::string::npos) { return number_behind(cfg, "M:"); }
  return number_behind(cfg, cfg.find("S:") != std::string::npos ? "S:" : "T:") *
         number_behind(cfg, "B:");
}

using Kernels = std::vector<kernel::Kernel>;

// Elements per thread of the vectorised pointwise kernel: releases for Hopper have eight.
std::int64_t per_thread(const gpu::GpuSpec& gpu) {
  return gpu.architecture == "sm_80" || gpu.architecture == "sm_86" ? 4 : 8;
}

kernel::Kernel pointwise(Pointwise p, const gpu::GpuSpec& gpu) {
  return library::eager_kernel(p, gpu, per_thread(gpu));
}

enum class Row { Triton, Eager };

Kernels norm(const Shape& s, std::string_view kind, Row row, bool residual,
             const gpu::GpuSpec& gpu) {
  library::Arguments a{
      .numbers = {{"rows", s.rows}, {"cols", s.cols}, {"residual", residual ? 1 : 0}},
      .words = {{"dtype", s.dtype},
                {"x", "x"},
                {"y", "y"},
                {"kind", std::string(kind)},
                {"row", row == Row::Eager ? "again" : "registers"}}};
  if (row == Row::Triton) { a.numbers["threads"] = library::triton_warps(s.cols) * 32; }
  return from_template("norm", std::move(a), gpu);
}

// From `from`: FP32 copy (unless it is FP32), squares, their mean, its reciprocal root, the
// product, back to the type, times FP32 weights.
void append_eager_rms(Kernels& out, const Shape& s, const std::string& from,
                      const gpu::GpuSpec& gpu) {
  const std::int64_t n = s.elements();
  const bool wide = s.dtype == "fp32";
  const Tensor x{wide ? from : "wide", "fp32", n}, square{"square", "fp32", n};
  const Tensor mean{"mean", "fp32", s.rows}, shifted{"shifted", "fp32", s.rows},
      rstd{"rstd", "fp32", s.rows}, scale{"rstd", "fp32", s.rows, true};
  const Tensor scaled{"scaled", "fp32", n}, narrow{wide ? "scaled" : "narrow", s.dtype, n};
  const auto add = [&](Pointwise p) { out.push_back(pointwise(std::move(p), gpu)); };
  if (!wide) { add({.elements = n, .inputs = {{from, s.dtype, n}}, .outputs = {x}, .flops = 0}); }
  add({.elements = n, .inputs = {x}, .outputs = {square}});
  out.push_back(library::eager_row_sum(s.rows, s.cols, "square", "mean", gpu));
  add({.elements = s.rows, .inputs = {mean}, .outputs = {shifted}});
  add({.elements = s.rows, .inputs = {shifted}, .outputs = {rstd}, .flops = 0, .sfu = 1});
  add({.elements = n, .inputs = {x, scale}, .outputs = {scaled}});
  if (!wide) { add({.elements = n, .inputs = {scaled}, .outputs = {narrow}, .flops = 0}); }
  add({.elements = n,
       .inputs = {{"weights", "fp32", s.cols}, narrow},
       .outputs = {{"y", "fp32", n}}});
}

Kernels rms_norm(const std::string& impl, const Shape& s, const gpu::GpuSpec& gpu) {
  if (impl == "liger") { return norm(s, "rms", Row::Triton, false, gpu); }
  if (impl == "huggingface") {
    Kernels chain;
    append_eager_rms(chain, s, "x", gpu);
    return chain;
  }
  if (impl == "torch" || impl == "megatron") { return norm(s, "rms", Row::Eager, false, gpu); }
  throw Unmapped(fmt::format("impl={}: there is liger, huggingface, torch, megatron", impl));
}

Kernels layer_norm(const std::string& impl, const Shape& s, const gpu::GpuSpec& gpu) {
  if (impl == "liger") { return norm(s, "layer", Row::Triton, false, gpu); }
  if (impl == "huggingface" || impl == "torch") { return norm(s, "layer", Row::Eager, false, gpu); }
  throw Unmapped(fmt::format("impl={}: there is liger, huggingface, torch", impl));
}

Kernels add_rms_norm(const std::string& impl, const Shape& s, const gpu::GpuSpec& gpu) {
  if (impl == "liger_fused_add_rms_norm") { return norm(s, "rms", Row::Triton, true, gpu); }
  const std::int64_t n = s.elements();
  Kernels chain{pointwise({.elements = n,
                           .inputs = {{"a", s.dtype, n}, {"b", s.dtype, n}},
                           .outputs = {{"x", s.dtype, n}}},
                          gpu)};
  if (impl == "huggingface") {
    append_eager_rms(chain, s, "x", gpu);
    return chain;
  }
  if (impl != "liger_rms_norm") {
    throw Unmapped(fmt::format(
        "impl={}: there is liger_fused_add_rms_norm, huggingface, liger_rms_norm", impl));
  }
  for (kernel::Kernel& k : norm(s, "rms", Row::Triton, false, gpu)) {
    chain.push_back(std::move(k));
  }
  chain.push_back(pointwise({.elements = n,
                             .inputs = {{"scale", "fp32", s.cols}, {"y", s.dtype, n}},
                             .outputs = {{"z", "fp32", n}}},
                            gpu));
  return chain;
}

// A Triton kernel of one pass: a block per row, the row in registers.
kernel::Kernel rows_in_place(const Shape& s, std::vector<std::string> from, std::int64_t fp32,
                             std::int64_t sfu, const gpu::GpuSpec& gpu) {
  library::RowKernel r{.rows = s.rows, .cols = s.cols};
  library::RowPass pass{.fp32 = fp32, .sfu = sfu};
  for (std::string& name : from) {
    pass.loads.push_back(static_cast<int>(r.tensors.size()));
    r.tensors.push_back({std::move(name), s.dtype});
  }
  pass.stores.push_back(static_cast<int>(r.tensors.size()));
  r.tensors.push_back({"y", s.dtype});
  r.passes = {pass};
  r.kept = true;
  r.threads = library::triton_warps(s.cols) * gpu.sm.warp_size;
  const std::int64_t each = s.cols * library::dtype_bytes(s.dtype) / r.threads;
  r.width = std::min<std::int64_t>(16, each);
  if (each == 0 || s.cols * library::dtype_bytes(s.dtype) % 16 != 0) {
    throw Unmapped(fmt::format("{} columns: rows of whole vectors are needed, of at least {}",
                               s.cols, r.threads));
  }
  return library::row_kernel(r, gpu);
}

Kernels relu_squared(const std::string& impl, const Shape& s, const gpu::GpuSpec& gpu) {
  if (impl == "liger") { return {rows_in_place(s, {"x"}, 2, 0, gpu)}; }
  if (impl != "torch") { throw Unmapped(fmt::format("impl={}: there is liger, torch", impl)); }
  const std::int64_t n = s.elements();
  const Tensor x{"x", s.dtype, n}, t{"t", s.dtype, n}, y{"y", s.dtype, n};
  return {pointwise({.elements = n, .inputs = {x}, .outputs = {t}}, gpu),
          pointwise({.elements = n, .inputs = {t}, .outputs = {y}}, gpu)};
}

// silu(gate) x up, the two halves of every row. The eager framework's halves are views whose rows
// lie twice their length apart: each element's place is computed. A compiler of pointwise chains
// makes one kernel of vectors.
Kernels swiglu(const std::string& impl, const Shape& s, const gpu::GpuSpec& gpu) {
  if (impl == "liger") { return {rows_in_place(s, {"gate", "up"}, 4, 2, gpu)}; }
  const std::int64_t n = s.elements();
  const Tensor gate{"gate", s.dtype, n}, up{"up", s.dtype, n}, t{"t", s.dtype, n},
      y{"y", s.dtype, n};
  if (impl == "torch") {
    return {library::eager_kernel(
                {.elements = n, .inputs = {gate}, .outputs = {t}, .flops = 3, .sfu = 2}, gpu,
                library::kPlaces),
            library::eager_kernel({.elements = n, .inputs = {t, up}, .outputs = {y}}, gpu,
                                  library::kPlaces)};
  }
  if (impl == "megatron") {
    return {pointwise({.elements = n, .inputs = {gate, up}, .outputs = {y}, .flops = 4, .sfu = 2},
                      gpu)};
  }
  throw Unmapped(fmt::format("impl={}: there is liger, torch, megatron", impl));
}

// Liger counts the targets first and waits for the count on the host.
Timed cross_entropy(const std::string& impl, const Shape& s, const gpu::GpuSpec& gpu) {
  const bool fused = impl == "liger";
  if (!fused && impl != "huggingface") {
    throw Unmapped(fmt::format("impl={}: there is liger, huggingface", impl));
  }
  Timed t;
  const Tensor targets{"targets", "fp32", 2 * s.rows}, valid{"valid", "fp8", 2 * s.rows},
      losses{"losses", "fp32", s.rows};
  if (fused) {
    t.kernels = {pointwise({.elements = s.rows, .inputs = {}, .outputs = {losses}}, gpu),
                 pointwise({.elements = 2 * s.rows, .inputs = {targets}, .outputs = {valid}}, gpu),
                 library::eager_row_sum(1, s.rows, "counted", "count", gpu)};
    t.waits = static_cast<std::int64_t>(t.kernels.size());
    t.pause = kCompiledCall;
  }
  const auto loss = [&](std::int64_t rows, const std::string& x) {
    return from_template("cross_entropy",
                         {.numbers = {{"rows", rows}, {"vocab", s.cols}, {"fused", fused ? 1 : 0}},
                          .words = {{"dtype", s.dtype}, {"x", x}}},
                         gpu);
  };
  Kernels all = loss(s.rows, "x");
  // Rows are a wave's, four of them where the whole would take long.
  const std::int64_t wave = wave_of(all.front(), gpu) * s.rows / kernel::volume(all.front().grid);
  if (s.rows > 20 * wave && s.elements() > (std::int64_t{1} << 28)) {
    all.front() = loss(4 * wave, "x").front();
    t.probes = {loss(2 * wave, "x").front(), loss(4 * wave, "x").front()};
    t.rest = static_cast<double>(s.rows - 4 * wave) / static_cast<double>(2 * wave);
  }
  for (kernel::Kernel& k : all) { t.kernels.push_back(std::move(k)); }
  if (fused) {
    t.kernels.push_back(library::eager_row_sum(1, s.rows, "losses", "total", gpu));
    t.kernels.push_back(pointwise(
        {.elements = 32, .inputs = {{"total", "fp32", 32}}, .outputs = {{"mean", "fp32", 32}}},
        gpu));
  }
  return t;
}

Timed timed(Params& params, const std::string& op, const gpu::GpuSpec& gpu) {
  const std::string impl = params.word("impl"), cfg = params.word("cfg");
  const auto shape = [&](std::string_view columns) {
    return Shape{rows_of(cfg), params.count(columns), dtype_of(cfg)};
  };
  if (op == "cross_entropy") {
    return cross_entropy(impl, {rows_of(cfg), params.count("V"), "fp32"}, gpu);
  }
  if (op == "rms_norm" || op == "megatron_rms_norm") { return {rms_norm(impl, shape("H"), gpu)}; }
  if (op == "layer_norm") { return {layer_norm(impl, shape("N"), gpu)}; }
  if (op == "fused_add_rms_norm") { return {add_rms_norm(impl, shape("H"), gpu)}; }
  if (op == "relu_squared") { return {relu_squared(impl, shape("N"), gpu)}; }
  if (op == "megatron_swiglu") { return {swiglu(impl, shape("ffn_local"), gpu)}; }
  throw Unmapped(fmt::format("op={}: the library does not state its kernels", op));
}

}  // namespace

Plan norm_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  params.must_be("mode", "forward");
  const Steady run = between_events(gpu, timed(params, params.word("op"), gpu));
  return {run.scenario, Quantity::Time, run.seconds, gpu.sms()};
}

}  // namespace wavetail::study
