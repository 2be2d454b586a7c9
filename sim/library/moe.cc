// SPDX-License-Identifier: Apache-2.0
// moe: the experts of a mixture, as inference frameworks launch them behind their router. Token
// lists are sorted by expert (one block counts and scans, then all sort), rows are made narrow
// where weights are, brought into the experts' order, multiplied by the gate and up weights, passed
// through the activation, multiplied by the down weights, and summed up per token:
//
//   [topk], align, sort, [quantize], permute, up, activate, [quantize], down, combine
//
// (github vllm-project/vllm, fused_moe; NVIDIA/TensorRT-LLM, CutlassFusedMoE). Which expert has how
// many rows is given; a rank of expert parallelism has only some of the experts.
#include <algorithm>

#include <fmt/format.h>

#include "library/all.h"
#include "library/elementwise.h"
#include "library/quantize.h"

namespace wavetail::library {

namespace {

constexpr std::int64_t kThreads = 256, kSorters = 1024, kVector = 8;

struct Mixture {
  std::int64_t tokens = 0, hidden = 0, inter = 0, topk = 0, experts = 0;
  std::vector<std::int64_t> rows;
  std::int64_t routed = 0;  // rows of all experts here
  std::string dtype, scale;

  [[nodiscard]] bool narrow() const { return dtype == "fp8" || dtype == "fp4"; }
};

kernel::Kernel named(kernel::Kernel k, const char* name) {
  k.name = name;
  return k;
}

// A warp per token holds its logits, and finds the largest one after the other.
kernel::Kernel topk_kernel(const Mixture& m, const gpu::GpuSpec& gpu) {
  constexpr std::int64_t kWarps = 4;
  const std::int64_t row = round_up(m.experts * 4, 128), each = ceil_div(m.experts, 32);
  Listing code, round;
  code.prologue(2);
  code.load({.array = 0,
             .width = 4,
             .count = each,
             .strides = {.block_x = kWarps * row, .warp = row, .count = 128}});
  code.wait(0);
  round.fp32(each, 1, 1);
  round.shuffle_sum(32, 2);
  code.repeat(m.topk, std::move(round));
  code.store({.array = 1,
              .width = 8,
              .strides = {.block_x = kWarps * m.topk * 8, .warp = m.topk * 8},
              .lanes = static_cast<int>(std::min<std::int64_t>(32, m.topk))});
  kernel::Kernel k = plain_kernel(gpu, {ceil_div(m.tokens, kWarps), 1, 1}, kWarps * 32, 32,
                                  std::move(code));
  k.arrays = {{".logits", unit::Bytes{round_up(m.tokens * row, 512)}, false},
              {".choice", unit::Bytes{round_up(m.tokens * m.topk * 8, 512)}, false}};
  return named(std::move(k), "topk");
}

// One block counts the choices of all tokens by expert in shared memory and scans the counts.
kernel::Kernel align_kernel(const Mixture& m, const gpu::GpuSpec& gpu) {
  const std::int64_t choices = m.tokens * m.topk, per_trip = kSorters * 4;
  Listing code, count;
  kernel::SharedAccess counters;
  counters.width = 4;
  count.load({.array = 0, .width = 16, .strides = {.warp = 512, .loop = {per_trip * 4}}});
  count.wait(0);
  count.shared_load(counters, 4);
  count.wait_shared(0);
  count.shared_store(counters, 4);
  count.int32(8, 2);
  code.prologue(2);
  code.shared_store(counters, 1);
  code.barrier();
  code.repeat(ceil_div(choices, per_trip), std::move(count));
  code.barrier();
  code.shared_load(counters, 1);
  code.wait_shared(0);
  code.shuffle_sum(32, 1);
  code.barrier();
  code.shuffle_sum(32, 1);
  code.barrier();
  code.store({.array = 1, .width = 4, .strides = {.warp = 128}});
  kernel::Kernel k = plain_kernel(gpu, {1, 1, 1}, kSorters, 32, std::move(code));
  k.shared_memory = unit::Bytes{round_up(m.experts * 4, 1024)};
  k.arrays = {{".choice", unit::Bytes{round_up(choices * 8, 512)}, false},
              {".offsets", unit::Bytes{round_up(m.experts * 4, 4096)}, false}};
  return named(std::move(k), "align");
}

// Every choice finds its place among its expert's.
kernel::Kernel sort_kernel(const Mixture& m, const gpu::GpuSpec& gpu) {
  const std::int64_t choices = m.tokens * m.topk;
  Listing code;
  code.prologue(3);
  code.load({.array = 0, .width = 4, .strides = {.block_x = kThreads * 4, .warp = 128}});
  code.wait(0);
  code.load({.array = 1, .width = 4, .strides = {.block_x = 4}});
  code.wait(0);
  code.int32(4, 1);
  code.store({.array = 2, .width = 4, .strides = {.block_x = kThreads * 4, .warp = 128}});
  kernel::Kernel k = plain_kernel(gpu, {ceil_div(choices, kThreads), 1, 1}, kThreads, 32,
                                  std::move(code));
  k.arrays = {{".choice", unit::Bytes{round_up(choices * 8, 512)}, false},
              {".offsets", unit::Bytes{round_up(m.experts * 4, 4096)}, false},
              {".order", unit::Bytes{round_up(choices * 4, 512)}, false}};
  return named(std::move(k), "sort");
}

kernel::Kernel narrowed(const Mixture& m, std::int64_t elements, const std::string& x,
                        const std::string& y, const char* name, const gpu::GpuSpec& gpu) {
  if (m.scale == "none") {
    return named(pointwise_kernel({.elements = elements,
                                   .inputs = {{x, "bf16", elements}},
                                   .outputs = {{y, "fp8", elements}},
                                   .flops = 3},
                                  gpu),
                 name);
  }
  GroupQuantize q{.elements = elements, .x = x, .y = y, .scales = y + ".scales"};
  if (m.scale != "block") {
    q.group = m.scale == "nv" ? 16 : 32;
    q.scale_bytes = 1;
    q.out_bits = m.dtype == "fp4" ? 4 : 8;
  }
  return named(group_quantize_kernel(q, gpu), name);
}

// A copy of the tokens' rows in the experts' order; FP4 counts as so many bytes.
kernel::Kernel permute_kernel(const Mixture& m, const std::string& x, const gpu::GpuSpec& gpu) {
  const std::string dtype = m.narrow() ? "fp8" : "bf16";
  const std::int64_t row = m.dtype == "fp4" ? m.hidden / 2 : m.hidden;
  const std::int64_t from = std::min(m.tokens, m.routed) * row, to = m.routed * row;
  return named(pointwise_kernel({.elements = to,
                                 .inputs = {{x, dtype, from}},
                                 .outputs = {{".sorted", dtype, to}},
                                 .flops = 0},
                                gpu),
               "permute");
}

std::vector<Mistake> product(const Mixture& m, std::int64_t n, std::int64_t k, const char* name,
                             const std::string& x, const std::string& weights, const std::string& y,
                             const gpu::GpuSpec& gpu, std::vector<kernel::Kernel>& out) {
  Arguments a{.numbers = {{"n", n}, {"k", k}},
              .words = {{"dtype", m.dtype}, {"x", x}, {"weights", weights}, {"y", y}},
              .lists = {{"rows", m.rows}}};
  if (m.narrow()) { a.words.emplace("scale", m.scale); }
  const std::size_t first = out.size();
  auto mistakes = build(*find_template("grouped_gemm"), std::move(a), gpu, out);
  for (std::size_t i = first; i < out.size(); ++i) { out[i].name = name; }
  return mistakes;
}

kernel::Kernel activate_kernel(const Mixture& m, bool gated, const gpu::GpuSpec& gpu) {
  const std::int64_t elements = m.routed * m.inter;
  Pointwise p{.elements = elements,
              .inputs = {{".up", "bf16", elements}},
              .outputs = {{".activated", "bf16", elements}},
              .flops = 4,
              .sfu = gated ? 2 : 0};
  if (gated) { p.inputs.push_back({".up", "bf16", elements, false, elements}); }
  return named(pointwise_kernel(p, gpu), "activate");
}

// A token's rows, scaled and summed up.
kernel::Kernel combine_kernel(const Mixture& m, const std::string& y, const gpu::GpuSpec& gpu) {
  const std::int64_t each = std::max<std::int64_t>(1, ceil_div(m.routed, m.tokens));
  const std::int64_t per_block = kThreads * kVector * 2, row = m.hidden * 2;
  const std::int64_t blocks = ceil_div(m.tokens * m.hidden * 2, per_block);
  Listing code;
  code.prologue(3);
  for (std::int64_t done = 0; done < each; done += 4) {
    const std::int64_t some = std::min<std::int64_t>(4, each - done);
    code.load({.array = 0,
               .width = 16,
               .count = some,
               .strides = {.block_x = per_block, .warp = 512, .count = m.tokens * row},
               .offset = done * m.tokens * row,
               .streaming = true});
    code.wait(0);
    code.unpack("bf16", some * kVector);
    code.fp32(some * kVector, kVector, 2);
  }
  code.pack("bf16", kVector);
  code.store({.array = 1, .width = 16, .strides = {.block_x = per_block, .warp = 512}});
  kernel::Kernel k = plain_kernel(gpu, {blocks, 1, 1}, kThreads, 40, std::move(code));
  k.arrays = {{".down", unit::Bytes{round_up(m.routed * row, 512)}, false},
              {y, unit::Bytes{round_up(m.tokens * row, 512)}, false}};
  k.compulsory_read = unit::Bytes{m.routed * row};
  k.compulsory_write = unit::Bytes{m.tokens * row};
  return named(std::move(k), "combine");
}

std::vector<Mistake> make(const Arguments& arguments, const gpu::GpuSpec& gpu,
                          std::vector<kernel::Kernel>& out) {
  const Values v(arguments);
  Mixture m{v.number("tokens"),
            v.number("hidden"),
            v.number("inter"),
            v.number("topk"),
            v.number("experts"),
            {},
            0,
            v.word("dtype"),
            {}};
  if (const auto rows = arguments.lists.find("rows"); rows != arguments.lists.end()) {
    m.rows = rows->second;
  }
  for (const std::int64_t r : m.rows) { m.routed += r; }
  m.scale = v.has("scale") ? v.word("scale") : m.dtype == "fp4" ? "nv" : "none";
  if (m.routed == 0) { return {{"rows", "has no rows at all"}}; }
  if (m.topk > m.experts) {
    return {{"topk", fmt::format("is {} of {} experts", m.topk, m.experts)}};
  }
  const std::int64_t unit = m.scale == "block" ? 128 : 32;
  for (const char* key : {"hidden", "inter"}) {
    if (v.number(key) % unit != 0) {
      return {{key, fmt::format("is {}; rows of {} need a multiple of {}", v.number(key), m.dtype,
                                unit)}};
    }
  }
  const bool gated = v.flag("gated");
  const std::string x = v.array("x");
  if (v.flag("router")) { out.push_back(topk_kernel(m, gpu)); }
  out.push_back(align_kernel(m, gpu));
  out.push_back(sort_kernel(m, gpu));
  if (m.narrow()) {
    out.push_back(narrowed(m, m.tokens * m.hidden, x, ".narrow", "quantize", gpu));
  }
  out.push_back(permute_kernel(m, m.narrow() ? ".narrow" : x, gpu));
  auto mistakes = product(m, (gated ? 2 : 1) * m.inter, m.hidden, "up", ".sorted",
                          v.array("up_weights"), ".up", gpu, out);
  if (!mistakes.empty()) { return mistakes; }
  out.push_back(activate_kernel(m, gated, gpu));
  if (m.narrow()) {
    out.push_back(narrowed(m, m.routed * m.inter, ".activated", ".narrow2", "quantize2", gpu));
  }
  mistakes = product(m, m.hidden, m.inter, "down", m.narrow() ? ".narrow2" : ".activated",
                     v.array("down_weights"), ".down", gpu, out);
  if (!mistakes.empty()) { return mistakes; }
  out.push_back(combine_kernel(m, v.array("y"), gpu));
  return {};
}

}  // namespace

Template moe_template() {
  constexpr std::int64_t kMost = 1 << 20;
  return {"moe",
          "a mixture's experts: sort, permute, two grouped products, combine",
          {required_count("tokens", 1, kMost, "tokens"),
           required_count("hidden", 32, kMost, "elements of a token"),
           required_count("inter", 32, kMost, "columns of the gate, and of the up weights"),
           required_count("topk", 1, 64, "experts of a token"),
           required_count("experts", 1, 4096, "experts of all ranks"),
           {"rows",
            ParameterKind::Counts,
            true,
            0,
            1 << 24,
            {},
            {},
            "rows of every expert here, 0 where it has none",
            4096},
           {"dtype",
            ParameterKind::Choice,
            false,
            0,
            0,
            "bf16",
            {"bf16", "fp16", "fp8", "fp4"},
            "of weights and what they multiply"},
           {"scale",
            ParameterKind::Choice,
            false,
            0,
            0,
            {},
            {"none", "block", "mx", "nv"},
            "as of gemm"},
           flag_parameter("gated", "true", "the activation multiplies gate and up columns"),
           flag_parameter("router", "false", "a kernel finds the experts of every token first"),
           array_parameter("x", "tokens"),
           array_parameter("up_weights", "gate and up weights"),
           array_parameter("down_weights", "down weights"),
           array_parameter("y", "output")},
          &make,
          {{"tokens", "hidden"}}};
}

}  // namespace wavetail::library
