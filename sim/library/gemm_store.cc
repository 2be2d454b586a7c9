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

Listing by_tma(const Plan& p, std::int64_t depth) {
  const std::int64_t row = p.strip() * p.shape.out_element;
  const std::int64_t warp_bytes = p.tile.m * row / p.warps();
  Op store = simple(OpKind::TmaStore);
  kernel::Box box;
  box.array = kD;
  box.rows = std::min(p.tile.m, p.shape.m);
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
  strip.pack(out_type(p), p.accumulators() / p.strips());
  strip.shared_store(strip_rows(p), std::max<std::int64_t>(1, warp_bytes / 512));
  strip.op(math_barrier(p));
  strip.op(store);
  Listing code;
  code.repeat(p.strips(), std::move(strip));
  return code;
}

// Accumulators lie as mma leaves them: eight rows of four lanes with two neighbouring columns each.
// Rows are counted as if the warps stood below each other, which moves the same bytes in pieces of
// the same shape as a grid of warps does.
Listing from_registers(const Plan& p) {
  const std::int64_t pitch = d_pitch(p), pair = 2 * p.shape.out_element;
  const bool groups = p.mainloop == Mainloop::Tma;
  const Tile w = groups ? Tile{16 * p.row_blocks(), p.tile.n, 0}
                        : Tile{p.tile.m / p.warps(), p.tile.n, 0};
  const std::int64_t between = groups ? 16 * p.warps()
                                      : 16;  // rows from a warp's 16 to its next 16
  Listing code;
  code.pack(out_type(p), p.accumulators());
  for (std::int64_t half = 0; half < w.m / 8; ++half) {
    Op op = simple(OpKind::Store, w.n / 8);
    op.access.array = kD;
    op.access.width = static_cast<int>(pair);
    op.access.pattern = kernel::Pattern::Listed;
    for (std::int64_t lane = 0; lane < 32; ++lane) {
      op.access.offsets.push_back(lane / 4 * pitch + lane % 4 * pair);
    }
    op.access.walk = kernel::WalkKind::Strides;
    op.access.strides = d_strides(p);
    op.access.strides.warp = (groups ? 16 : w.m) * pitch;
    op.access.strides.count = 8 * p.shape.out_element;
    op.access.offset = (half / 2 * between + half % 2 * 8) * pitch;
    code.op(std::move(op));
  }
  return code;
}

Listing to_d(const Plan& p, std::int64_t depth) {
  return p.tma_epilogue ? by_tma(p, depth) : from_registers(p);
}

// A warp's share of the tile's slot, 16 B per lane, in runs of up to `most` instructions.
Access slot(const Plan& p, std::int64_t count) {
  const std::int64_t tile = p.partial_bytes(), share = tile / p.warps();
  return {.array = kWorkspace,
          .width = 16,
          .count = count,
          .strides = {.block_x = tile,
                      .block_y = tile * p.group,
                      .block_z = tile * p.group * p.tiles_m,
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

// Four elements per thread: a load of each split's, one store.
kernel::Kernel reduce_kernel(const Plan& p, const gpu::GpuSpec& gpu, const std::string& y) {
  constexpr std::int64_t kThreads = 256, kElements = 4;
  const Shape& s = p.shape;
  const std::int64_t elements = s.m * s.n, per_block = kThreads * kElements;
  const std::int64_t split_bytes = p.tiles() * p.partial_bytes();
  Listing code;
  code.prologue(2);
  code.load({.array = 0,
             .width = 16,
             .count = p.split,
             .strides = {.block_x = per_block * 4, .warp = 512, .count = split_bytes},
             .streaming = true});
  code.wait(0);
  code.fp32(p.split * kElements, kElements, 1);
  code.pack(out_type(p), kElements);
  code.store(
      {.array = 1,
       .width = kElements * s.out_element,
       .strides = {.block_x = per_block * s.out_element, .warp = 32 * kElements * s.out_element}});
  kernel::Kernel k = plain_kernel(gpu, {ceil_div(elements, per_block), 1, 1}, kThreads,
                                  std::min<std::int64_t>(round_up(24 + 4 * p.split, 8), 128),
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
