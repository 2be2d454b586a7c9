// SPDX-License-Identifier: Apache-2.0
// Attention on Hopper as FlashAttention-3 does it (arXiv 2407.08608): a producer fills rings of K
// and V, two or three warpgroups of 64 rows each multiply. Within a warpgroup the scores of the
// next block of keys are asked for before the present weights are multiplied with V, so that the
// tensor cores have that product to do during the softmax; between warpgroups the tensor pipes are
// taken in turn, which numbered barriers keep up (head sizes up to 128). Pages of a cache are
// gathered by the producer's four warps with cp.async, behind a look at the page table.
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

constexpr int kQueries = 0, kFullK = 1, kFullV = 2, kEmptyK = 3, kEmptyV = 4;  // mbarriers
constexpr int kTurn = 2;            // numbered barriers, one per warpgroup
constexpr int kFinished = 1;        // of all warpgroups
constexpr std::int64_t kGroup = 4;  // warps of a warpgroup

std::int64_t groups(const Plan& p) { return p.warps / kGroup; }

bool takes_turns(const Plan& p) {
  const bool fp8 = p.shape.element == 1;
  return p.specialised && groups(p) >= 2 && (fp8 ? p.shape.dim >= 128 : p.shape.dim <= 128);
}

// K or V of one block of keys.
Op fetch(const Plan& p, bool keys) {
  const std::int64_t row = keys ? p.k_row() : p.v_row();
  kernel::Strides strides = key_strides(p, row);
  strides.loop = {p.cols * row};
  Op op = on_mbarrier(OpKind::TmaLoad, keys ? kFullK : kFullV);
  op.boxes = {tensor_box(keys ? kK : kV, std::min(p.cols, p.shape.keys), row, row, strides)};
  return op;
}

// The same, page by page: each warp of the producer brings every fourth part, 512 B an
// instruction. Successive pages lie apart in the cache, wherever they were free.
Op gather(const Plan& p, bool keys) {
  const std::int64_t row = keys ? p.k_row() : p.v_row();
  const std::int64_t instructions = ceil_div(std::min(p.cols, p.shape.keys) * row, 512 * kGroup);
  Op op = on_mbarrier(OpKind::CpAsync, keys ? kFullK : kFullV);
  op.count = instructions;
  op.access.array = keys ? kK : kV;
  op.access.width = 16;
  op.access.bypass_l1 = true;
  op.access.walk = kernel::WalkKind::Strides;
  op.access.strides = key_strides(p, row);
  op.access.strides.warp = instructions * 512;
  op.access.strides.count = 512;
  op.access.strides.loop = {p.cols * row};
  return op;
}

Op queries(const Plan& p) {
  Op op = on_mbarrier(OpKind::TmaLoad, kQueries);
  const std::int64_t rows = std::min(p.rows, p.all_rows());
  kernel::Box box = tensor_box(kQ, rows, p.k_row(), p.k_row(), row_strides(p, p.k_row()));
  if (!p.shape.decode) { box.offset = (p.tiles - 1) * p.rows * p.k_row(); }
  op.boxes = {box};
  return op;
}

// K and V of the next block; blocks behind the last one are not fetched.
void fill(Listing& code, const Plan& p, bool keys) {
  code.op(on_mbarrier(OpKind::MbarrierWait, keys ? kEmptyK : kEmptyV));
  code.op(p.shape.page > 0 ? gather(p, keys) : fetch(p, keys));
}

Listing start(const Plan& p) {
  Listing code;
  code.prologue(4);
  read_length(code, p);
  code.int32(24, 2);  // which tile this is, which keys it sees
  return code;
}

Listing producer(const Plan& p) {
  Listing step, code = start(p);
  code.op(queries(p));
  read_pages(step, p);
  fill(step, p, true);
  fill(step, p, false);
  step.loop_step(2);
  code.append(over_all_keys(p, std::move(step)));
  return code;
}

Op product(const Plan& p, bool scores) {
  const Shape& s = p.shape;
  const std::int64_t depth = isa::wgmma_depth(s.type);
  const std::int64_t blocks = p.rows / (64 * groups(p));
  Op op = simple(OpKind::Wgmma, blocks * ceil_div(scores ? s.dim : p.cols, depth));
  op.tensor = {64, scores ? p.cols : s.dim_v, depth, s.type, !scores};
  if (op.tensor.n > 256) {
    op.count *= ceil_div(op.tensor.n, 256);
    op.tensor.n = 256;
  }
  return op;
}

// One warp of a warpgroup says that a stage has been read.
Op release(int mbarrier) {
  Op arrive = simple(OpKind::Diverge);
  arrive.diverge_by = kernel::DivergeBy::Warp;
  arrive.bodies.resize(kGroup);
  arrive.bodies[0] = {on_mbarrier(OpKind::MbarrierArrive, mbarrier)};
  return arrive;
}

void numbered(Listing& code, const Plan& p, int id, bool arrive) {
  if (!takes_turns(p)) { return; }
  Op op = simple(OpKind::NamedBarrier);
  op.barrier = {id, 2 * kGroup, arrive ? kernel::BarrierForm::Arrive : kernel::BarrierForm::Sync};
  code.op(op);
}

struct Turns {
  const Plan& plan;
  std::int64_t group;

  void take(Listing& code) const { numbered(code, plan, kTurn + static_cast<int>(group), false); }

  void pass_on(Listing& code) const {
    numbered(code, plan, kTurn + static_cast<int>((group + 1) % groups(plan)), true);
  }
};

// What a warpgroup does at the places of a step where it may have to fill a stage itself.
struct Group {
  const Plan& plan;
  Turns turns;
  bool fills;  // the first of warpgroups without a producer

  void fill_next(Listing& code) const {
    if (!fills) { return; }
    fill(code, plan, true);
    fill(code, plan, false);
    code.loop_step(2);
  }
};

// Scores of the next block, weights of the last times V, softmax of the next.
Listing overlapped(const Group& g, bool masked) {
  const Plan& p = g.plan;
  Listing step;
  step.op(on_mbarrier(OpKind::MbarrierWait, kFullK));
  g.turns.take(step);
  step.op(product(p, true));
  step.op(on_mbarrier(OpKind::MbarrierWait, kFullV));
  step.op(product(p, false));
  g.turns.pass_on(step);
  step.op(simple(OpKind::WgmmaWait, 1));
  step.op(release(kEmptyK));
  step.append(softmax(p, false, masked));
  step.op(simple(OpKind::WgmmaWait, 0));
  step.op(release(kEmptyV));
  step.append(rescale(p));
  g.fill_next(step);
  return step;
}

// One block after the other: scores, softmax, the product with V. Warpgroups have scores and
// softmax in turn, so that one's products run during the other's softmax.
Listing in_turn(const Group& g, bool first, bool masked) {
  const Plan& p = g.plan;
  Listing step;
  step.op(on_mbarrier(OpKind::MbarrierWait, kFullK));
  g.turns.take(step);
  step.op(product(p, true));
  step.op(simple(OpKind::WgmmaWait, 0));
  step.op(release(kEmptyK));
  step.append(softmax(p, first, masked));
  g.turns.pass_on(step);
  if (!first) { step.append(rescale(p)); }
  step.op(on_mbarrier(OpKind::MbarrierWait, kFullV));
  step.op(product(p, false));
  step.op(simple(OpKind::WgmmaWait, 0));
  step.op(release(kEmptyV));
  if (!first) { g.fill_next(step); }
  return step;
}

// The rows leave through shared memory and, when all warpgroups are done, the TMA.
void store_result(Listing& code, const Plan& p, bool stores) {
  const std::int64_t rows = std::min(p.rows, p.all_rows()), row = p.o_row();
  Op all = simple(OpKind::NamedBarrier);
  all.barrier = {kFinished, p.warps, kernel::BarrierForm::Sync};
  kernel::SharedAccess a;
  a.width = 16;
  a.pattern = kernel::SharedPattern::Column;
  a.pitch = 128;
  a.per_line = 16;
  a.swizzle = {3, 4, 3};
  code.shared_store(a, ceil_div(p.rows / p.warps * row, 512));
  code.op(all);
  if (!stores) { return; }
  Op store = simple(OpKind::TmaStore);
  kernel::Strides strides = row_strides(p, row);
  if (p.shape.decode) { strides.block_z = p.shape.batch * p.shape.q_heads * row; }
  kernel::Box box = tensor_box(kO, rows, row, row, strides);
  if (!p.shape.decode) { box.offset = (p.tiles - 1) * p.rows * row; }
  store.boxes = {box};
  code.op(store);
}

// The tile's blocks of keys when the first scores are to be made.
void overlapped_tile(Listing& code, const Group& g) {
  const Plan& p = g.plan;
  if (g.turns.group == 0) { numbered(code, p, kTurn, true); }
  code.op(on_mbarrier(OpKind::MbarrierWait, kFullK));
  code.op(product(p, true));
  code.op(simple(OpKind::WgmmaWait, 0));
  code.op(release(kEmptyK));
  code.append(softmax(p, true, p.steps == 1 && p.masked > 0));
  code.append(over_keys(p, 1, false, overlapped(g, false)));
  code.append(over_keys(p, 1, true, overlapped(g, true)));
  code.op(on_mbarrier(OpKind::MbarrierWait, kFullV));
  code.op(product(p, false));
  code.op(simple(OpKind::WgmmaWait, 0));
  code.op(release(kEmptyV));
}

Listing consumer(const Plan& p, std::int64_t group) {
  const Group g{p, {p, group}, !p.specialised && group == 0};
  Listing code = start(p);
  if (g.fills) { code.op(queries(p)); }
  for (std::int64_t block = 0; block < std::min<std::int64_t>(2, p.steps); ++block) {
    g.fill_next(code);  // from here on a block ahead
  }
  code.op(on_mbarrier(OpKind::MbarrierWait, kQueries));
  if (p.overlap) {
    overlapped_tile(code, g);
  } else {
    if (group == 0) { numbered(code, p, kTurn, true); }
    code.append(in_turn(g, true, p.steps == 1 && p.masked > 0));
    code.append(over_keys(p, 1, false, in_turn(g, false, false)));
    code.append(over_keys(p, 1, true, in_turn(g, false, true)));
  }
  code.append(normalise(p));
  return code;
}

}  // namespace

kernel::Kernel wgmma_kernel(const Plan& p, const Values& v, const gpu::GpuSpec& gpu) {
  kernel::Kernel k;
  describe(k, p, v);
  k.mbarriers = {{"queries", 1, {}, {}},
                 {"full_k", p.stages, {}, {}},
                 {"full_v", p.stages, {}, {}},
                 {"empty_k", p.stages, {}, {}},
                 {"empty_v", p.stages, {}, {}}};
  k.block = (p.warps + (p.specialised ? kGroup : 0)) * gpu.sm.warp_size;
  // All registers of the SM, moved from the producer to the warpgroups: two have 240, three 160.
  k.registers = std::min<std::int64_t>(gpu.sm.registers / k.block / 8 * 8, 255);
  const std::int64_t consumer_registers = groups(p) == 1 ? 255 : groups(p) == 2 ? 240 : 160;
  const auto add = [&](std::string name, std::int64_t warps, std::int64_t registers, Listing code) {
    kernel::Role role;
    role.name = std::move(name);
    role.warps = warps;
    role.registers = registers;
    role.program = code.take();
    k.roles.push_back(std::move(role));
  };
  if (p.specialised) {
    const bool paged = p.shape.page > 0;
    add("producer", paged ? kGroup : 1, 24, producer(p));
    if (!paged) { add("idle", kGroup - 1, 24, {}); }
  }
  for (std::int64_t g = 0; g < groups(p); ++g) {
    Listing code = consumer(p, g);
    store_result(code, p, g == 0);
    add("consumer" + std::to_string(g), kGroup, p.specialised ? consumer_registers : k.registers,
        std::move(code));
  }
  // The result takes Q's place; one in FP32, before a combine, leaves in parts.
  const std::int64_t q = p.rows * std::max(p.k_row(), p.shape.dim_v * p.shape.out_element);
  k.shared_memory = unit::Bytes{q + p.stages * p.cols * (p.k_row() + p.v_row()) +
                                gemm::kBesideStages};
  return k;
}

}  // namespace wavetail::library::attention
