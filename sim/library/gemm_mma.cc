// SPDX-License-Identifier: Apache-2.0
// The way before Hopper: all warps copy a stage to shared memory, by cp.async some stages ahead or
// by plain loads and shared stores in between, read fragments with ldmatrix and multiply with
// mma.sync. Fragments of the next slice of K are asked for before the present one is multiplied.
#include <algorithm>

#include "isa/tensor.h"
#include "library/gemm.h"

namespace wavetail::library::gemm {

using kernel::Op;
using kernel::OpKind;

namespace {

// Appends the copy's global accesses, `first` steps of K ahead.
void copy_in(Listing& code, OpKind kind, const Plan& p, bool is_a, std::int64_t first) {
  const Shape& s = p.shape;
  const bool along_k = is_a || s.b_k_major;
  const std::int64_t rows = is_a ? p.tile.m : s.b_k_major ? p.tile.n : p.tile.k;
  const std::int64_t row_bytes = (along_k ? p.tile.k : p.tile.n) * s.element;
  const std::int64_t pitch = is_a ? a_pitch(p) : b_pitch(p);
  const std::int64_t step = is_a ? a_step(p) : b_step(p);
  const Copy c = copy_of(rows, row_bytes, p.warps());
  std::vector<std::int64_t> loop = p.loops_over_tiles() ? std::vector<std::int64_t>{0, step}
                                                        : std::vector<std::int64_t>{step};
  for (std::int64_t part = 0; part < c.per_row; ++part) {
    Op op = simple(kind, c.count);
    op.access.array = is_a ? kA : kB;
    op.access.width = 16;
    op.access.pattern = kernel::Pattern::Listed;
    for (std::int64_t lane = 0; lane < 32; ++lane) {
      op.access.offsets.push_back(lane / c.lanes_per_row * pitch + lane % c.lanes_per_row * 16);
    }
    op.access.bypass_l1 = true;
    op.access.walk = kernel::WalkKind::Strides;
    op.access.strides = is_a ? a_strides(p, loop) : b_strides(p, loop);
    op.access.strides.warp = c.count * c.rows_at_once * pitch;
    op.access.strides.count = c.rows_at_once * pitch;
    op.access.offset = first * step + part * 512;
    code.op(std::move(op));
  }
}

// 16 B rows of a stage under the swizzle that keeps eight of them on different banks.
kernel::SharedAccess rows_of_stage(std::int64_t row_bytes, std::int64_t offset) {
  kernel::SharedAccess a;
  a.width = 16;
  a.pattern = kernel::SharedPattern::Column;
  a.pitch = std::clamp<std::int64_t>(row_bytes, 32, 128);
  a.per_line = 16;
  a.swizzle = a.pitch == 128  ? kernel::Swizzle{3, 4, 3}
              : a.pitch == 64 ? kernel::Swizzle{2, 4, 3}
                              : kernel::Swizzle{1, 4, 3};
  a.offset = offset;
  return a;
}

// What plain loads have brought goes to shared memory, 512 B per instruction.
void put(Listing& code, const Plan& p) {
  const std::int64_t per_warp = ceil_div(p.stage_bytes(), p.warps() * 512);
  kernel::SharedAccess a;
  a.width = 16;
  a.warp = per_warp * 512;
  a.count = 512;
  code.shared_store(a, per_warp);
}

// The same where rows lie as they do in the tile, side by side.
kernel::SharedAccess plain_rows(std::int64_t pitch, std::int64_t offset) {
  kernel::SharedAccess a;
  a.width = 16;
  a.pattern = kernel::SharedPattern::Column;
  a.pitch = pitch;
  a.per_line = 16;
  a.offset = offset;
  return a;
}

// ldmatrix.x4 of a slice, one instruction each: 16 rows of 32 B, that is, 16 x 16 elements of 16
// bits. Warps read different rows at whole periods of the swizzle, which is the same to the banks:
// one warp's are stated.
std::vector<kernel::SharedAccess> fragments(const Plan& p) {
  const Tile w = p.warp_tile();
  std::vector<kernel::SharedAccess> loads;
  for (const bool is_a : {true, false}) {
    const bool along_k = is_a || p.shape.b_k_major;
    const std::int64_t row = (p.swizzled || along_k ? p.tile.k : p.tile.n) * p.shape.element;
    const std::int64_t offset = is_a ? 0 : p.a_bytes(), rows = is_a ? w.m : w.n;
    kernel::SharedAccess a = p.swizzled ? rows_of_stage(row, offset) : plain_rows(row, offset);
    for (std::int64_t r = 0; r < std::max<std::int64_t>(1, rows / 16); ++r) {
      loads.push_back(a);
      a.offset += p.swizzled || along_k ? 16 * a.pitch : 32;
    }
  }
  return loads;
}

std::int64_t products(const Plan& p) { return p.warp_tile().m / 16 * (p.warp_tile().n / 8); }

void multiply(Listing& code, const Plan& p, std::int64_t count) {
  if (count == 0) { return; }
  Op op = simple(OpKind::Mma, count);
  op.distance = products(p);
  op.tensor = {16, 8, isa::wgmma_depth(p.shape.type), p.shape.type, false};
  code.op(std::move(op));
}

// A slice's products; in between, the next slice's fragments are asked for if there are `more`.
// Those are spread over the products in two parts: runs of products are long enough then for turns
// of many instructions, and the simulator needs a fifth of the events for the same time of the
// kernel within a percent.
Listing slice(const Plan& p, bool more) {
  constexpr std::int64_t kParts = 2;
  const auto loads = fragments(p);
  const auto n = static_cast<std::int64_t>(loads.size());
  Listing one;
  one.wait_shared(0);
  for (std::int64_t part = 0; part < kParts; ++part) {
    for (std::int64_t i = n * part / kParts; more && i < n * (part + 1) / kParts; ++i) {
      one.shared_load(loads[static_cast<std::size_t>(i)], 1);
    }
    multiply(one, p, products(p) * (part + 1) / kParts - products(p) * part / kParts);
  }
  return one;
}

void load_fragments(Listing& code, const Plan& p) {
  for (const auto& load : fragments(p)) { code.shared_load(load, 1); }
}

std::int64_t slices_of(const Plan& p) { return p.tile.k / p.depth(); }

// One stage, slice by slice, which has landed for all warps.
void multiply_stage(Listing& code, const Plan& p) {
  const std::int64_t slices = slices_of(p);
  if (p.reads_ahead) {
    load_fragments(code, p);
    code.repeat(slices - 1, slice(p, true));
    code.append(slice(p, false));
    promote(code, p);
    return;
  }
  Listing one;
  load_fragments(one, p);
  one.wait_shared(0);
  multiply(one, p, products(p));
  code.repeat(slices, std::move(one));
  promote(code, p);
  code.barrier();
}

void copy_stage(Listing& code, OpKind kind, const Plan& p, std::int64_t first) {
  copy_in(code, kind, p, true, first);
  copy_in(code, kind, p, false, first);
  code.loop_step(2);
}

void wait_for_stage(Listing& code, std::int64_t ahead) {
  code.op(simple(OpKind::CpAsyncCommit));
  code.op(simple(OpKind::CpAsyncWait, std::max<std::int64_t>(0, ahead - 1)));
  code.barrier();
}

// Copies of the stage `ahead` steps on. Trips of a loop over a portion's steps count from the
// tile's first step.
void copy_ahead(Listing& code, const Plan& p, bool is_a, std::int64_t ahead) {
  copy_in(code, OpKind::CpAsync, p, is_a, p.schedule == Schedule::StreamK ? 0 : ahead);
  if (!is_a) { code.loop_step(2); }
}

// A step whose first fragments are there. Before its last slice is multiplied the next stage has
// landed, so that its first fragments are asked for in between.
Listing overlapped_step(const Plan& p, std::int64_t ahead, bool copies, bool more) {
  const std::int64_t slices = slices_of(p);
  Listing step;
  if (copies) { copy_ahead(step, p, true, ahead); }
  if (slices > 1) { step.append(slice(p, true)); }
  if (copies) { copy_ahead(step, p, false, ahead); }
  step.repeat(std::max<std::int64_t>(0, slices - 2), slice(p, true));
  if (more) { wait_for_stage(step, ahead); }
  step.append(slice(p, more));
  promote(step, p);
  return step;
}

// A step with everything in turn.
Listing plain_step(const Plan& p, std::int64_t ahead, bool copies) {
  Listing step;
  if (ahead == 0) { copy_stage(step, OpKind::CpAsync, p, 0); }
  if (ahead > 0 && copies) {
    copy_ahead(step, p, true, ahead);
    copy_ahead(step, p, false, ahead);
  }
  wait_for_stage(step, ahead + 1);
  multiply_stage(step, p);
  if (ahead == 0 && p.reads_ahead) { step.barrier(); }
  return step;
}

// Copies run `stages` - 1 steps ahead; the barrier says that a stage has landed for all warps and
// that all have read the one which is filled next.
Listing pipelined(const Plan& p) {
  const std::int64_t ahead = std::min(p.stages - 1, p.steps);
  Listing tile, fill;
  copy_stage(fill, OpKind::CpAsync, p, 0);
  fill.op(simple(OpKind::CpAsyncCommit));
  tile.repeat(ahead, std::move(fill));
  if (ahead == 0 || !p.reads_ahead) {
    tile.append(over_steps(p, plain_step(p, ahead, true), ahead));
    tile.repeat(ahead, plain_step(p, ahead, false));
    tile.barrier();
    return tile;
  }
  tile.op(simple(OpKind::CpAsyncWait, ahead - 1));
  tile.barrier();
  load_fragments(tile, p);
  tile.append(over_steps(p, overlapped_step(p, ahead, true, true), ahead));
  tile.repeat(ahead - 1, overlapped_step(p, ahead, false, true));
  tile.append(overlapped_step(p, ahead, false, false));
  tile.barrier();
  return tile;
}

Listing synchronous(const Plan& p) {
  Listing step;
  copy_stage(step, OpKind::Load, p, 0);
  step.wait(0);
  step.barrier();
  put(step, p);
  step.barrier();
  multiply_stage(step, p);
  Listing tile;
  tile.repeat(p.steps, std::move(step));
  return tile;
}

}  // namespace

void fill_mma(kernel::Kernel& k, const Plan& p, const gpu::GpuSpec& gpu) {
  Listing tile = p.mainloop == Mainloop::Sync ? synchronous(p) : pipelined(p);
  read_image(tile, p, Image::Epilogue);
  tile.append(finish_tile(p, p.loops_over_tiles() ? 1 : 0));
  Listing code;
  code.prologue(3);
  read_image(code, p, Image::Parameters);
  read_image(code, p, Image::Code);
  read_image(code, p, Image::Loop);
  code.append(over_tiles(p, std::move(tile)));
  k.block = p.warps() * gpu.sm.warp_size;
  k.registers = registers_of(p);
  kernel::Role role;
  role.warps = p.warps();
  role.program = code.take();
  k.roles.push_back(std::move(role));
}

}  // namespace wavetail::library::gemm
