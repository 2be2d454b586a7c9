// SPDX-License-Identifier: Apache-2.0
// Decode attention over a latent cache (MLA) on Hopper as FlashMLA does it (github
// deepseek-ai/FlashMLA, 2025): 64 query heads against two tiles of 64 keys at a time. Values are
// the first elements of the keys, so that a tile is fetched once. Each of two warpgroups makes the
// scores of one tile and holds half of the result's columns; the weights of the other come to it
// through shared memory.
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

constexpr int kQueries = 0, kFull = 1, kEmpty = 2;
constexpr int kWeights = 1, kFinished = 2;  // numbered barriers
constexpr std::int64_t kGroup = 4, kTile = 64;

Op wgmma(const Plan& p, std::int64_t n, std::int64_t depth, bool registers) {
  const std::int64_t k = isa::wgmma_depth(p.shape.type);
  Op op = simple(OpKind::Wgmma, depth / k);
  op.tensor = {64, n, k, p.shape.type, registers};
  return op;
}

Listing producer(const Plan& p) {
  Listing code, step;
  code.prologue(4);
  read_length(code, p);
  Op q = on_mbarrier(OpKind::TmaLoad, kQueries);
  q.boxes = {tensor_box(kQ, std::min(p.rows, p.all_rows()), p.k_row(), p.k_row(),
                        row_strides(p, p.k_row()))};
  code.op(q);
  read_pages(step, p);
  for (std::int64_t tile = 0; tile < 2; ++tile) {
    kernel::Strides strides = key_strides(p, p.k_row());
    strides.loop = {p.cols * p.k_row()};
    Op fetch = on_mbarrier(OpKind::TmaLoad, kFull);
    fetch.boxes = {tensor_box(kK, std::min(kTile, p.shape.keys), p.k_row(), p.k_row(), strides)};
    fetch.boxes[0].offset = tile * kTile * p.k_row();
    step.op(on_mbarrier(OpKind::MbarrierWait, kEmpty));
    step.op(fetch);
  }
  step.loop_step(1);
  code.append(over_all_keys(p, std::move(step)));
  return code;
}

kernel::SharedAccess weights() {
  kernel::SharedAccess a;
  a.width = 16;
  a.pattern = kernel::SharedPattern::Column;
  a.pitch = 128;
  a.per_line = 16;
  a.swizzle = {3, 4, 3};
  return a;
}

void numbered(Listing& code, const Plan& p, int id) {
  Op op = simple(OpKind::NamedBarrier);
  op.barrier = {id, p.warps, kernel::BarrierForm::Sync};
  code.op(op);
}

Op release() {
  Op arrive = simple(OpKind::Diverge);
  arrive.diverge_by = kernel::DivergeBy::Warp;
  arrive.bodies.resize(kGroup);
  arrive.bodies[0] = {on_mbarrier(OpKind::MbarrierArrive, kEmpty)};
  return arrive;
}

Listing step_of(const Plan& p) {
  const std::int64_t half = p.shape.dim_v / 2;
  Listing step;
  step.op(on_mbarrier(OpKind::MbarrierWait, kFull));
  step.op(on_mbarrier(OpKind::MbarrierWait, kFull));
  step.op(wgmma(p, kTile, p.shape.dim, false));
  step.op(simple(OpKind::WgmmaWait, 0));
  step.append(softmax(p, false, false));
  step.shared_store(weights(), kTile * kTile * p.shape.element / (512 * kGroup));
  step.append(rescale(p));
  numbered(step, p, kWeights);
  step.op(wgmma(p, half, kTile, true));
  step.op(wgmma(p, half, kTile, false));
  step.op(simple(OpKind::WgmmaWait, 0));
  step.op(release());
  step.op(release());
  return step;
}

Listing consumer(const Plan& p, bool stores) {
  Listing code;
  code.prologue(4);
  read_length(code, p);
  code.op(on_mbarrier(OpKind::MbarrierWait, kQueries));
  code.append(over_all_keys(p, step_of(p)));
  code.append(normalise(p));
  code.shared_store(weights(), ceil_div(p.rows / p.warps * p.o_row(), 512));
  numbered(code, p, kFinished);
  if (!stores) { return code; }
  kernel::Strides strides = row_strides(p, p.o_row());
  strides.block_z = p.shape.batch * p.shape.q_heads * p.o_row();
  Op store = simple(OpKind::TmaStore);
  store.boxes = {
      tensor_box(kO, std::min(p.rows, p.all_rows()), p.o_row(), p.o_row(), std::move(strides))};
  code.op(store);
  return code;
}

}  // namespace

kernel::Kernel latent_kernel(const Plan& p, const Values& v, const gpu::GpuSpec& gpu) {
  kernel::Kernel k;
  describe(k, p, v);
  k.mbarriers = {{"queries", 1, {}, {}}, {"full", 2, {}, {}}, {"empty", 2, {}, {}}};
  k.block = (p.warps + kGroup) * gpu.sm.warp_size;
  k.registers = gpu.sm.registers / k.block / 8 * 8;
  const auto add = [&](std::string name, std::int64_t warps, std::int64_t registers, Listing code) {
    kernel::Role role;
    role.name = std::move(name);
    role.warps = warps;
    role.registers = registers;
    role.program = code.take();
    k.roles.push_back(std::move(role));
  };
  add("producer", 1, 24, producer(p));
  add("idle", kGroup - 1, 24, {});
  add("consumer0", kGroup, 240, consumer(p, true));
  add("consumer1", kGroup, 240, consumer(p, false));
  k.shared_memory = unit::Bytes{(p.rows + 2 * kTile) * p.k_row() + gemm::kBesideStages};
  return k;
}

}  // namespace wavetail::library::attention
