// SPDX-License-Identifier: Apache-2.0
// What follows a tile's last step. D leaves in strips of 128 B per row through two buffers of
// shared memory and the TMA, or from the registers that hold it. Partial sums go to a workspace as
// FP32: one slot per tile and split, which a kernel NAME.reduce sums up, or (stream-K) one per
// tile, to which every block but the one with the tile's last steps adds and which that one reads.
#include <algorithm>

#include "library/gemm.h"

namespace wavetail::library::gemm {

using kernel::Op;
using kernel::OpKind;

namespace {

constexpr int kMathBarrier = 1;  // of the multiplying warps

Op math_barrier(const Plan& p) {
  Op op = simple(OpKind::NamedBarrier);
  op.barrier = {kMathBarrier, p.warps(), kernel::BarrierForm::Sync};
  return op;
}

std::string_view out_type(const Plan& p) {
  if (p.shape.out_element == 4) { return "fp32"; }
  return p.shape.type == kernel::TensorType::Fp16 ? "fp16" : "bf16";
}

// stmatrix.x4: 16 rows of 32 B; a warp has 16 rows of every block of 64.
kernel::SharedAccess strip_rows(const Plan& p) {
  const std::int64_t row = p.strip() * p.shape.out_element;
  kernel::SharedAccess a;
  a.width = 16;
  a.pattern = kernel::SharedPattern::Column;
  a.pitch = row;
  a.per_line = row >= 32 ? 16 : 32;
  a.lanes = static_cast<int>(std::min<std::int64_t>(32, row));
  a.swizzle = row == 128 ? kernel::Swizzle{3, 4, 3} : kernel::Swizzle{};
  a.offset = p.stages * p.stage_bytes();
  return a;
}

// A column-major D is staged by its columns: lanes hold one element each of eight rows and four
// pairs of columns, of which a column's neighbours meet in a bank.
kernel::SharedAccess strip_elements(const Plan& p) {
  const std::int64_t row = p.strip() * p.shape.out_element;
  kernel::SharedAccess a;
  a.width = p.shape.out_element;
  a.pattern = kernel::SharedPattern::Listed;
  for (std::int64_t lane = 0; lane < 32; ++lane) {
    a.offsets.push_back(lane / 4 * p.shape.out_element + lane % 4 * 2 * row);
  }
  a.offset = p.stages * p.stage_bytes();
  return a;
}

Listing by_tma(const Plan& p, std::int64_t depth) {
  const bool turned = p.shape.d_m_major;
  const std::int64_t row = p.strip() * p.shape.out_element;
  const std::int64_t warp_bytes = p.across() * row / p.warps();
  Op store = simple(OpKind::TmaStore);
  kernel::Box box;
  box.array = kD;
  box.rows = turned ? std::min(p.tile.n, p.shape.n) : std::min(p.tile.m, p.shape.m);
  box.clip = (turned ? p.shape.n : p.shape.m) % box.rows != 0;
  box.row_bytes = std::min(row, d_pitch(p));
  box.pitch = d_pitch(p);
  box.tensor_map = true;
  box.walk = kernel::WalkKind::Strides;
  box.strides = d_strides(p);
  box.strides.loop.assign(static_cast<std::size_t>(depth), 0);
  box.strides.loop.push_back(row);
  store.boxes = {box};
  Listing strip;
  strip.op(simple(OpKind::TmaStoreWait, p.buffers() - 1));
  strip.op(math_barrier(p));
  if (p.mainloop == Mainloop::Tcgen05) {
    strip.append(
        from_tensor_memory(turned ? std::max<std::int64_t>(8, p.tile.n / p.strips()) : p.strip()));
  }
  strip.pack(out_type(p), p.accumulators() / p.strips());
  if (turned && !p.swapped) {  // stmatrix can transpose, kernels by hand do not
    strip.shared_store(strip_elements(p), p.accumulators() / p.strips());
  } else {
    strip.shared_store(strip_rows(p), std::max<std::int64_t>(1, warp_bytes / 512));
  }
  strip.op(math_barrier(p));
  strip.op(store);
  Listing code;
  code.repeat(p.strips(), std::move(strip));
  return code;
}

// What a warp stores of a tile of mma.sync, at least eight rows.
Tile rows_of_warp(const Plan& p) {
  const std::int64_t rows = std::max<std::int64_t>(8, p.tile.m / p.warps());
  return {rows, p.tile.m * p.tile.n / p.warps() / rows, 0};
}

// Accumulators lie as mma leaves them: eight rows of four lanes with two neighbouring columns each.
// Rows are counted as if the warps stood below each other, which moves the same bytes in pieces of
// the same shape as a grid of warps does.
Listing from_registers(const Plan& p) {
  const std::int64_t element = p.shape.out_element;
  const std::int64_t row = p.shape.d_m_major ? element : d_pitch(p);
  const std::int64_t column = p.shape.d_m_major ? d_pitch(p) : element;
  const std::int64_t at_once = p.scalar_epilogue ? 1 : 2;
  const bool groups = p.mainloop == Mainloop::Tma;
  const Tile w = groups ? Tile{16 * p.row_blocks(), p.tile.n, 0} : rows_of_warp(p);
  const std::int64_t between = groups ? 16 * p.warps()
                                      : 16;  // rows from a warp's 16 to its next 16
  Listing code;
  code.pack(out_type(p), p.accumulators());
  for (std::int64_t part = 0; part < w.m / 8 * 2 / at_once; ++part) {
    const std::int64_t half = part * at_once / 2, which = part * at_once % 2;
    Op op = simple(OpKind::Store, w.n / 8);
    op.access.array = kD;
    op.access.width = static_cast<int>(at_once * element);
    op.access.pattern = kernel::Pattern::Listed;
    for (std::int64_t lane = 0; lane < 32; ++lane) {
      op.access.offsets.push_back(lane / 4 * row + lane % 4 * 2 * column);
    }
    op.access.walk = kernel::WalkKind::Strides;
    op.access.strides = d_strides(p);
    op.access.strides.warp = (groups ? 16 : w.m) * row;
    op.access.strides.count = 8 * column;
    op.access.offset = (half / 2 * between + half % 2 * 8) * row + which * column;
    code.op(std::move(op));
  }
  return code;
}

// The tile is put together in the stages, which nobody needs any more, and leaves in whole rows.
Listing by_rows(const Plan& p) {
  const std::int64_t pitch = d_pitch(p), row = p.tile.n * p.shape.out_element;
  const Copy c = copy_of(p.tile.m, row, p.warps());
  kernel::SharedAccess put;
  put.width = 16;
  put.count = 512;
  Listing code;
  code.pack(out_type(p), p.accumulators());
  code.barrier();
  code.shared_store(put, ceil_div(p.tile.m * row, p.warps() * 512));
  code.barrier();
  for (std::int64_t part = 0; part < c.per_row; ++part) {
    code.shared_load(put, c.count);
    code.wait_shared(0);
    Op op = simple(OpKind::Store, c.count);
    op.access.array = kD;
    op.access.width = 16;
    op.access.pattern = kernel::Pattern::Listed;
    for (std::int64_t lane = 0; lane < 32; ++lane) {
      op.access.offsets.push_back(lane / c.lanes_per_row * pitch + lane % c.lanes_per_row * 16);
    }
    op.access.walk = kernel::WalkKind::Strides;
    op.access.strides = d_strides(p);
    op.access.strides.warp = c.count * c.rows_at_once * pitch;
    op.access.strides.count = c.rows_at_once * pitch;
    op.access.offset = part * 512;
    code.op(std::move(op));
  }
  return code;
}

Listing to_d(const Plan& p, std::int64_t depth) {
  if (p.staged_epilogue) { return by_rows(p); }
  return p.tma_epilogue ? by_tma(p, depth) : from_registers(p);
}

// A warp's share of the tile's slot, 16 B per lane, in runs of up to `most` instructions.
Access slot(const Plan& p, std::int64_t count) {
  const std::int64_t tile = p.partial_bytes(), share = tile / p.warps();
  return {.array = kWorkspace,
          .width = 16,
          .count = count,
          .strides = {.block_x = tile,
                      .block_y = tile * p.tiles_n,
                      .block_z = tile * p.tiles_n * p.tiles_m,
                      .warp = share,
                      .count = 512},
          .streaming = true};
}

Listing to_workspace(const Plan& p) {
  Listing code;
  code.store(slot(p, p.partial_bytes() / p.warps() / 512));
  return code;
}

// The flag that says that the others have added, then their sums, a few at a time and the next few
// under way.
Listing from_workspace(const Plan& p, std::int64_t depth) {
  constexpr std::int64_t kMost = 4;
  const std::int64_t loads = p.partial_bytes() / p.warps() / 512;
  const std::int64_t at_once = loads % kMost == 0 ? kMost : 1;
  Access some = slot(p, at_once);
  Access flag = some;
  flag.count = 1;
  flag.width = 4;
  flag.broadcast = true;
  Listing code, part;
  code.load(flag);
  code.wait(0);
  code.load(some);
  some.offset = at_once * 512;
  some.strides.loop.assign(static_cast<std::size_t>(depth), 0);
  some.strides.loop.push_back(at_once * 512);
  part.load(some);
  part.wait(at_once);
  part.fp32(at_once * 4, at_once * 4, 1);
  code.repeat(loads / at_once - 1, std::move(part));
  code.wait(0);
  code.fp32(at_once * 4, at_once * 4, 1);
  return code;
}

}  // namespace

Listing finish_tile(const Plan& p, std::int64_t depth) {
  if (p.split > 1) { return to_workspace(p); }
  if (p.schedule != Schedule::StreamK) { return to_d(p, depth); }
  Listing last = from_workspace(p, depth);
  last.append(to_d(p, depth));
  Op op = simple(OpKind::Diverge);
  op.diverge_by = kernel::DivergeBy::Portion;
  op.bodies = {to_d(p, depth).take(), to_workspace(p).take(), last.take()};
  Listing code;
  code.op(std::move(op));
  return code;
}

// Four elements per thread: the splits' loads two at a time, one store.
kernel::Kernel reduce_kernel(const Plan& p, const gpu::GpuSpec& gpu, const std::string& y) {
  constexpr std::int64_t kThreads = 256, kElements = 4;
  const Shape& s = p.shape;
  const std::int64_t elements = s.m * s.n, per_block = kThreads * kElements;
  const std::int64_t split_bytes = p.tiles() * p.partial_bytes();
  Listing code, pair;
  const auto add = [&](Listing& to, std::int64_t splits, std::int64_t first, bool in_loop) {
    Access some{.array = 0,
                .width = 16,
                .count = splits,
                .strides = {.block_x = per_block * 4, .warp = 512, .count = split_bytes},
                .offset = first * split_bytes,
                .streaming = true};
    if (in_loop) { some.strides.loop = {2 * split_bytes}; }
    to.load(some);
    to.wait(0);
    to.fp32(splits * kElements, kElements, 1);
  };
  code.prologue(2);
  add(pair, 2, 0, true);
  code.repeat(p.split / 2, std::move(pair));
  if (p.split % 2 != 0) { add(code, 1, p.split - 1, false); }
  code.pack(out_type(p), kElements);
  code.store(
      {.array = 1,
       .width = kElements * s.out_element,
       .strides = {.block_x = per_block * s.out_element, .warp = 32 * kElements * s.out_element}});
  kernel::Kernel k = plain_kernel(gpu, {ceil_div(elements, per_block), 1, 1}, kThreads, 32,
                                  std::move(code));
  k.name = "reduce";
  k.arrays = {{".workspace", unit::Bytes{p.split * split_bytes}, false},
              {y, unit::Bytes{elements * s.out_element}, false}};
  k.compulsory_read = unit::Bytes{p.split * elements * 4};
  k.compulsory_write = unit::Bytes{elements * s.out_element};
  k.flops = static_cast<double>(p.split * elements);
  k.note = "sums " + std::to_string(p.split) + " splits";
  return k;
}

}  // namespace wavetail::library::gemm
