// SPDX-License-Identifier: Apache-2.0
// Attention of libraries as tables of operators have it: a CUDA graph of one operation, replayed a
// few times back to back, on a cache of pages of 64 tokens (github ai-dynamo/aiconfigurator,
// collectors of vLLM, SGLang and TensorRT-LLM).
#include <array>

#include "study/protocols/all.h"
#include "study/protocols/attention.h"

namespace wavetail::study {

namespace {

constexpr std::int64_t kPage = 64;  // tokens

// Head sizes other than 128 come mostly from TensorRT-LLM. Its kernels (XQA) take groups of 2 to 32
// query heads per KV head; for others a block per query head goes through the cache.
constexpr std::int64_t kMostPacked = 32;

Attention read_heads(Params& params, bool decode) {
  Attention a;
  a.decode = decode;
  a.batch = params.count("batch");
  a.q_heads = params.count("q_heads");
  a.kv_heads = params.count("kv_heads");
  a.dim = a.dim_v = params.count("head_dim");
  return a;
}

// The attention kernel of a framework, as the row names it.
std::string read_framework(Params& params) {
  const std::string name = params.one_of(
      "kernel",
      std::array<std::string_view, 3>{"vllm_flash_attn_fa3", "vllm_flash_attn", "torch_flow"});
  return name == "vllm_flash_attn" ? "fa2" : "";
}

}  // namespace

Plan library_prefill_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  Attention a = read_heads(params, false);
  a.length = params.count("seqlen");
  a.prefix = params.count("kv_prefix", 0);
  a.causal = params.count("causal", 0) != 0;
  a.page = kPage;
  a.varlen = a.dim != 64;
  return attention_plan(a, gpu);
}

Plan library_decode_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  Attention a = read_heads(params, true);
  a.length = params.count("kv_len");
  a.page = kPage;
  a.varlen = a.dim != 64;
  const std::int64_t group = a.q_heads / a.kv_heads;
  if (a.dim != 128 && (group == 1 || group > kMostPacked)) {
    a.kernel = "xqa";
    a.packed = false;
    a.varlen = false;
  }
  return attention_plan(a, gpu);
}

Plan framework_prefill_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  Attention a = read_heads(params, false);
  a.length = params.count("seqlen");
  a.causal = params.count("causal", 0) != 0;
  a.kernel = read_framework(params);
  a.page = kPage;
  a.varlen = a.dim != 64;
  return attention_plan(a, gpu);
}

Plan framework_decode_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  Attention a = read_heads(params, true);
  a.length = params.count("kv_len");
  a.kernel = read_framework(params);
  a.page = kPage;
  a.varlen = a.dim != 64;
  return attention_plan(a, gpu);
}

}  // namespace wavetail::study
