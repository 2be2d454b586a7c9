// SPDX-License-Identifier: Apache-2.0
// Fused attention: the plan of such kernels, and what their programs are made of. Rows are queries
// of one head, or, packed, of all query heads that share a KV head: row r is query r / pack, head
// r % pack. Tensors lie head by head: Q and O [sequence][KV head][query][head of the group][dim],
// K and V [sequence][KV head][token][dim].
//
//                prefill                                        decode
//   blockIdx.x   KV head within a section, or, where rows are   sequence and KV head
//                not packed, query head of the group
//   blockIdx.y   tile of rows, the last first: it attends to    query head of the group, or,
//   packed,
//                most keys, and what is long goes first          tile of rows
//   blockIdx.z   section: KV heads (of all sequences) whose     split of the keys
//                keys and values L2 holds at once
//
//   attention.cc           the template's parameters, parameters to a plan
//   attention_parts.cc     softmax, loops over blocks of keys, results, the combine kernel
//   attention_wgmma.cc     TMA or a page gather, wgmma: FlashAttention-3's forward
//   attention_mma.cc       cp.async and mma.sync: FlashAttention-2's forward and split-KV
//   attention_tcgen05.cc  TMA, tcgen05 and tensor memory: FlashAttention-4's forward
//   attention_latent.cc    decode over a latent cache (MLA): FlashMLA
//   attention_backward.cc  the backward pass
//   attention_vector.cc    decode without tensor cores
#pragma once

#include <string>
#include <vector>

#include "library/parts.h"

namespace wavetail::library::attention {

enum class Engine : std::uint8_t { Vector, Mma, Wgmma, Tcgen05 };

struct Shape {
  std::int64_t batch = 1, q_heads = 1, kv_heads = 1;
  std::int64_t dim = 128, dim_v = 128;  // of Q and K, of V and O
  std::int64_t queries = 1, keys = 1;   // per sequence
  std::int64_t prefix = 0;              // keys before the first query's own
  bool causal = false;
  bool decode = false, backward = false;
  std::int64_t page = 0;  // tokens of a page of the cache; 0: a sequence's cache is contiguous
  kernel::TensorType type = kernel::TensorType::Bf16;
  std::string dtype = "bf16";
  int element = 2, out_element = 2;  // bytes
  bool fresh = false;
  bool varlen = false;  // sequences differ in length: a block looks for its tile
  bool latent = false;  // values are the first dim_v elements of the keys (MLA)

  [[nodiscard]] std::int64_t group() const { return q_heads / kv_heads; }
};

struct Plan {
  Shape shape;
  Engine engine = Engine::Wgmma;
  std::int64_t pack = 1;                // query heads that are rows of one tile
  std::int64_t rows = 128, cols = 128;  // of a tile of scores: queries, keys
  std::int64_t warps = 8;               // that multiply
  std::int64_t key_warps = 1;           // fa2, decode: warps that share out the keys of a tile
  std::int64_t stages = 2;              // of K, and as many of V
  std::int64_t splits = 1;              // of a sequence's keys
  bool overlap = true;                  // fa3: the next scores are under way during a softmax
  bool specialised = true;              // fa3: warps of their own fill the rings
  bool skips = true;                    // causal: blocks of keys that are masked out are left out
  std::int64_t tiles = 1;               // per sequence and head (or packed group)
  std::int64_t section = 1;             // KV heads that are worked on together (prefill)
  std::int64_t steps = 1;               // blocks of keys of the longest tile or split
  std::int64_t masked = 0;              // of them, at the end of each tile, with a mask to apply

  // Elements of a tile's scores and of its result per thread of the multiplying warps.
  [[nodiscard]] std::int64_t scores() const { return rows * cols / (warps * 32); }

  [[nodiscard]] std::int64_t results() const {
    return rows * shape.dim_v * key_warps / (warps * 32);
  }

  [[nodiscard]] std::int64_t k_row() const { return shape.dim * shape.element; }

  [[nodiscard]] std::int64_t v_row() const { return shape.dim_v * shape.element; }

  // Bytes of a row of the result, FP32 before a combine.
  [[nodiscard]] std::int64_t o_row() const {
    return shape.dim_v * (splits > 1 ? 4 : shape.out_element);
  }

  // Rows of a head, or of a packed group, in all.
  [[nodiscard]] std::int64_t all_rows() const { return shape.queries * pack; }

  [[nodiscard]] kernel::Dim3 grid() const {
    const std::int64_t heads = shape.group() / pack, all = shape.batch * shape.kv_heads;
    if (!shape.decode) { return {heads * section, tiles, all / section}; }
    return {all, heads * tiles, splits};
  }
};

// Rows, columns, warps and stages of tcgen05_kernel(); whether it is there for heads of this size.
void blackwell_tile(Plan& plan, const gpu::GpuSpec& gpu);
[[nodiscard]] bool fits_tcgen05(const Shape& shape);

// Array numbers of all programs but the vector one.
inline constexpr int kQ = 0, kK = 1, kV = 2, kO = 3, kLengths = 4, kPages = 5;

// The trips of a tile's loop over its blocks of keys without the first `skip` of them and, unless
// `masked`, without those at its end that need a mask; with `masked`, these alone.
[[nodiscard]] Listing over_keys(const Plan& plan, std::int64_t skip, bool masked, Listing body);
// All of them.
[[nodiscard]] Listing over_all_keys(const Plan& plan, Listing body);

// The sequence's length, which all else depends on; the pages that hold a block of keys, if any do.
// Where sequences differ in length, a scan over the lengths of all finds the tile's sequence first.
void read_length(Listing& code, const Plan& plan);
void read_pages(Listing& code, const Plan& plan);

// Where a tile's rows of Q, O and its blocks of K or V start.
[[nodiscard]] kernel::Strides row_strides(const Plan& plan, std::int64_t row_bytes);
[[nodiscard]] kernel::Strides key_strides(const Plan& plan, std::int64_t row_bytes);

// One block of scores turned into weights: mask, row maxima over the lanes of a row, exponentials,
// row sums, packing for the second product. `first` block of a tile: there is nothing to rescale.
[[nodiscard]] Listing softmax(const Plan& plan, bool first, bool masked);
// The result so far, times how much the maxima have grown.
[[nodiscard]] Listing rescale(const Plan& plan);
// Row sums over the lanes, the division, packing.
[[nodiscard]] Listing normalise(const Plan& plan);

// Arrays, compulsory bytes, FLOPs and the note; the grid.
void describe(kernel::Kernel& k, const Plan& plan, const Values& v);
[[nodiscard]] kernel::Kernel combine_kernel(const Plan& plan, const Values& v,
                                            const gpu::GpuSpec& gpu);

[[nodiscard]] kernel::Kernel wgmma_kernel(const Plan& plan, const Values& v,
                                          const gpu::GpuSpec& gpu);
[[nodiscard]] kernel::Kernel mma_kernel(const Plan& plan, const Values& v, const gpu::GpuSpec& gpu);
[[nodiscard]] kernel::Kernel tcgen05_kernel(const Plan& plan, const Values& v,
                                            const gpu::GpuSpec& gpu);
[[nodiscard]] kernel::Kernel latent_kernel(const Plan& plan, const Values& v,
                                           const gpu::GpuSpec& gpu);
// In launch order.
[[nodiscard]] std::vector<kernel::Kernel> backward_kernels(const Plan& plan, const Values& v,
                                                           const gpu::GpuSpec& gpu);
// Appends decode without tensor cores.
[[nodiscard]] std::vector<Mistake> vector_kernels(const Values& v, const gpu::GpuSpec& gpu,
                                                  std::vector<kernel::Kernel>& out);

}  // namespace wavetail::library::attention
