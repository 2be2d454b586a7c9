// SPDX-License-Identifier: Apache-2.0
// Scales of narrow operands. Every stage brings those of its rows of A and B along. wgmma and
// mma.sync know none of them: the sums of 128 of K are multiplied by the scales on the CUDA cores
// and added to the tile's sums, which takes twice the registers and an FFMA per sum and step
// (DeepGEMM's promotion, github deepseek-ai/DeepGEMM). tcgen05 applies them itself, out of tensor
// memory, where tcgen05.cp brings them; they lie in memory as it wants them: 128 rows by 4 bytes,
// side by side along K (PTX ISA, scale factor layouts).
#include <algorithm>

#include "isa/tensor.h"
#include "library/gemm.h"

namespace wavetail::library::gemm {

namespace {

constexpr std::int64_t kRowsTogether = 128;  // whose scales lie side by side

// Rows whose scales a stage holds. Weights' blocks of 128 x 128 are not among the stages where sums
// are promoted.
std::int64_t rows_of(const Plan& p, bool is_a) {
  if (p.shape.scales == Scales::None) { return 0; }
  if (p.promotes()) {
    const bool staged = p.mainloop == Mainloop::Tma && is_a != p.swapped;
    return staged ? (is_a ? p.tile.m : p.tile.n) : 0;
  }
  return round_up(is_a ? p.tile.m : p.tile.n, kRowsTogether);
}

std::int64_t steps_of_k(const Plan& p) { return ceil_div(p.shape.k, p.tile.k); }

std::int64_t weight_rows(const Plan& p) { return p.swapped ? p.shape.m : p.shape.n; }

// A row of the array holds the scales of all rows of the matrix for one step (promotion), or of 128
// rows for all steps.
kernel::Box box_of(const Plan& p, bool is_a, bool in_tiles) {
  const std::int64_t tile = is_a ? p.tile.m : p.tile.n, all = is_a ? p.shape.m : p.shape.n;
  std::int64_t step = 0, next_tile = 0;
  kernel::Box box;
  if (p.promotes()) {
    const std::int64_t pitch = round_up(all * 4, 16);
    step = pitch;
    next_tile = tile * 4;
    box = tensor_box(scale_array(p, is_a), 1, std::min(round_up(tile * 4, 16), pitch), pitch, {});
  } else {
    const std::int64_t bytes = kRowsTogether * scale_row_bytes(p);
    const std::int64_t pitch = bytes * steps_of_k(p), groups = rows_of(p, is_a) / kRowsTogether;
    step = bytes;
    next_tile = tile * pitch / kRowsTogether;
    box = tensor_box(scale_array(p, is_a), std::min(groups, ceil_div(all, kRowsTogether)), bytes,
                     pitch, {});
    box.clip = true;
  }
  kernel::Strides& s = box.strides;
  s.loop.assign(in_tiles ? 1 : 0, 0);
  s.loop.push_back(step);
  (is_a ? s.block_y : s.block_x) = next_tile;
  s.block_z = p.split > 1 ? p.steps * step : 0;
  return box;
}

}  // namespace

std::int64_t scale_row_bytes(const Plan& p) {
  const std::int64_t elements = p.tile.k * p.shape.packed;
  switch (p.shape.scales) {
    case Scales::None: return 0;
    case Scales::Block: return p.promotes() ? 4 : 1;
    case Scales::Mx: return std::max<std::int64_t>(1, elements / 32);
    case Scales::Nv: return std::max<std::int64_t>(1, elements / 16);
  }
  return 0;
}

int scale_array(const Plan& p, bool is_a) { return image_array(p) + (is_a ? 1 : 2); }

std::int64_t Plan::scale_bytes() const {
  return (rows_of(*this, true) + rows_of(*this, false)) * scale_row_bytes(*this);
}

std::int64_t promotion_instructions(const Plan& p) { return p.promotes() ? p.accumulators() : 0; }

// The sub-partition's other warps multiply meanwhile; a warp's own wait for its last product.
double promotion_cycles(const Plan& p, const gpu::GpuSpec& gpu) {
  if (!p.promotes()) { return 0; }
  return static_cast<double>(promotion_instructions(p) * gpu.sm.warp_size) /
             static_cast<double>(gpu.pipes.fp32.lanes) +
         static_cast<double>(gpu.shared_memory.latency.count());
}

std::vector<kernel::Box> scale_boxes(const Plan& p, bool in_tiles) {
  std::vector<kernel::Box> boxes;
  for (const bool is_a : {true, false}) {
    if (rows_of(p, is_a) > 0) { boxes.push_back(box_of(p, is_a, in_tiles)); }
  }
  return boxes;
}

// A scale per 128 of K and of rows of the weights, read by the lanes side by side.
void read_weight_scales(Listing& code, const Plan& p) {
  if (!p.promotes()) { return; }
  const std::int64_t per_step = ceil_div(p.swapped ? p.tile.m : p.tile.n, kScaleBlock);
  Access a{.array = scale_array(p, p.swapped), .width = 4, .strides = {}};
  a.count = ceil_div(p.steps * per_step, p.warps() * p.lanes);
  a.strides.count = p.warps() * 128;
  a.strides.warp = 128;
  const std::int64_t column = round_up(steps_of_k(p) * 4, 4) * per_step;
  (p.swapped ? a.strides.block_y : a.strides.block_x) = column;
  code.load(a);
  code.wait(0);
}

// Two rows of a fragment have a scale each, of which the product with the weights' is one more
// instruction.
void promote(Listing& code, const Plan& p) {
  if (!p.promotes()) { return; }
  constexpr std::int64_t kRowsOfLane = 2;
  kernel::SharedAccess scales;
  scales.width = 4;
  scales.offset = p.a_bytes() + p.b_bytes();
  const std::int64_t rows = kRowsOfLane * std::max<std::int64_t>(1, p.row_blocks());
  code.shared_load(scales, rows);
  code.wait_shared(0);
  code.fp32(rows, rows, 1);
  code.fp32(promotion_instructions(p), promotion_instructions(p), 2);
}

void copy_scales(Listing& code, const Plan& p) {
  if (p.shape.scales == Scales::None) { return; }
  kernel::Op op = simple(kernel::OpKind::Tcgen05Copy);
  op.bytes = p.scale_bytes();
  code.op(std::move(op));
}

// Four bytes of each of 128 rows take a column, in every quarter of the lanes.
std::int64_t scale_columns(const Plan& p) {
  const std::int64_t groups = (rows_of(p, true) + rows_of(p, false)) / kRowsTogether;
  return groups * 4 * ceil_div(scale_row_bytes(p), 4);
}

void add_scale_arrays(kernel::Kernel& k, const Plan& p, const std::string& x,
                      const std::string& weights) {
  if (p.shape.scales == Scales::None) { return; }
  const Shape& s = p.shape;
  const std::int64_t steps = steps_of_k(p);
  for (const bool is_a : {true, false}) {
    const std::int64_t rows = is_a ? s.m : s.n;
    const bool blocks = p.promotes() && is_a == p.swapped;
    const std::int64_t bytes = blocks ? ceil_div(weight_rows(p), kScaleBlock) * steps * 4
                               : p.promotes()
                                   ? round_up(rows * 4, 16) * steps
                                   : round_up(rows, kRowsTogether) * scale_row_bytes(p) * steps;
    const bool is_x = is_a != p.swapped;
    k.arrays.push_back({(is_x ? x : weights) + ".scales", unit::Bytes{round_up(bytes, 128)},
                        !is_x && k.arrays[is_a ? kA : kB].per_launch});
  }
}

}  // namespace wavetail::library::gemm
