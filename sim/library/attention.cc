// SPDX-License-Identifier: Apache-2.0
// attention: softmax(Q K^T) V without the scores in memory. Prefill: every query of a prompt, tile
// by tile, forward. Decode: one query per sequence against a cache, whose blocks of keys are split
// over several blocks of the grid where there are too few, with a kernel NAME.combine behind. This
// file holds the parameters and makes the plan: the tile sizes and rules of choice are those of
// FlashAttention-2 and -3 as published (github Dao-AILab/flash-attention).
#include "library/attention.h"

#include <algorithm>
#include <iterator>

#include <fmt/format.h>

#include "isa/availability.h"
#include "isa/tensor.h"
#include "library/all.h"

namespace wavetail::library::attention {

namespace {

using kernel::TensorType;

std::vector<Mistake> read_shape(const Values& v, Shape& s) {
  s.decode = v.word("mode") == "decode";
  s.backward = v.word("mode") == "backward";
  s.batch = v.number("batch");
  s.q_heads = v.number("q_heads");
  s.kv_heads = v.number("kv_heads");
  s.dim = v.number("head_dim");
  s.dim_v = v.number_or("head_dim_v", s.dim);
  s.dtype = v.word("dtype");
  s.element = dtype_bytes(s.dtype);
  s.out_element = std::max(2, s.element);
  s.type = s.dtype == "fp16"  ? TensorType::Fp16
           : s.dtype == "fp8" ? TensorType::Fp8
                              : TensorType::Bf16;
  s.fresh = v.flag("fresh");
  s.page = v.number_or("page", 0);
  s.varlen = v.flag("varlen");
  s.latent = v.flag("latent");
  const char* length = s.decode ? "kv_len" : "seqlen";
  if (!v.has(length)) {
    return {{length, s.decode ? "is missing; decode needs the length of the cache"
                              : "is missing; prefill needs the tokens of the prompt"}};
  }
  if (s.q_heads % s.kv_heads != 0) {
    return {{"q_heads",
             fmt::format("is {}; a multiple of the {} KV heads is needed", s.q_heads, s.kv_heads)}};
  }
  if (s.decode) {
    s.keys = v.number("kv_len");
    return {};
  }
  s.queries = v.number("seqlen");
  s.prefix = v.number_or("kv_prefix", 0);
  s.causal = v.flag("causal");
  s.keys = s.prefix + s.queries;
  return {};
}

std::vector<Mistake> choose_engine(const Values& v, const gpu::GpuSpec& gpu, Plan& p) {
  const Shape& s = p.shape;
  const bool wgmma = !isa::lacks("wgmma", gpu.architecture) &&
                     isa::tensor_rate(gpu.tensor, s.type) > 0;
  const bool mma = !isa::lacks("mma", gpu.architecture) &&
                   !isa::lacks("cp_async", gpu.architecture) &&
                   isa::tensor_rate(gpu.tensor, s.type) > 0;
  const bool tensor = s.dtype != "fp32";
  const bool tcgen05 = !isa::lacks("tcgen05_mma", gpu.architecture) && fits_tcgen05(s) &&
                       !s.backward;
  const std::string way = v.has("kernel")                   ? v.word("kernel")
                          : tensor && wgmma                 ? "fa3"
                          : tensor && tcgen05               ? "fa4"
                          : tensor && mma && s.element == 2 ? "fa2"
                                                            : "vector";
  p.engine = way == "fa3"                   ? Engine::Wgmma
             : way == "fa4"                 ? Engine::Tcgen05
             : way == "fa2" || way == "xqa" ? Engine::Mma
                                            : Engine::Vector;
  if (way == "xqa" && !s.decode) {
    return {{"kernel", "is xqa; it is there in decode only: fa2, fa3"}};
  }
  if (p.engine == Engine::Vector) {
    if (s.decode) { return {}; }
    return {{v.has("kernel") ? "kernel" : "mode",
             fmt::format("is {}; without tensor cores there is decode only",
                         v.has("kernel") ? way : "prefill")}};
  }
  const char* needed = p.engine == Engine::Wgmma     ? "wgmma"
                       : p.engine == Engine::Tcgen05 ? "tcgen05_mma"
                                                     : "cp_async";
  if (const auto why = isa::lacks(needed, gpu.architecture)) {
    return {{"kernel", fmt::format("is {}; {}", way, *why)}};
  }
  if (!tensor || (p.engine == Engine::Mma && s.element != 2)) {
    return {{"dtype", fmt::format("is {}; {} multiplies bf16 or fp16{}", s.dtype, way,
                                  p.engine == Engine::Mma ? "" : " or fp8")}};
  }
  if (s.dim % 16 != 0 || s.dim_v % 16 != 0) {
    return {{"head_dim", fmt::format("is {}; tensor instructions need a multiple of 16",
                                     s.dim % 16 != 0 ? s.dim : s.dim_v)}};
  }
  if (p.engine == Engine::Tcgen05 && (s.backward || !fits_tcgen05(s))) {
    return {
        {s.backward ? "mode" : "head_dim",
         "is not there with fa4, which has forward passes with heads up to 256, in decode 512"}};
  }
  return {};
}

// hopper/tile_size.h: rows and columns by head size.
void hopper_tile(Plan& p) {
  const Shape& s = p.shape;
  const bool gathered = s.page > 0;
  const std::int64_t d = std::max(s.dim, s.dim_v);
  if (s.element == 1) {
    p.rows = d <= 96 ? 192 : 128;
    p.cols = d <= 64    ? 160
             : d <= 96  ? 128
             : d <= 128 ? (gathered ? 160 : 224)
             : d <= 192 ? 160
                        : 128;
  } else {
    p.rows = d <= 96 ? 192 : 128;
    p.cols = d <= 64    ? (s.causal || gathered ? 128 : 192)
             : d <= 96  ? (gathered ? 128 : 144)
             : d <= 128 ? (s.causal || gathered ? 128 : 176)
             : d <= 192 ? (gathered         ? 96
                           : s.dim_v <= 128 ? 128
                                            : 112)
                        : (gathered ? 64 : 80);
  }
  if (d > 256) {  // large heads: one tile of 64 rows, shared memory holds few keys
    p.rows = 64;
    p.cols = 32;
  }
  p.warps = p.rows / 16;
}

// kernel_traits of the A100: one or two blocks per SM; split-KV, which reads pages, too, has tiles
// of 64 rows.
void ampere_tile(Plan& p) {
  const std::int64_t d = std::max(p.shape.dim, p.shape.dim_v);
  p.stages = 1;
  if (p.shape.decode || p.shape.page > 0) {  // pages are read by the split-KV kernel alone
    p.rows = 64;
    p.cols = d <= 64 ? 256 : d <= 128 ? 128 : 64;
    p.warps = 4;
    return;
  }
  p.rows = 128;
  p.cols = d <= 64 ? 128 : 64;
  p.warps = d <= 128 ? 4 : 8;
  if (d > 256) {
    p.rows = 64;
    p.cols = 32;
    p.warps = 4;
  }
}

// As many splits as fill the SMs to within 85 % of the best, none where tiles fill 80 % of them or
// (FlashAttention-3) a sequence has at most four blocks of keys.
std::int64_t choose_splits(const Plan& p, std::int64_t blocks, std::int64_t sms) {
  const std::int64_t all = ceil_div(p.shape.keys, p.cols);
  if (p.engine == Engine::Mma) { sms *= 2; }
  if (5 * blocks >= 4 * sms) { return 1; }
  if (p.engine == Engine::Wgmma && all <= 4) { return 1; }
  const std::int64_t most = std::min<std::int64_t>({128, sms, all});
  const auto efficiency = [&](std::int64_t n) {
    const double waves = static_cast<double>(blocks * n) / static_cast<double>(sms);
    return waves / static_cast<double>(ceil_div(blocks * n, sms));
  };
  const auto eligible = [&](std::int64_t n) {  // else a split more changes nothing
    return n == 1 || ceil_div(all, n) != ceil_div(all, n - 1);
  };
  double best = 0;
  for (std::int64_t n = 1; n <= most; ++n) {
    if (eligible(n)) { best = std::max(best, efficiency(n)); }
  }
  for (std::int64_t n = 1; n <= most; ++n) {
    if (eligible(n) && efficiency(n) >= 0.85 * best) { return n; }
  }
  return 1;
}

// KV heads whose keys and values 32 MB hold, as FlashAttention-3's scheduler forms sections; here a
// number that divides all of them. Where rows are not packed, the query heads of a KV head.
std::int64_t choose_section(const Plan& p, const gpu::GpuSpec& gpu) {
  const std::int64_t all = p.shape.batch * p.shape.kv_heads;
  if (p.pack != p.shape.group() || p.engine == Engine::Mma) { return 1; }
  const std::int64_t bytes = p.shape.keys * (p.k_row() + p.v_row());
  std::int64_t n = std::clamp<std::int64_t>(gpu.l2.capacity.count() * 5 / 8 / bytes, 1, all);
  while (all % n != 0) { --n; }
  return n;
}

void count_steps(const Values& v, const gpu::GpuSpec& gpu, Plan& p) {
  const Shape& s = p.shape;
  const bool wanted = v.has("packed") ? v.flag("packed") : p.engine != Engine::Mma || s.decode;
  p.pack = wanted ? s.group() : 1;
  if (p.engine == Engine::Tcgen05) { blackwell_tile(p, gpu); }
  if (v.has("kernel") && v.word("kernel") == "xqa") {  // a tile of few rows for all warps
    p.rows = std::min<std::int64_t>(64, round_up(p.pack, 16));
    p.key_warps = p.warps;
  }
  p.tiles = ceil_div(p.all_rows(), p.rows);
  const std::int64_t all = ceil_div(s.keys, p.cols);
  p.steps = all;
  if (s.decode) {
    const std::int64_t blocks = s.batch * s.kv_heads * (s.group() / p.pack) * p.tiles;
    p.splits = v.has("splits") ? std::min(v.number("splits"), all)
                               : choose_splits(p, blocks, gpu.sms());
    p.steps = ceil_div(all, p.splits);
    p.splits = ceil_div(all, p.steps);
  }
  p.section = choose_section(p, gpu);
  p.skips = !s.causal || v.flag("skip_masked");
  const auto among = [&](std::int64_t n) { return std::min(n, p.steps); };
  if (!s.causal || s.decode) {
    p.masked = s.keys % p.cols != 0 ? 1 : 0;
  } else if (!p.skips) {
    p.masked = p.steps;
  } else {
    const bool aligned = p.rows % (p.pack * p.cols) == 0 && s.prefix % p.cols == 0;
    p.masked = among(ceil_div(p.rows, p.pack * p.cols) + (aligned ? 0 : 1));
  }
}

std::vector<Mistake> check_latent(const Plan& p) {
  const Shape& s = p.shape;
  if (!s.decode || p.engine != Engine::Wgmma) {
    return {{"latent", "is true; a latent cache is there in decode with fa3"}};
  }
  if (s.dim_v > s.dim || s.dim_v > 512 || s.dim > 576 || s.dim_v % 64 != 0 || s.dim % 64 != 0) {
    return {{"head_dim", fmt::format("is {} with {} of V; a latent cache has up to 576 and 512, "
                                     "multiples of 64",
                                     s.dim, s.dim_v)}};
  }
  return {};
}

std::vector<Mistake> check_backward(const Shape& s) {
  if (s.element != 2) {
    return {{"dtype", fmt::format("is {}; a backward pass has bf16 or fp16", s.dtype)}};
  }
  if (s.dim != s.dim_v || (s.dim != 64 && s.dim != 128)) {
    return {{"head_dim", fmt::format("is {}; backward has 64 or 128, the same for V", s.dim)}};
  }
  if (s.group() != 1 || s.prefix != 0) {
    return {{s.group() != 1 ? "kv_heads" : "kv_prefix",
             "is stated; a backward pass has as many KV heads as query heads and no prefix"}};
  }
  return {};
}

std::vector<Mistake> make(const Arguments& arguments, const gpu::GpuSpec& gpu,
                          std::vector<kernel::Kernel>& out) {
  const Values v(arguments);
  Plan p;
  if (auto m = read_shape(v, p.shape); !m.empty()) { return m; }
  if (auto m = choose_engine(v, gpu, p); !m.empty()) { return m; }
  if (p.engine == Engine::Vector) { return vector_kernels(v, gpu, out); }
  p.overlap = v.flag("overlap");
  p.specialised = v.flag("specialised");
  if (!p.specialised && p.shape.page > 0) {
    return {{"specialised", "is false; pages are gathered by warps of their own: true"}};
  }
  if (p.shape.backward) {
    if (auto m = check_backward(p.shape); !m.empty()) { return m; }
    p.warps = 8;
    for (kernel::Kernel& k : backward_kernels(p, v, gpu)) { out.push_back(std::move(k)); }
    return {};
  }
  if (p.engine == Engine::Wgmma) { hopper_tile(p); }
  if (p.engine == Engine::Mma) { ampere_tile(p); }
  if (p.shape.latent) {
    if (auto m = check_latent(p); !m.empty()) { return m; }
    p.rows = 64;
    p.cols = 128;
    p.warps = 8;
  }
  count_steps(v, gpu, p);
  out.push_back(p.shape.latent                ? latent_kernel(p, v, gpu)
                : p.engine == Engine::Wgmma   ? wgmma_kernel(p, v, gpu)
                : p.engine == Engine::Tcgen05 ? tcgen05_kernel(p, v, gpu)
                                              : mma_kernel(p, v, gpu));
  if (p.splits > 1) { out.push_back(combine_kernel(p, v, gpu)); }
  return {};
}

}  // namespace

}  // namespace wavetail::library::attention

namespace wavetail::library {

namespace {

constexpr std::int64_t kTokens = std::int64_t{1} << 31;

std::vector<Parameter> shape_parameters() {
  return {
      {"mode",
       ParameterKind::Choice,
       true,
       0,
       0,
       {},
       {"decode", "prefill", "backward"},
       "decode: one query token per sequence; prefill: a prompt's; backward: the gradients of a "
       "prompt's, with NAME.delta in front and NAME.convert behind"},
      count_parameter("batch", 1, 65535, "1", "sequences"),
      required_count("q_heads", 1, 1024, "query heads"),
      required_count("kv_heads", 1, 1024, "KV heads"),
      count_parameter("head_dim", 32, 1024, "128", "elements per head of Q and K"),
      count_parameter("head_dim_v", 32, 1024, {}, "of V and the result; head_dim if absent"),
      count_parameter("kv_len", 1, kTokens, {}, "tokens in the cache (decode)"),
      count_parameter("seqlen", 1, kTokens, {}, "tokens of the prompt (prefill)"),
      count_parameter("kv_prefix", 0, kTokens, "0",
                      "tokens in the cache before the prompt's (prefill in chunks)")};
}

std::vector<Parameter> way_parameters() {
  return {
      flag_parameter("causal", "true", "a token sees the ones before it (prefill)"),
      flag_parameter("skip_masked", "true",
                     "blocks of keys that causality masks out are left out, not computed"),
      dtype_parameter(),
      {"kernel",
       ParameterKind::Choice,
       false,
       0,
       0,
       {},
       {"fa4", "fa3", "fa2", "xqa", "vector"},
       "fa4: TMA, tcgen05 and tensor memory; fa3: TMA and wgmma; fa2: cp.async and mma.sync; xqa: "
       "the same with a tile of few rows, "
       "whose "
       "warps share out the keys; vector: plain loads and FMAs (both decode only); fa4, fa3 or "
       "fa2, as "
       "GPU "
       "and dtype have it, if absent"},
      flag_parameter(
          "overlap", "true",
          "fa3: the next scores are under way during a softmax, and warpgroups take turns"),
      flag_parameter("specialised", "true",
                     "fa3: warps of their own fetch K and V; else a multiplying warp does"),
      flag_parameter(
          "packed", {},
          "query heads that share a KV head are rows of one tile; with fa3 and in decode "
          "if absent; vector: unpacked ones are not split"),
      flag_parameter("varlen", "false",
                     "sequences differ in length (here they are alike): a block scans the lengths "
                     "for its tile"),
      flag_parameter("latent", "false",
                     "values are the first head_dim_v elements of the keys, which are all there is "
                     "in the cache (MLA, decode)"),
      count_parameter("page", 1, kTokens, {},
                      "tokens of a page of the cache; the cache is contiguous if absent"),
      count_parameter("splits", 1, 1 << 16, {},
                      "blocks per sequence and KV head (decode); as the library chooses if absent"),
      flag_parameter("fresh", "false",
                     "every launch reads a cache of its own, as successive layers do"),
      array_parameter("x", "queries"),
      array_parameter("y", "output"),
      array_parameter("keys", "cached keys"),
      array_parameter("values", "cached values")};
}

}  // namespace

Template attention_template() {
  std::vector<Parameter> parameters = shape_parameters(), ways = way_parameters();
  std::move(ways.begin(), ways.end(), std::back_inserter(parameters));
  return {
      "attention",
      "fused attention: the queries of a prompt (prefill), or one per sequence against a KV cache, "
      "split over blocks, with a kernel NAME.combine that merges the splits (decode)",
      std::move(parameters),
      &attention::make,
      {{"batch", "kv_heads", "kv_len", "head_dim"},
       {"batch", "q_heads", "head_dim", "splits"},
       {"batch", "q_heads", "seqlen", "head_dim"}}};
}

}  // namespace wavetail::library
