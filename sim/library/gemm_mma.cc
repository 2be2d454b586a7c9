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

// The warps of a block share the copy of rows x row_bytes: 16 B per lane, as many lanes side by
// side as a row has, the others on the next rows.
struct Copy {
  std::int64_t lanes_per_row = 0, rows_at_once = 0, count = 0, per_row = 1;
};

Copy copy_of(std::int64_t rows, std::int64_t row_bytes, std::int64_t warps) {
  Copy c;
  c.lanes_per_row = std::min<std::int64_t>(32, row_bytes / 16);
  c.per_row = ceil_div(row_bytes, 16 * 32);
  c.rows_at_once = 32 / c.lanes_per_row;
  c.count = ceil_div(ceil_div(rows, c.rows_at_once), warps);
  return c;
}

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

// ldmatrix.x4 of a slice, one instruction each: 16 rows of 32 B, that is, 16 x 16 elements of 16
// bits. Warps read different rows at whole periods of the swizzle, which is the same to the banks:
// one warp's are stated.
std::vector<kernel::SharedAccess> fragments(const Plan& p) {
  const Tile w = p.warp_tile();
  std::vector<kernel::SharedAccess> loads;
  for (const auto& [rows, offset] : {std::pair{w.m, std::int64_t{0}}, {w.n, p.a_bytes()}}) {
    kernel::SharedAccess a = rows_of_stage(p.tile.k * p.shape.element, offset);
    for (std::int64_t r = 0; r < std::max<std::int64_t>(1, rows / 16); ++r) {
      loads.push_back(a);
      a.offset += 16 * a.pitch;
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

// One stage, slice by slice: the next one's fragments are asked for in between the products, and
// so are copies (`first` in the first slice, `second` in the next, or behind it if there is none).
void multiply_stage(Listing& code, const Plan& p, Listing first = {}, Listing second = {}) {
  const std::int64_t slices = p.tile.k / isa::wgmma_depth(p.shape.type);
  const auto loads = fragments(p);
  const auto n = static_cast<std::int64_t>(loads.size());
  for (const auto& load : loads) { code.shared_load(load, 1); }
  const auto slice = [&](bool more) {
    Listing one;
    one.wait_shared(0);
    for (std::int64_t i = 0; i < n; ++i) {
      if (more) { one.shared_load(loads[static_cast<std::size_t>(i)], 1); }
      multiply(one, p, products(p) * (i + 1) / n - products(p) * i / n);
    }
    return one;
  };
  code.append(std::move(first));
  code.append(slice(slices > 1));
  code.append(std::move(second));
  code.repeat(slices - 2, slice(true));
  if (slices > 1) { code.append(slice(false)); }
}

void copy_stage(Listing& code, OpKind kind, const Plan& p, std::int64_t first) {
  copy_in(code, kind, p, true, first);
  copy_in(code, kind, p, false, first);
  code.loop_step(2);
}

// Copies run `stages` - 1 steps ahead; the barrier says that the stage has landed for all warps and
// that all have read the one which is filled next.
Listing pipelined(const Plan& p) {
  const std::int64_t ahead = std::min(p.stages - 1, p.steps);
  Listing tile, fill, both, last;
  copy_stage(fill, OpKind::CpAsync, p, 0);
  fill.op(simple(OpKind::CpAsyncCommit));
  const auto use = [&](Listing& code) {
    code.op(simple(OpKind::CpAsyncWait, std::max<std::int64_t>(0, ahead - 1)));
    code.barrier();
  };
  if (ahead == 0) {
    copy_stage(both, OpKind::CpAsync, p, 0);
    both.op(simple(OpKind::CpAsyncCommit));
    use(both);
    multiply_stage(both, p);
    both.barrier();
  } else {
    use(both);
    Listing a, b;
    copy_in(a, OpKind::CpAsync, p, true, ahead);
    copy_in(b, OpKind::CpAsync, p, false, ahead);
    b.loop_step(2);
    b.op(simple(OpKind::CpAsyncCommit));
    multiply_stage(both, p, std::move(a), std::move(b));
  }
  last.op(simple(OpKind::CpAsyncCommit));
  use(last);
  multiply_stage(last, p);
  tile.repeat(ahead, std::move(fill));
  tile.repeat(p.steps - ahead, std::move(both));
  tile.repeat(ahead, std::move(last));
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
  tile.append(finish_tile(p, p.loops_over_tiles() ? 1 : 0));
  Listing code;
  code.prologue(3);
  code.append(over_tiles(p, std::move(tile)));
  k.block = p.warps() * gpu.sm.warp_size;
  k.registers = registers_of(p);
  kernel::Role role;
  role.warps = p.warps();
  role.program = code.take();
  k.roles.push_back(std::move(role));
}

}  // namespace wavetail::library::gemm
