// SPDX-License-Identifier: Apache-2.0
// The Blackwell way: one warp has the TMA fill a ring of stages, one thread multiplies out of it
// into tensor memory, four warps bring finished tiles from there to D (eight of 256 rows). Tensor
// memory holds the sums of two tiles where they fit, so that one tile leaves while the next is
// made; blocks stay and loop over tiles. Two blocks of a pair multiply together: each fetches its
// own rows of A and half of B, the first one issues, and both are told.
#include <algorithm>

#include "isa/tensor.h"
#include "library/gemm.h"

namespace wavetail::library::gemm {

using kernel::Op;
using kernel::OpKind;

namespace {

// Stages are full and free again; sums are made and have been read.
constexpr int kFull = 0, kEmpty = 1, kSums = 2, kRead = 3;
constexpr std::int64_t kAllColumns = 512;  // of tensor memory

std::int64_t row_tiles(const Plan& p) { return p.tile.m / 128; }

// Columns that the sums of a tile take.
std::int64_t sum_columns(const Plan& p) { return p.tile.n * row_tiles(p); }

// Tiles whose sums tensor memory holds beside the scales.
std::int64_t tiles_held(const Plan& p) {
  return 2 * sum_columns(p) + scale_columns(p) <= kAllColumns ? 2 : 1;
}

Op on_pair(const Plan& p, OpKind kind, int mbarrier) {
  Op op = on_mbarrier(kind, mbarrier);
  op.pair = p.pair;
  return op;
}

// Rows beyond a matrix are not fetched. Of a pair each block fetches half of the rows of B's box,
// and its bytes count at the first one's mbarrier.
Op fetch(const Plan& p) {
  std::vector<std::int64_t> a_loop(p.loops_over_tiles() ? 1 : 0, 0), b_loop = a_loop;
  a_loop.push_back(a_step(p));
  b_loop.push_back(b_step(p));
  const Shape& s = p.shape;
  const std::int64_t k_bytes = std::min(p.tile.k, s.k) * s.element;
  const kernel::Box a = tensor_box(kA, std::min(p.tile.m, s.m), k_bytes, a_pitch(p),
                                   a_strides(p, a_loop));
  kernel::Box b = s.b_k_major
                      ? tensor_box(kB, std::min(p.tile.n, s.n), k_bytes, b_pitch(p),
                                   b_strides(p, b_loop))
                      : tensor_box(kB, std::min(p.tile.k, s.k), std::min(p.tile.n, s.n) * s.element,
                                   b_pitch(p), b_strides(p, b_loop));
  b.split = b.multicast[1] = p.pair && b.rows % 2 == 0;
  Op op = on_pair(p, OpKind::TmaLoad, kFull);
  op.boxes = {a, b};
  for (const kernel::Box& scales : scale_boxes(p, p.loops_over_tiles())) {
    op.boxes.push_back(scales);
  }
  return op;
}

Listing producer(const Plan& p) {
  Listing step;
  step.op(on_mbarrier(OpKind::MbarrierWait, kEmpty));
  step.op(fetch(p));
  Listing code;
  code.prologue(2);
  code.append(over_tiles(p, over_steps(p, std::move(step))));
  return code;
}

// Every stage is free when the products out of it are done, the tile's sums are made when all are.
Listing multiplier(const Plan& p) {
  const std::int64_t depth = isa::wgmma_depth(p.shape.type), ctas = p.pair ? 2 : 1;
  Op multiply = simple(OpKind::Tcgen05Mma, p.tile.k / p.depth() * row_tiles(p));
  multiply.tensor = {p.tile.m / row_tiles(p) * ctas, p.tile.n, depth, p.shape.type, false};
  multiply.tensor.ctas = ctas;
  Listing step, tile;
  step.op(on_mbarrier(OpKind::MbarrierWait, kFull));
  copy_scales(step, p);
  step.op(multiply);
  step.op(on_pair(p, OpKind::Tcgen05Commit, kEmpty));
  tile.op(on_mbarrier(OpKind::MbarrierWait, kRead));
  tile.append(over_steps(p, std::move(step)));
  tile.op(on_pair(p, OpKind::Tcgen05Commit, kSums));
  Listing code = over_tiles(p, std::move(tile));
  if (!p.pair) { return code; }
  Op first = simple(OpKind::Diverge);
  first.diverge_by = kernel::DivergeBy::Rank;
  first.bodies = {code.take(), {}};
  Listing only;
  only.op(std::move(first));
  return only;
}

Listing epilogue(const Plan& p) {
  Listing tile;
  tile.op(on_mbarrier(OpKind::MbarrierWait, kSums));
  if (p.split > 1) { tile.append(from_tensor_memory(p.tile.n)); }
  tile.append(finish_tile(p, p.loops_over_tiles() ? 1 : 0));
  tile.op(on_pair(p, OpKind::MbarrierArrive, kRead));
  Listing code;
  code.prologue(1);
  code.append(over_tiles(p, std::move(tile)));
  return code;
}

// Blocks of a pair start and end together.
kernel::Role role_of(const char* name, std::int64_t warps, Listing code, const Plan& p) {
  Listing all;
  if (p.cluster() > 1) { all.op(simple(OpKind::ClusterBarrier)); }
  all.append(std::move(code));
  if (p.cluster() > 1) { all.op(simple(OpKind::ClusterBarrier)); }
  kernel::Role role;
  role.name = name;
  role.warps = warps;
  role.program = all.take();
  return role;
}

}  // namespace

Listing from_tensor_memory(std::int64_t columns) {
  constexpr std::int64_t kMost = 64;  // registers
  std::int64_t each = kMost;
  while (columns % each != 0) { each /= 2; }
  Op load = simple(OpKind::Tcgen05Load, columns / each);
  load.columns = each;
  Listing code;
  code.op(std::move(load));
  code.op(simple(OpKind::Tcgen05Wait, 0));
  return code;
}

std::int64_t tmem_columns(const Plan& p) {
  std::int64_t columns = 32;
  while (columns < tiles_held(p) * sum_columns(p) + scale_columns(p)) { columns *= 2; }
  return columns;
}

void fill_tcgen05(kernel::Kernel& k, const Plan& p, const gpu::GpuSpec& gpu) {
  k.mbarriers = {{"full", p.stages, std::nullopt, std::nullopt},
                 {"empty", p.stages, std::nullopt, std::nullopt},
                 {"sums", tiles_held(p), std::nullopt, false},
                 {"read", tiles_held(p), std::nullopt, true}};
  k.registers = tcgen05_registers(p);
  k.tmem_columns = tmem_columns(p);
  k.block = tcgen05_warps(p) * gpu.sm.warp_size;
  k.roles = {role_of("producer", 1, producer(p), p), role_of("multiplier", 1, multiplier(p), p),
             role_of("epilogue", p.warps(), epilogue(p), p)};
}

}  // namespace wavetail::library::gemm
