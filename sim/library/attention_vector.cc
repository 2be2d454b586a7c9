// SPDX-License-Identifier: Apache-2.0
// attention without tensor cores, decode: one query token per sequence reads the whole cache. The
// cache of a (sequence, KV head) is split over several blocks so that all SMs take part (split-KV);
// the query heads that share a KV head share one pass over it (GQA). A second kernel, NAME.combine,
// merges the partial results of the splits.
#include <algorithm>

#include <fmt/format.h>

#include "library/attention.h"

namespace wavetail::library::attention {

namespace {

constexpr std::int64_t kWarps = 4;        // per block
constexpr std::int64_t kBlocksPerSm = 2;  // that the choice of splits aims at
constexpr std::int64_t kMostLoads = 8;    // of K, and as many of V, in flight per warp

struct VectorPlan {
  std::int64_t batch = 0, q_heads = 0, kv_heads = 0, dim = 0, length = 0;
  std::int64_t group = 0;   // query heads that share a pass over the cache
  std::int64_t passes = 1;  // over a KV head's cache: all of its query heads / group
  std::string dtype;
  std::int64_t row = 0;                // bytes of a token's key in one head
  std::int64_t width = 0;              // bytes per lane of a K or V load
  std::int64_t tokens_per_load = 0;    // of a warp
  std::int64_t splits = 1, chunk = 0;  // blocks per (sequence, KV head), tokens per block
  std::int64_t loads = 0;              // of K per warp
};

// As many splits as keep kBlocksPerSm blocks on every SM in one wave, in chunks of whole warp
// loads.
void choose_splits(VectorPlan& p, std::int64_t wanted, std::int64_t sms) {
  const std::int64_t step = kWarps * p.tokens_per_load;
  const std::int64_t room = std::max<std::int64_t>(1, sms * kBlocksPerSm / (p.batch * p.kv_heads));
  const std::int64_t splits = wanted > 0 ? wanted : std::min(room, ceil_div(p.length, step));
  p.chunk = round_up(ceil_div(p.length, splits), step);
  p.splits = ceil_div(p.length, p.chunk);
  p.loads = p.chunk / step;
}

std::vector<Mistake> plan(const Values& v, const gpu::GpuSpec& gpu, VectorPlan& p) {
  p = {.batch = v.number("batch"),
       .q_heads = v.number("q_heads"),
       .kv_heads = v.number("kv_heads"),
       .dim = v.number("head_dim"),
       .length = v.number("kv_len"),
       .dtype = v.word("dtype")};
  if (p.q_heads % p.kv_heads != 0) {
    return {{"q_heads",
             fmt::format("is {}; a multiple of the {} KV heads is needed", p.q_heads, p.kv_heads)}};
  }
  p.group = p.q_heads / p.kv_heads;
  if (v.has("packed") && !v.flag("packed")) {  // a block per query head, which reads all keys
    p.passes = p.group;
    p.group = 1;
  }
  p.row = p.dim * dtype_bytes(p.dtype);
  p.width = std::min<std::int64_t>(
      16, p.row / gpu.sm.warp_size >= 16 ? 16 : std::max<std::int64_t>(p.row / 4, 1));
  const std::int64_t request = gpu.sm.warp_size * p.width;
  if (p.dim % 32 != 0 || request % p.row != 0) {
    return {{"head_dim",
             fmt::format("is {}; 32, 64, 128 or 256 fit whole tokens into a warp load", p.dim)}};
  }
  p.tokens_per_load = request / p.row;
  choose_splits(p, p.passes > 1 ? 1 : v.number_or("splits", 0), gpu.sms());
  return {};
}

// Scores of one batch of K loads, or the weighted sum of one of V: unpacking, a product per query
// head of the group, and for the scores the sum over the lanes of a token.
void multiply(Listing& code, const VectorPlan& p, std::int64_t loads, bool scores,
              const gpu::GpuSpec& gpu) {
  const std::int64_t elements = loads * p.width / dtype_bytes(p.dtype);
  code.unpack(p.dtype, elements);
  code.fp32(elements * p.group, 2 * p.group, 2);
  if (scores) {
    code.shuffle_sum(gpu.sm.warp_size / p.tokens_per_load, loads * p.group);
    code.fp32(2 * loads * p.group, loads * p.group, 1);  // running maximum, rescaling
    code.arithmetic(kernel::Pipe::Sfu, loads * p.group, loads * p.group, 1);
  }
}

// One trip of a warp: its keys and values are asked for together; the scores need the keys only.
Listing tile(const VectorPlan& p, std::int64_t loads, std::int64_t done, const gpu::GpuSpec& gpu) {
  const std::int64_t head = p.length * p.row, request = gpu.sm.warp_size * p.width;
  Access keys{.array = 1,
              .width = p.width,
              .count = loads,
              .strides = {.block_x = p.passes > 1 ? 0 : p.chunk * p.row,
                          .block_y = head,
                          .block_z = p.kv_heads * head,
                          .warp = p.chunk / kWarps * p.row,
                          .count = request,
                          .loop = {kMostLoads * request}},
              .offset = done * request,
              .streaming = true};
  Listing code;
  code.load(keys);
  keys.array = 2;
  code.load(keys);
  code.loop_step(2);
  code.wait(loads);
  multiply(code, p, loads, true, gpu);
  code.wait(0);
  multiply(code, p, loads, false, gpu);
  return code;
}

// The block's part of the result, FP32 before a merge: `bytes` per block, contiguous, spread over
// its warps.
void store_result(Listing& code, std::int64_t bytes, const VectorPlan& p, const gpu::GpuSpec& gpu) {
  const std::int64_t per_warp = bytes / kWarps;
  const std::int64_t width = std::clamp<std::int64_t>(per_warp / gpu.sm.warp_size, 1, 16);
  const std::int64_t count = ceil_div(per_warp, width * gpu.sm.warp_size);
  code.store({.array = 3,
              .width = width,
              .count = count,
              .strides = {.block_x = bytes,
                          .block_y = p.splits * p.passes * bytes,
                          .block_z = p.kv_heads * p.splits * p.passes * bytes,
                          .warp = per_warp,
                          .count = width * gpu.sm.warp_size},
              .lanes = static_cast<int>(std::min(gpu.sm.warp_size, per_warp / width))});
}

kernel::Kernel split_kernel(const Values& v, const VectorPlan& p, const gpu::GpuSpec& gpu) {
  const std::int64_t q_row = p.q_heads * p.row, q_group = p.group * p.row;
  Listing code;
  code.prologue(4);
  code.load({.array = 0,
             .width = 4,
             .strides = {.block_z = 4},
             .broadcast = true});  // the sequence's length
  code.wait(0);
  code.load({.array = 4,
             .width = p.width,
             .count = std::max<std::int64_t>(1, q_group / (p.width * gpu.sm.warp_size)),
             .strides = {.block_x = p.passes > 1 ? q_group : 0,
                         .block_y = p.passes * q_group,
                         .block_z = q_row,
                         .count = p.width * gpu.sm.warp_size},
             .lanes = static_cast<int>(std::min(gpu.sm.warp_size, q_group / p.width))});
  code.repeat(p.loads / kMostLoads, tile(p, kMostLoads, 0, gpu));
  if (p.loads % kMostLoads != 0) {
    code.repeat(1, tile(p, p.loads % kMostLoads, p.loads / kMostLoads * kMostLoads, gpu));
  }
  // The warps of the block merge their maxima, sums and accumulators.
  code.barrier();
  const std::int64_t each = p.group * p.width / dtype_bytes(p.dtype);
  code.arithmetic(kernel::Pipe::Sfu, p.group, p.group, 1);
  code.fp32(each * kWarps, each, 2);
  const int element = p.splits > 1 ? 4 : dtype_bytes(p.dtype);
  store_result(code, p.group * p.dim * element, p, gpu);

  const std::int64_t registers = std::min<std::int64_t>(
      round_up(32 + std::min(p.loads, kMostLoads) * p.width / 2 + 2 * each, 8),
      gpu.sm.max_registers_per_thread);
  kernel::Kernel k = plain_kernel(gpu, {p.splits * p.passes, p.kv_heads, p.batch},
                                  kWarps * gpu.sm.warp_size, registers, std::move(code));
  const unit::Bytes cache{p.batch * p.kv_heads * p.length * p.row};
  const std::int64_t result = p.batch * p.q_heads * p.splits * p.dim * element;
  k.arrays = {{".lengths", unit::Bytes{round_up(4 * p.batch, 32)}, false},
              {v.array("keys"), cache, v.flag("fresh")},
              {v.array("values"), cache, v.flag("fresh")},
              {p.splits > 1 ? std::string(".partials") : v.array("y"), unit::Bytes{result}, false},
              {v.array("x"), unit::Bytes{p.batch * q_row}, false}};
  k.compulsory_read = unit::Bytes{2 * cache.count() + p.batch * q_row};
  k.compulsory_write = unit::Bytes{result};
  k.flops = 4.0 * static_cast<double>(p.batch * p.q_heads * p.length * p.dim);
  k.note = fmt::format(
      "{} splits of {} tokens, {} blocks; {} query heads share a pass over the cache", p.splits,
      p.chunk, p.splits * p.passes * p.kv_heads * p.batch, p.group);
  return k;
}

// A block per query head; its warps share the splits, each reading whole rows of partial results.
kernel::Kernel merge_kernel(const Values& v, const VectorPlan& p, const gpu::GpuSpec& gpu) {
  const std::int64_t head = p.dim * 4, width = std::min<std::int64_t>(16, head / gpu.sm.warp_size);
  const std::int64_t loads_per_head = head / (width * gpu.sm.warp_size);
  const std::int64_t rounds = ceil_div(p.splits, kWarps), split = p.group * head;
  Listing code;
  code.prologue(2);
  for (std::int64_t part = 0; part < loads_per_head; ++part) {
    code.load({.array = 0,
               .width = width,
               .count = rounds,
               .strides = {.block_x = head,
                           .block_y = p.splits * split,
                           .block_z = p.kv_heads * p.splits * split,
                           .warp = split,
                           .count = kWarps * split},
               .offset = part * width * gpu.sm.warp_size});
  }
  code.wait(0);
  code.arithmetic(kernel::Pipe::Sfu, rounds, rounds, 1);
  code.fp32(rounds * loads_per_head * width / 4, width / 4, 2);
  code.barrier();
  code.fp32(kWarps, 1, 1);
  code.pack(p.dtype, 1);
  const std::int64_t out_head = p.row, per_warp = out_head / kWarps;
  const std::int64_t out_width = std::max<std::int64_t>(per_warp / gpu.sm.warp_size,
                                                        dtype_bytes(p.dtype));
  code.store({.array = 1,
              .width = out_width,
              .strides = {.block_x = out_head,
                          .block_y = p.group * out_head,
                          .block_z = p.q_heads * out_head,
                          .warp = per_warp},
              .lanes = static_cast<int>(std::min(gpu.sm.warp_size, per_warp / out_width))});
  kernel::Kernel k = plain_kernel(
      gpu, {p.group, p.kv_heads, p.batch}, kWarps * gpu.sm.warp_size,
      std::min<std::int64_t>(round_up(24 + rounds * loads_per_head * width / 4, 8), 128),
      std::move(code));
  k.name = "combine";
  const std::int64_t partials = p.batch * p.q_heads * p.splits * head;
  k.arrays = {{".partials", unit::Bytes{partials}, false},
              {v.array("y"), unit::Bytes{p.batch * p.q_heads * p.row}, false}};
  k.compulsory_read = unit::Bytes{partials};
  k.compulsory_write = unit::Bytes{p.batch * p.q_heads * p.row};
  k.flops = 2.0 * static_cast<double>(p.batch * p.q_heads * p.splits * p.dim);
  k.note = fmt::format("merges {} splits per query head", p.splits);
  return k;
}

}  // namespace

std::vector<Mistake> vector_kernels(const Values& v, const gpu::GpuSpec& gpu,
                                    std::vector<kernel::Kernel>& out) {
  VectorPlan p;
  if (auto mistakes = plan(v, gpu, p); !mistakes.empty()) { return mistakes; }
  out.push_back(split_kernel(v, p, gpu));
  if (p.splits > 1) { out.push_back(merge_kernel(v, p, gpu)); }
  return {};
}

}  // namespace wavetail::library::attention
