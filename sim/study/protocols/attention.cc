// SPDX-License-Identifier: Apache-2.0
// Attention of libraries as tables of operators have it: a CUDA graph of one operation, replayed a
// few times back to back, on a cache of pages of 64 tokens (github ai-dynamo/aiconfigurator,
// collectors of vLLM, SGLang and TensorRT-LLM).
#include <array>

#include "isa/availability.h"
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

// TensorRT-LLM has its own kernel for prompts before Blackwell: query heads are not packed, no
// scores are made ahead of a softmax, and the kernel in front rotates the queries, too.
void tensorrt_llm(const gpu::GpuSpec& gpu, Attention& a) {
  a.rotates = true;
  if (!a.decode && !isa::lacks("wgmma", gpu.architecture)) { a.overlap = a.packed = false; }
}

// The attention kernel of a framework, as the row names it.
void read_framework(Params& params, const gpu::GpuSpec& gpu, Attention& a) {
  const std::string name = params.one_of(
      "kernel",
      std::array<std::string_view, 3>{"vllm_flash_attn_fa3", "vllm_flash_attn", "torch_flow"});
  if (name == "vllm_flash_attn") { a.kernel = "fa2"; }
  if (name == "torch_flow") { tensorrt_llm(gpu, a); }
}

// With one token per sequence FlashAttention-2 has a decode step's tiles.
void one_token(Attention& a) {
  if (a.length > 1 || a.kernel != "fa2") { return; }
  a.decode = true;
  a.length += a.prefix;
  a.prefix = 0;
}

std::string kernel_of(const gpu::GpuSpec& gpu) {
  return isa::lacks("wgmma", gpu.architecture) && isa::lacks("tcgen05_mma", gpu.architecture)
             ? "fa2"
             : "";
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
  a.kernel = kernel_of(gpu);
  one_token(a);
  if (a.dim == 64) { tensorrt_llm(gpu, a); }  // as in decode, its collections prevail
  return attention_plan(a, gpu);
}

Plan library_decode_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  Attention a = read_heads(params, true);
  a.length = params.count("kv_len");
  a.page = kPage;
  a.varlen = a.dim != 64;
  a.lean = a.dim == 64;
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
  read_framework(params, gpu, a);
  a.page = kPage;
  a.varlen = a.dim != 64;
  return attention_plan(a, gpu);
}

Plan framework_decode_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time"});
  Attention a = read_heads(params, true);
  a.length = params.count("kv_len");
  read_framework(params, gpu, a);
  a.page = kPage;
  a.varlen = a.dim != 64;
  return attention_plan(a, gpu);
}

}  // namespace wavetail::study
