// SPDX-License-Identifier: Apache-2.0
// Attention on Blackwell as FlashAttention-4 does it (github Dao-AILab/flash-attention,
// flash_fwd_sm100; arXiv 2603.05451): one thread issues all products, scores and results stay in
// tensor memory, a thread of a softmax warpgroup has a whole row. Two tiles of 128 queries take
// turns: while one has its softmax the other's products run. A warpgroup of its own rescales
// results, which it is seldom asked to: only when a row's maximum has grown by more than 8 binary
// digits. Part of the exponentials are polynomials on the FP32 pipe.
//
// Heads above 128 leave room for one tile, whose next scores are made during the softmax. Decode
// has keys as rows: scores are K times a few queries, results V^T times weights in shared memory.
#include <algorithm>

#include "isa/tensor.h"
#include "library/attention.h"
#include "library/gemm.h"

namespace wavetail::library::attention {

using gemm::on_mbarrier;
using gemm::simple;
using kernel::Op;
using kernel::OpKind;

namespace {

constexpr int kQueries = 0, kFull = 1, kEmpty = 2;  // mbarriers; behind them three of each tile
constexpr int kShared = 3, kPerTile = 3;
constexpr std::int64_t kGroup = 4, kLanes = 128;  // warps of a warpgroup, lanes of tensor memory
// A softmax warp's multi-function and other instructions overlap, as its columns are independent.
// Instructions here wait for the run before them, so that two warps stand for one, half of the
// columns each.
constexpr std::int64_t kHalves = 2;
constexpr std::int64_t kEmulated = 4;  // one exponential in so many is a polynomial

std::int64_t tiles_of(const Plan& p) { return p.warps / kGroup; }

int scores_made(std::int64_t tile) { return kShared + kPerTile * static_cast<int>(tile); }

int maxima_known(std::int64_t tile) { return scores_made(tile) + 1; }

int weights_made(std::int64_t tile) { return scores_made(tile) + 2; }

int results_made(const Plan& p) { return kShared + kPerTile * static_cast<int>(tiles_of(p)); }

std::int64_t depth_of(const Plan& p) { return isa::wgmma_depth(p.shape.type); }

// K or V of one block of keys, a box per page.
void fetch(Listing& code, const Plan& p, bool keys) {
  const std::int64_t row = keys ? p.k_row() : p.v_row(), rows = std::min(p.cols, p.shape.keys);
  const std::int64_t page = p.shape.page > 0 ? std::min(p.shape.page, rows) : rows;
  kernel::Strides strides = key_strides(p, row);
  strides.loop = {p.cols * row};
  code.op(on_mbarrier(OpKind::MbarrierWait, kEmpty));
  Op op = on_mbarrier(OpKind::TmaLoad, kFull);
  for (std::int64_t first = 0; first < rows; first += page) {
    op.boxes.push_back(tensor_box(keys ? kK : kV, std::min(page, rows - first), row, row, strides));
    op.boxes.back().offset = first * row;
  }
  code.op(std::move(op));
}

Listing start(const Plan& p) {
  Listing code;
  code.prologue(4);
  read_length(code, p);
  code.int32(24, 2);  // which tile this is, which keys it sees
  return code;
}

Listing producer(const Plan& p) {
  Listing code = start(p), step;
  Op q = on_mbarrier(OpKind::TmaLoad, kQueries);
  const std::int64_t rows = std::min(p.rows, p.all_rows());
  q.boxes = {tensor_box(kQ, rows, p.k_row(), p.k_row(), row_strides(p, p.k_row()))};
  if (!p.shape.decode) { q.boxes[0].offset = (p.tiles - 1) * p.rows * p.k_row(); }
  code.op(std::move(q));
  read_pages(step, p);
  fetch(step, p, true);
  fetch(step, p, false);
  step.loop_step(2);
  code.append(over_all_keys(p, std::move(step)));
  return code;
}

void make_scores(Listing& code, const Plan& p, std::int64_t tile) {
  Op op = simple(OpKind::Tcgen05Mma, ceil_div(p.shape.dim, depth_of(p)));
  op.tensor = {p.shape.decode ? p.cols : kLanes, p.shape.decode ? p.rows : p.cols, depth_of(p),
               p.shape.type, false};
  code.op(std::move(op));
  code.op(on_mbarrier(OpKind::Tcgen05Commit, scores_made(tile)));
}

void make_results(Listing& code, const Plan& p, std::int64_t tile) {
  const std::int64_t dim = p.shape.dim_v;
  code.op(on_mbarrier(OpKind::MbarrierWait, weights_made(tile)));
  Op op = simple(OpKind::Tcgen05Mma, ceil_div(p.cols, depth_of(p)));
  if (p.shape.decode) {
    op.count *= ceil_div(dim, kLanes);
    op.tensor = {dim <= 64 ? 64 : kLanes, p.rows, depth_of(p), p.shape.type, false};
  } else {
    op.tensor = {kLanes, dim, depth_of(p), p.shape.type, true};
  }
  code.op(std::move(op));
}

void full(Listing& code) { code.op(on_mbarrier(OpKind::MbarrierWait, kFull)); }

void release(Listing& code) { code.op(on_mbarrier(OpKind::Tcgen05Commit, kEmpty)); }

// Two tiles: V of this block for one tile, K of the next for it, then for the other.
Listing two_tiles(const Plan& p) {
  Listing step;
  full(step);
  make_results(step, p, 0);
  full(step);
  make_scores(step, p, 0);
  make_results(step, p, 1);
  release(step);
  make_scores(step, p, 1);
  release(step);
  return step;
}

// One tile: K of the next block, then V of this one; the ring holds them in the other order.
Listing one_tile(const Plan& p) {
  Listing step;
  full(step);
  full(step);
  make_scores(step, p, 0);
  make_results(step, p, 0);
  release(step);
  release(step);
  return step;
}

Listing multiplier(const Plan& p) {
  const std::int64_t tiles = tiles_of(p);
  Listing code = start(p);
  code.op(on_mbarrier(OpKind::MbarrierWait, kQueries));
  full(code);
  for (std::int64_t tile = 0; tile < tiles; ++tile) { make_scores(code, p, tile); }
  release(code);
  for (const bool masked : {false, true}) {
    code.append(over_keys(p, 1, masked, tiles == 2 ? two_tiles(p) : one_tile(p)));
  }
  full(code);
  for (std::int64_t tile = 0; tile < tiles; ++tile) { make_results(code, p, tile); }
  code.op(on_mbarrier(OpKind::Tcgen05Commit, results_made(p)));
  return code;
}

// exp2 of `e` values: multi-function units, and one in kEmulated a polynomial of degree 3 behind
// the splitting of its argument, on pairs.
void exponentials(Listing& code, std::int64_t e) {
  const std::int64_t emulated = e / kEmulated;
  code.arithmetic(kernel::Pipe::Sfu, e - emulated, 8, 1);
  code.fp32(5 * emulated, 8, 2);
  code.int32(3 * emulated, 8);
}

void load_columns(Listing& code, std::int64_t columns) {
  code.append(gemm::from_tensor_memory(columns));
}

kernel::SharedAccess row_of_lane() {
  kernel::SharedAccess a;
  a.width = 16;
  a.pattern = kernel::SharedPattern::Column;
  a.pitch = 128;
  a.per_line = 16;
  a.swizzle = {3, 4, 3};
  return a;
}

// A thread has a row: no lane needs another's values. Maxima of three at a time.
Listing softmax_of_rows(const Plan& p, std::int64_t tile, bool masked) {
  const std::int64_t e = p.cols / kHalves;
  Listing code;
  code.op(on_mbarrier(OpKind::MbarrierWait, scores_made(tile)));
  load_columns(code, e);
  if (masked) { code.int32(e, 8); }
  code.int32(e / 2, 8);
  code.fp32(4, 1, 2);
  code.shared_store({}, 1);
  code.op(on_mbarrier(OpKind::MbarrierArrive, maxima_known(tile)));
  code.fp32(e, 8, 2);
  exponentials(code, e);
  code.pack(p.shape.dtype, e);
  Op store = simple(OpKind::Tcgen05Store);
  store.columns = std::max<std::int64_t>(1, e * p.shape.element / 4);
  code.op(std::move(store));
  code.op(simple(OpKind::Tcgen05Wait, 1));
  code.op(on_mbarrier(OpKind::MbarrierArrive, weights_made(tile)));
  code.fp32(e, 8, 1);
  return code;
}

// A thread has a key: maxima over lanes and warps, by shared memory. Sums go to the end.
Listing softmax_of_keys(const Plan& p, bool masked) {
  const std::int64_t e = p.rows;
  Listing code;
  code.op(on_mbarrier(OpKind::MbarrierWait, scores_made(0)));
  load_columns(code, e);
  if (masked) { code.int32(e, 8); }
  kernel::SharedAccess a;
  code.shared_load(a, 2 * e);  // shuffles that halve the values of a lane
  code.wait_shared(0);
  code.int32(2 * e, 8);
  code.shared_store(a, 1);
  Op all = simple(OpKind::NamedBarrier);
  all.barrier = {1, kGroup, kernel::BarrierForm::Sync};
  code.op(all);
  code.shared_load(a, 1);
  code.wait_shared(0);
  code.int32(2 * kGroup, 2);
  code.op(on_mbarrier(OpKind::MbarrierArrive, maxima_known(0)));
  code.fp32(e, 8, 2);
  code.arithmetic(kernel::Pipe::Sfu, e, 8, 1);
  code.pack(p.shape.dtype, e);
  code.shared_store(row_of_lane(), ceil_div(e * p.shape.element, 16));
  code.op(on_mbarrier(OpKind::MbarrierArrive, weights_made(0)));
  code.fp32(e, 8, 1);
  return code;
}

Listing softmaxer(const Plan& p, std::int64_t tile) {
  const auto step = [&](bool masked) {
    return p.shape.decode ? softmax_of_keys(p, masked) : softmax_of_rows(p, tile, masked);
  };
  Listing code = start(p);
  code.append(step(p.steps == 1 && p.masked > 0));
  code.append(over_keys(p, 1, false, step(false)));
  code.append(over_keys(p, 1, true, step(true)));
  code.shared_store({}, 1);  // the sums
  code.op(on_mbarrier(OpKind::MbarrierArrive, maxima_known(tile)));
  return code;
}

// How much a row's maximum has grown: as a rule too little for anything to be done.
void look_at_maxima(Listing& code, const Plan& p, bool go_on) {
  for (std::int64_t tile = 0; tile < tiles_of(p); ++tile) {
    code.op(on_mbarrier(OpKind::MbarrierWait, maxima_known(tile)));
    code.shared_load({}, 1);
    code.wait_shared(0);
    code.int32(2, 1);
    if (go_on) { code.op(on_mbarrier(OpKind::MbarrierArrive, weights_made(tile))); }
  }
}

// Results times the reciprocal sums, to shared memory, and out of it by the TMA.
void store_results(Listing& code, const Plan& p) {
  const Shape& s = p.shape;
  const std::int64_t rows = std::min(p.rows, p.all_rows()), row = p.o_row();
  code.op(on_mbarrier(OpKind::MbarrierWait, results_made(p)));
  code.arithmetic(kernel::Pipe::Sfu, 2, 1, 1);
  // Of all tiles and lanes, columns per thread.
  const std::int64_t columns = s.decode ? p.rows * ceil_div(s.dim_v, kLanes)
                                        : s.dim_v * tiles_of(p);
  load_columns(code, columns);
  code.fp32(columns, 8, 1);
  if (p.splits == 1) { code.pack(s.dtype, columns); }
  code.shared_store(row_of_lane(), ceil_div(p.rows * row, 512 * kGroup));
  Op all = simple(OpKind::NamedBarrier);
  all.barrier = {2, kGroup, kernel::BarrierForm::Sync};
  code.op(all);
  Op store = simple(OpKind::TmaStore);
  kernel::Strides strides = row_strides(p, row);
  if (s.decode) { strides.block_z = s.batch * s.q_heads * row; }
  store.boxes = {tensor_box(kO, rows, row, row, std::move(strides))};
  if (!s.decode) { store.boxes[0].offset = (p.tiles - 1) * p.rows * row; }
  code.op(std::move(store));
}

Listing corrector(const Plan& p) {
  Listing step, code = start(p);
  look_at_maxima(step, p, true);
  code.append(over_all_keys(p, std::move(step)));
  look_at_maxima(code, p, false);
  store_results(code, p);
  return code;
}

std::int64_t tmem_columns(const Plan& p) {
  const std::int64_t needed = p.shape.decode ? p.rows * (2 + ceil_div(p.shape.dim_v, kLanes))
                                             : std::max<std::int64_t>(2, tiles_of(p)) * p.cols +
                                                   tiles_of(p) * p.shape.dim_v;
  std::int64_t columns = 32;
  while (columns < needed) { columns *= 2; }
  return columns;
}

std::int64_t query_bytes(const Plan& p) {
  return p.rows * std::max(p.k_row(), p.shape.dim_v * p.shape.out_element) +
         (p.shape.decode ? p.cols * p.rows * p.shape.element : 0);
}

}  // namespace

void blackwell_tile(Plan& p, const gpu::GpuSpec& gpu) {
  constexpr std::int64_t kMostStages = 8;
  const Shape& s = p.shape;
  p.cols = s.decode && std::max(s.dim, s.dim_v) > 256 ? 64 : 128;
  p.warps = !s.decode && s.dim_v <= 128 ? 2 * kGroup : kGroup;
  p.rows = kLanes * tiles_of(p);
  if (s.decode) {
    const std::int64_t group = p.pack;
    p.rows = std::min<std::int64_t>(64, round_up(group, group <= 8 ? 8 : 16));
  }
  const std::int64_t room = gpu.sm.shared_memory_per_block.count() - query_bytes(p) -
                            gemm::kBesideStages;
  p.stages = std::clamp<std::int64_t>(room / (p.cols * std::max(p.k_row(), p.v_row())), 2,
                                      kMostStages);  // K and V
}

bool fits_tcgen05(const Shape& s) {
  return s.decode ? std::max(s.dim, s.dim_v) <= 512 : std::max(s.dim, s.dim_v) <= 256;
}

kernel::Kernel tcgen05_kernel(const Plan& p, const Values& v, const gpu::GpuSpec& gpu) {
  kernel::Kernel k;
  describe(k, p, v);
  k.mbarriers = {{"queries", 1, {}, {}}, {"full", p.stages, {}, {}}, {"empty", p.stages, {}, {}}};
  for (std::int64_t tile = 0; tile < tiles_of(p); ++tile) {
    for (const char* name : {"scores", "maxima", "weights"}) {
      k.mbarriers.push_back({name + std::to_string(tile), 1, {}, false});
    }
  }
  k.mbarriers.push_back({"results", 1, {}, false});
  const auto add = [&](std::string name, std::int64_t warps, std::int64_t registers, Listing code) {
    kernel::Role role;
    role.name = std::move(name);
    role.warps = warps;
    role.registers = registers;
    role.program = code.take();
    k.roles.push_back(std::move(role));
    k.block += warps * gpu.sm.warp_size;
  };
  const std::int64_t s_warps = p.shape.decode ? kGroup : kHalves * kGroup;
  for (std::int64_t tile = 0; tile < tiles_of(p); ++tile) {
    add("softmax" + std::to_string(tile), s_warps, 192 / (s_warps / kGroup), softmaxer(p, tile));
  }
  add("correction", kGroup, 80, corrector(p));
  add("multiplier", 1, 48, multiplier(p));
  add("producer", 1, 48, producer(p));
  add("idle", 2, 48, {});
  k.registers = std::min<std::int64_t>(gpu.sm.registers / k.block / 8 * 8, 168);
  k.tmem_columns = tmem_columns(p);
  k.shared_memory = unit::Bytes{query_bytes(p) + gemm::kBesideStages +
                                p.stages * p.cols * std::max(p.k_row(), p.v_row())};
  return k;
}

}  // namespace wavetail::library::attention
