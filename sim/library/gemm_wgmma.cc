// SPDX-License-Identifier: Apache-2.0
// The Hopper way: the TMA fills a ring of stages, wgmma reads operands from it. With specialised
// warps one warp of a producer warpgroup does nothing but fill; without, a thread of the
// multiplying warps fills the stage that has just been read. Blocks of a cluster that need the same
// operand fetch a share of it each; a stage is free when all of them have read it.
#include <algorithm>

#include "isa/tensor.h"
#include "library/gemm.h"

namespace wavetail::library::gemm {

using kernel::Op;
using kernel::OpKind;

namespace {

constexpr int kFull = 0, kEmpty = 1;  // mbarriers

// A is the same for the blocks of a cluster along x, B for those along y. A matrix with fewer rows
// than a tile may not divide among them: then each fetches all of it. Rows beyond a matrix are not
// fetched.
Op fetch(const Plan& p) {
  const std::vector<std::int64_t> none = p.loops_over_tiles() ? std::vector<std::int64_t>{0}
                                                              : std::vector<std::int64_t>{};
  std::vector<std::int64_t> a_loop = none, b_loop = none;
  a_loop.push_back(a_step(p));
  b_loop.push_back(b_step(p));
  const Shape& s = p.shape;
  const std::int64_t k_bytes = std::min(p.tile.k, s.k) * s.element;
  kernel::Box a = tensor_box(kA, std::min(p.tile.m, s.m), k_bytes, a_pitch(p),
                             a_strides(p, a_loop));
  const std::int64_t columns = std::min(p.tile.n / p.column_blocks(), s.n);
  kernel::Box b = s.b_k_major ? tensor_box(kB, columns, k_bytes, b_pitch(p), b_strides(p, b_loop))
                              : tensor_box(kB, std::min(p.tile.k, s.k), columns * s.element,
                                           b_pitch(p), b_strides(p, b_loop));
  a.clip = s.m % a.rows != 0;
  b.clip = s.b_k_major && s.n % b.rows != 0;
  a.multicast[0] = p.multicast && p.cluster_x > 1 && a.rows % p.cluster_x == 0;
  b.multicast[1] = p.multicast && p.cluster_y > 1 && b.rows % p.cluster_y == 0;
  Op op = on_mbarrier(OpKind::TmaLoad, kFull);
  op.boxes = {a};
  for (std::int64_t part = 0; part < p.column_blocks(); ++part) {
    op.boxes.push_back(b);
    b.offset += columns * (s.b_k_major ? b_pitch(p) : s.element);
  }
  for (const kernel::Box& scales : scale_boxes(p, p.loops_over_tiles())) {
    op.boxes.push_back(scales);
  }
  return op;
}

// The instructions beside the wgmma come between them; they are stated behind, where they keep
// none of them waiting either.
void multiply(Listing& code, const Plan& p) {
  const std::int64_t depth = isa::wgmma_depth(p.shape.type);
  Op op = simple(OpKind::Wgmma, p.tile.k / p.depth() * p.row_blocks() * p.column_blocks());
  op.tensor = {64, p.tile.n / p.column_blocks(), depth, p.shape.type, false};
  Op beside;
  beside.pipe = kernel::Pipe::Int32;
  beside.count = op.count * kBesideWgmma + kBesideStep;
  beside.distance = 4;
  beside.beside = true;
  code.op(std::move(op));
  code.op(std::move(beside));
}

// All lanes of a warp arrive, one after the other.
Op all_arrive(int mbarrier, const Plan& p) {
  Op op = on_mbarrier(OpKind::MbarrierArrive, mbarrier);
  op.count = p.lanes;
  return op;
}

// Until a stage has landed. Where every thread arrives, the multiplying ones do so at this mbarrier
// as well.
void wait_full(Listing& code, const Plan& p) {
  if (p.every_thread_arrives) { code.op(all_arrive(kFull, p)); }
  code.op(on_mbarrier(OpKind::MbarrierWait, kFull));
}

// The stage has been read, says one warp of each warpgroup.
void release(Listing& code, const Plan& p, std::int64_t left) {
  constexpr std::size_t kGroup = 4;
  if (p.every_thread_arrives) {
    code.op(simple(OpKind::WgmmaWait, left));
    if (p.specialised) { code.op(all_arrive(kEmpty, p)); }
    return;
  }
  Op arrive = simple(OpKind::Diverge);
  arrive.diverge_by = kernel::DivergeBy::Warp;
  arrive.bodies.resize(kGroup);
  arrive.bodies[0] = {on_mbarrier(OpKind::MbarrierArrive, kEmpty, p.cluster() > 1 && p.multicast)};
  code.op(simple(OpKind::WgmmaWait, left));
  code.op(std::move(arrive));
}

Listing producer(const Plan& p) {
  Listing step;
  step.op(on_mbarrier(OpKind::MbarrierWait, kEmpty));
  step.op(fetch(p));
  Listing code;
  code.prologue(2);
  read_image(code, p, Image::Parameters);
  read_image(code, p, Image::Code);
  read_image(code, p, Image::Maps);
  code.append(over_tiles(p, over_steps(p, std::move(step))));
  return code;
}

// One group of wgmma may stay under way while the next stage is waited for; the stage before is
// then free.
Listing consumer(const Plan& p) {
  Listing tile, step;
  read_weight_scales(tile, p);
  wait_full(step, p);
  multiply(step, p);
  release(step, p, p.left);
  promote(step, p);
  if (p.left > 0) {
    wait_full(tile, p);
    multiply(tile, p);
  }
  tile.append(over_steps(p, std::move(step), p.left));
  if (p.left > 0) { release(tile, p, 0); }
  tile.append(finish_tile(p, p.loops_over_tiles() ? 1 : 0));
  Listing code;
  code.prologue(2);
  code.append(over_tiles(p, std::move(tile)));
  return code;
}

// Every warp does everything; one thread asks for the stage that has been read last, `stages` - 1
// steps ahead. Where every thread arrives, that all have is what says that the stage is read.
Listing unspecialised(const Plan& p) {
  const std::int64_t ahead = std::min(p.stages - 1, p.steps);
  const auto ask = [&](Listing& code, std::int64_t first) {
    Op op = fetch(p);
    for (kernel::Box& box : op.boxes) {
      box.offset += first * (box.array == kA ? a_step(p) : b_step(p));
    }
    if (!p.every_thread_arrives) { code.op(on_mbarrier(OpKind::MbarrierWait, kEmpty)); }
    code.op(op);
  };
  const auto use = [&](Listing& code) {
    wait_full(code, p);
    multiply(code, p);
    release(code, p, 0);
  };
  Listing tile, fill, both, last;
  ask(fill, 0);
  if (ahead == 0) {
    ask(both, 0);
    use(both);
  } else {
    use(both);
    ask(both, ahead);
  }
  use(last);
  tile.repeat(ahead, std::move(fill));
  tile.repeat(p.steps - ahead, std::move(both));
  tile.repeat(ahead, std::move(last));
  tile.append(finish_tile(p, p.loops_over_tiles() ? 1 : 0));
  Listing code;
  code.prologue(2);
  read_image(code, p, Image::Parameters);
  read_image(code, p, Image::Code);
  read_image(code, p, Image::Maps);
  code.append(over_tiles(p, std::move(tile)));
  return code;
}

// Blocks of a cluster start and end together: data and arrivals of peers need a place. Warps that
// have left are not waited for.
kernel::Role role_of(const char* name, std::int64_t warps, std::int64_t registers, Listing code,
                     const Plan& p) {
  Listing all;
  const bool cluster = p.cluster() > 1;
  if (cluster) { all.op(simple(OpKind::ClusterBarrier)); }
  all.append(std::move(code));
  if (cluster) { all.op(simple(OpKind::ClusterBarrier)); }
  kernel::Role role;
  role.name = name;
  role.warps = warps;
  role.registers = registers;
  role.program = all.take();
  return role;
}

}  // namespace

void fill_wgmma(kernel::Kernel& k, const Plan& p, const gpu::GpuSpec& gpu) {
  k.mbarriers = {{"full", p.stages, std::nullopt, std::nullopt},
                 {"empty", p.stages, std::nullopt, std::nullopt}};
  k.registers = registers_of(p);
  if (!p.specialised) {
    if (p.every_thread_arrives) { k.mbarriers.pop_back(); }
    k.block = p.warps() * gpu.sm.warp_size;
    k.roles = {role_of("", p.warps(), k.registers, unspecialised(p), p)};
    return;
  }
  constexpr std::int64_t kGroup = 4;  // warps: registers move between whole warpgroups
  kernel::Role idle;
  idle.name = "idle";
  idle.warps = kGroup - 1;
  idle.registers = kProducerRegisters;
  k.block = (p.warps() + kGroup) * gpu.sm.warp_size;
  k.roles = {role_of("producer", 1, kProducerRegisters, producer(p), p), idle,
             role_of("consumer", p.warps(), p.held_sums() + kOtherRegisters, consumer(p), p)};
}

}  // namespace wavetail::library::gemm
