// SPDX-License-Identifier: Apache-2.0
// Attention's backward pass. A block of the grid keeps a block of keys and values and goes through
// the blocks of queries that attend to it: scores and weights again, dP = dO V^T, dS, then dV +=
// P^T dO, dK += dS^T Q and dQ = dS K, which is added to an FP32 sum in memory. Two small kernels
// stand around it: NAME.delta (row sums of dO x O) in front, NAME.convert (dQ to its type) behind.
//
//   fa3: TMA fills a ring of queries and dO, two warpgroups of 64 keys multiply with wgmma, dQ
//        leaves through shared memory and the TMA (arXiv 2407.08608)
//   fa2: eight warps, cp.async, mma.sync, dQ by atomics from registers (arXiv 2307.08691)
//
//   blockIdx.x  sequence and head
//   blockIdx.y  block of keys, the first (to which most queries attend) first
#include <algorithm>

#include <fmt/format.h>

#include "isa/tensor.h"
#include "library/attention.h"
#include "library/gemm.h"

namespace wavetail::library::attention {

using gemm::on_mbarrier;
using gemm::simple;
using kernel::Op;
using kernel::OpKind;

namespace {

constexpr int kGradO = 3, kSums = 4, kGradK = 5, kGradV = 6;  // arrays beside Q, K, V
constexpr int kFull = 0, kEmpty = 1;                          // mbarriers
constexpr int kTiles = 1, kStored = 2;  // numbered barriers of the multiplying warps
constexpr std::int64_t kGroup = 4;

struct Backward {
  const Plan& plan;
  std::int64_t rows, keys;  // of queries per step, of keys per block

  [[nodiscard]] std::int64_t row() const { return plan.k_row(); }

  [[nodiscard]] std::int64_t heads() const { return plan.shape.batch * plan.shape.q_heads; }

  [[nodiscard]] std::int64_t steps() const { return ceil_div(plan.shape.queries, rows); }

  [[nodiscard]] std::int64_t elements() const { return rows * keys / (plan.warps * 32); }
};

// The blocks of queries from the diagonal on: query q attends to key q + prefix at most.
Listing over_queries(const Backward& b, Listing body) {
  Op op = simple(OpKind::Repeat, b.steps());
  const Shape& s = b.plan.shape;
  if (s.causal) {
    op.over = kernel::Over::Index;
    op.trips.offset = b.steps() * b.rows + s.prefix;
    op.trips.block_y = -b.keys;
    op.trips.divisor = b.rows;
    op.trips.least = 1;
  }
  op.bodies.push_back(body.take());
  Listing code;
  code.op(std::move(op));
  return code;
}

// Weights from scores, dS from them and dP, both packed for the products that follow.
void gradients(Listing& code, const Backward& b) {
  const std::int64_t e = b.elements();
  code.fp32(e, 8, 2);
  code.arithmetic(kernel::Pipe::Sfu, e, 8, 1);
  code.pack(b.plan.shape.dtype, e);
  code.fp32(2 * e, 8, 1);  // P x (dP - delta)
  code.pack(b.plan.shape.dtype, e);
}

kernel::SharedAccess tile() {
  kernel::SharedAccess a;
  a.width = 16;
  a.pattern = kernel::SharedPattern::Column;
  a.pitch = 128;
  a.per_line = 16;
  a.swizzle = {3, 4, 3};
  return a;
}

void named(Listing& code, const Backward& b, int id) {
  Op op = simple(OpKind::NamedBarrier);
  op.barrier = {id, b.plan.warps, kernel::BarrierForm::Sync};
  code.op(op);
}

kernel::Strides by_head(const Backward& b, std::int64_t row_bytes, std::int64_t per_block) {
  return {.block_x = b.plan.shape.queries * row_bytes, .block_y = per_block};
}

// wgmma: m64 x n x 16.
Op wgmma(const Backward& b, std::int64_t n, std::int64_t depth, bool registers) {
  Op op = simple(OpKind::Wgmma,
                 ceil_div(depth, isa::wgmma_depth(b.plan.shape.type)) * ceil_div(n, 256));
  op.tensor = {64, std::min<std::int64_t>(n, 256), isa::wgmma_depth(b.plan.shape.type),
               b.plan.shape.type, registers};
  return op;
}

Listing wgmma_producer(const Backward& b) {
  Listing code, step;
  code.prologue(4);
  kernel::Strides of_keys = by_head(b, b.row(), b.keys * b.row());
  Op keys = on_mbarrier(OpKind::TmaLoad, 2);
  keys.boxes = {tensor_box(kK, b.keys, b.row(), b.row(), of_keys),
                tensor_box(kV, b.keys, b.row(), b.row(), of_keys)};
  code.op(keys);
  kernel::Strides of_rows = by_head(b, b.row(), 0);
  of_rows.loop = {b.rows * b.row()};
  Op fetch = on_mbarrier(OpKind::TmaLoad, kFull);
  fetch.boxes = {tensor_box(kQ, b.rows, b.row(), b.row(), of_rows),
                 tensor_box(kGradO, b.rows, b.row(), b.row(), of_rows)};
  step.op(on_mbarrier(OpKind::MbarrierWait, kEmpty));
  step.op(fetch);
  step.loop_step(2);
  code.append(over_queries(b, std::move(step)));
  return code;
}

// A step of a warpgroup with 64 of the block's keys. Products with transposed tiles have the keys
// as their rows; dQ's rows are half of the head's elements.
Listing wgmma_step(const Backward& b, bool stores) {
  const std::int64_t d = b.plan.shape.dim;
  Listing step;
  step.op(on_mbarrier(OpKind::MbarrierWait, kFull));
  step.op(wgmma(b, b.rows, d, false));  // scores
  step.op(wgmma(b, b.rows, d, false));  // dP
  step.op(simple(OpKind::WgmmaWait, 1));
  const std::int64_t e = b.elements();
  step.fp32(e, 8, 2);
  step.arithmetic(kernel::Pipe::Sfu, e, 8, 1);
  step.pack(b.plan.shape.dtype, e);
  step.op(simple(OpKind::WgmmaWait, 0));
  step.op(wgmma(b, d, b.rows, true));  // dV
  step.fp32(2 * e, 8, 1);              // P x (dP - delta)
  step.pack(b.plan.shape.dtype, e);
  step.shared_store(tile(), ceil_div(b.rows * b.keys * 2, 512 * b.plan.warps));
  named(step, b, kTiles);
  step.op(wgmma(b, b.rows, b.keys, false));  // dQ
  step.op(wgmma(b, d, b.rows, false));       // dK
  step.op(simple(OpKind::WgmmaWait, 1));
  step.shared_store(tile(), ceil_div(b.rows * d * 4, 512 * b.plan.warps));
  named(step, b, kStored);
  if (stores) {
    Op store = simple(OpKind::TmaStore);
    kernel::Strides strides = by_head(b, d * 4, 0);
    strides.loop = {b.rows * d * 4};
    store.boxes = {tensor_box(kSums, b.rows, d * 4, d * 4, strides)};
    step.op(store);
    step.op(simple(OpKind::TmaStoreWait, 1));
  }
  step.op(simple(OpKind::WgmmaWait, 0));
  Op arrive = simple(OpKind::Diverge);
  arrive.diverge_by = kernel::DivergeBy::Warp;
  arrive.bodies.resize(kGroup);
  arrive.bodies[0] = {on_mbarrier(OpKind::MbarrierArrive, kEmpty)};
  step.op(arrive);
  return step;
}

// dK and dV, from registers in rows of 16 B per lane.
void store_keys(Listing& code, const Backward& b) {
  const std::int64_t count = ceil_div(b.keys * b.row(), 512 * b.plan.warps);
  code.fp32(b.keys * b.plan.shape.dim / (b.plan.warps * 32), 8, 1);
  code.pack(b.plan.shape.dtype, 2 * b.keys * b.plan.shape.dim / (b.plan.warps * 32));
  for (const int array : {kGradK, kGradV}) {
    kernel::Strides strides = by_head(b, b.row(), b.keys * b.row());
    strides.warp = count * 512;
    strides.count = 512;
    code.store({.array = array, .width = 16, .count = count, .strides = strides});
  }
}

void wgmma_roles(kernel::Kernel& k, const Backward& b, const gpu::GpuSpec& gpu) {
  constexpr std::int64_t kStages = 2;
  const std::int64_t tiles = 2 * (b.keys + kStages * b.rows) * b.row();
  k.mbarriers = {{"full", kStages, {}, {}}, {"empty", kStages, {}, {}}, {"keys", 1, {}, {}}};
  k.block = (b.plan.warps + kGroup) * gpu.sm.warp_size;
  k.registers = std::min<std::int64_t>(gpu.sm.registers / k.block / 8 * 8, 255);
  k.shared_memory = unit::Bytes{tiles + b.rows * b.keys * 2 + b.rows * b.plan.shape.dim * 4 +
                                gemm::kBesideStages};
  const auto add = [&](std::string name, std::int64_t warps, std::int64_t registers, Listing code) {
    kernel::Role role;
    role.name = std::move(name);
    role.warps = warps;
    role.registers = registers;
    role.program = code.take();
    k.roles.push_back(std::move(role));
  };
  add("producer", 1, 24, wgmma_producer(b));
  add("idle", kGroup - 1, 24, {});
  const std::int64_t registers = b.plan.warps == 8 ? 240 : 160;
  for (std::int64_t g = 0; g < b.plan.warps / kGroup; ++g) {
    Listing code;
    code.prologue(4);
    code.op(on_mbarrier(OpKind::MbarrierWait, 2));
    code.append(over_queries(b, wgmma_step(b, g == 0)));
    store_keys(code, b);
    add("consumer" + std::to_string(g), kGroup, registers, std::move(code));
  }
}

// One product of eight warps: `m` x `n` per warp, fragments of the next slice asked for ahead.
void mma(Listing& code, const Backward& b, std::int64_t m, std::int64_t n, std::int64_t depth) {
  Op op = simple(OpKind::Mma, m / 16 * (n / 8));
  op.distance = op.count;
  op.tensor = {16, 8, 16, b.plan.shape.type, false};
  const std::int64_t fragments = (m + n) / 16;
  Listing slice;
  slice.wait_shared(0);
  slice.shared_load(tile(), fragments);
  slice.op(op);
  code.shared_load(tile(), fragments);
  code.repeat(depth / 16, std::move(slice));
}

Op copy_rows(const Backward& b, int array, std::int64_t rows, kernel::Strides strides) {
  Op op = simple(OpKind::CpAsync, ceil_div(rows * b.row(), 512 * b.plan.warps));
  op.access.array = array;
  op.access.width = 16;
  op.access.bypass_l1 = true;
  op.access.walk = kernel::WalkKind::Strides;
  strides.warp = op.count * 512;
  strides.count = 512;
  op.access.strides = std::move(strides);
  return op;
}

void mma_role(kernel::Kernel& k, const Backward& b, const gpu::GpuSpec& gpu) {
  const std::int64_t d = b.plan.shape.dim, tile_bytes = b.rows * b.keys * 2;
  kernel::Strides of_rows = by_head(b, b.row(), 0);
  of_rows.loop = {b.rows * b.row()};
  const auto tiles_done = [&](Listing& code, std::int64_t tiles) {
    code.shared_store(tile(), tiles * tile_bytes / (512 * b.plan.warps));
    code.barrier();
  };
  Listing step;
  step.op(simple(OpKind::CpAsyncWait, 0));
  step.barrier();
  mma(step, b, b.rows / 2, b.keys / 4, d);  // scores
  mma(step, b, b.rows / 2, b.keys / 4, d);  // dP
  gradients(step, b);
  tiles_done(step, 2);
  mma(step, b, b.keys / 4, d / 2, b.rows);  // dV
  step.barrier();
  step.op(copy_rows(b, kGradO, b.rows, of_rows));
  step.op(simple(OpKind::CpAsyncCommit));
  mma(step, b, b.rows / 2, d / 4, b.keys);  // dQ
  Op add = simple(OpKind::Store, b.rows * d * 4 / (b.plan.warps * 128));
  add.access.array = kSums;
  add.access.width = 4;
  add.access.atomic = true;
  add.access.walk = kernel::WalkKind::Strides;
  add.access.strides = by_head(b, d * 4, 0);
  add.access.strides.warp = add.count * 128;
  add.access.strides.count = 128;
  add.access.strides.loop = {b.rows * d * 4};
  step.op(add);
  mma(step, b, b.keys / 4, d / 2, b.rows);  // dK
  step.barrier();
  step.op(copy_rows(b, kQ, b.rows, of_rows));
  step.op(simple(OpKind::CpAsyncCommit));
  step.loop_step(3);
  Listing code;
  code.prologue(4);
  for (const int array : {kK, kV}) {
    code.op(copy_rows(b, array, b.keys, by_head(b, b.row(), b.keys * b.row())));
  }
  for (const int array : {kQ, kGradO}) {
    code.op(copy_rows(b, array, b.rows, by_head(b, b.row(), 0)));
  }
  code.op(simple(OpKind::CpAsyncCommit));
  code.append(over_queries(b, std::move(step)));
  store_keys(code, b);
  k.block = b.plan.warps * gpu.sm.warp_size;
  k.registers = 255;
  k.shared_memory = unit::Bytes{2 * (b.keys + b.rows) * b.row() + b.rows * b.row() +
                                2 * tile_bytes};
  kernel::Role role;
  role.warps = b.plan.warps;
  role.program = code.take();
  k.roles.push_back(std::move(role));
}

// Reads `from` and writes `to` once, a warp per row of the head.
kernel::Kernel row_kernel(const char* name, const Backward& b, const gpu::GpuSpec& gpu,
                          std::vector<std::pair<kernel::Array, std::int64_t>> from,
                          std::pair<kernel::Array, std::int64_t> to) {
  constexpr std::int64_t kWarps = 4;
  const std::int64_t rows = b.heads() * b.plan.shape.queries;
  Listing code;
  code.prologue(3);
  kernel::Kernel k;
  const auto access = [&](int array, std::int64_t bytes) {
    const std::int64_t width = std::clamp<std::int64_t>(bytes / gpu.sm.warp_size, 4, 16);
    return Access{
        .array = array,
        .width = width,
        .count = ceil_div(bytes, width * gpu.sm.warp_size),
        .strides = {.block_x = kWarps * bytes, .warp = bytes, .count = width * gpu.sm.warp_size},
        .lanes = static_cast<int>(std::min(gpu.sm.warp_size, bytes / width))};
  };
  std::vector<kernel::Array> arrays;
  std::int64_t read = 0;
  for (auto& [array, bytes] : from) {
    code.load(access(static_cast<int>(arrays.size()), bytes));
    read += array.bytes.count();
    arrays.push_back(std::move(array));
  }
  code.wait(0);
  code.fp32(b.plan.shape.dim / 16, 4, 2);
  if (to.second <= 4) { code.shuffle_sum(gpu.sm.warp_size, 1); }
  code.store(access(static_cast<int>(arrays.size()), std::max<std::int64_t>(4, to.second)));
  k = plain_kernel(gpu, {ceil_div(rows, kWarps), 1, 1}, kWarps * gpu.sm.warp_size, 40,
                   std::move(code));
  k.name = name;
  k.compulsory_read = unit::Bytes{read};
  k.compulsory_write = to.first.bytes;
  arrays.push_back(std::move(to.first));
  k.arrays = std::move(arrays);
  k.note = fmt::format("{} rows", rows);
  return k;
}

}  // namespace

std::vector<kernel::Kernel> backward_kernels(const Plan& p, const Values& v,
                                             const gpu::GpuSpec& gpu) {
  const bool hopper = p.engine == Engine::Wgmma;
  const Shape& s = p.shape;
  // FlashAttention-3 takes 64 queries of a causal head of 128, else 80; FlashAttention-2 64.
  const Backward b{p, hopper && !s.causal && s.dim > 64 ? 80 : 64, 128};
  const std::int64_t bytes = b.heads() * s.queries * b.row(), scalars = b.heads() * s.queries * 4;
  const unit::Bytes tensor{bytes}, sums{bytes * 4 / s.element};
  kernel::Kernel k;
  k.grid = {b.heads(), ceil_div(s.keys, b.keys), 1};
  k.arrays = {{v.array("x"), tensor, false},
              {v.array("keys"), tensor, false},
              {v.array("values"), tensor, false},
              {".dy", tensor, false},
              {".sums", sums, false},
              {".dkeys", tensor, false},
              {".dvalues", tensor, false},
              {".scales", unit::Bytes{scalars}, false}};
  hopper ? wgmma_roles(k, b, gpu) : mma_role(k, b, gpu);
  k.compulsory_read = unit::Bytes{4 * bytes};
  k.compulsory_write = unit::Bytes{2 * bytes};
  const auto q = static_cast<double>(s.queries);
  k.flops = 10.0 * static_cast<double>(b.heads() * s.dim) * (s.causal ? q * (q + 1) / 2 : q * q);
  k.note = fmt::format("{} blocks of {} keys, {} queries at a time", kernel::volume(k.grid), b.keys,
                       b.rows);
  std::vector<kernel::Kernel> all;
  all.push_back(
      row_kernel("delta", b, gpu,
                 {{{".dy", tensor, false}, b.row()}, {{v.array("y"), tensor, false}, b.row()}},
                 {{".scales", unit::Bytes{scalars}, false}, 4}));
  all.push_back(std::move(k));
  all.push_back(row_kernel("convert", b, gpu, {{{".sums", sums, false}, s.dim * 4}},
                           {{".dx", tensor, false}, b.row()}));
  return all;
}

}  // namespace wavetail::library::attention
