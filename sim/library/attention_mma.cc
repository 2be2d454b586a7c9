// SPDX-License-Identifier: Apache-2.0
// Attention before Hopper as FlashAttention-2 does it (arXiv 2307.08691): all warps copy, read
// fragments with ldmatrix and multiply with mma.sync. One tile of K or V is under way at a time: V
// while the scores are made, the next K during the softmax and the second product. Decode is the
// same with few rows and the keys split over blocks (split-KV).
#include <algorithm>

#include "library/attention.h"
#include "library/gemm.h"

namespace wavetail::library::attention {

using gemm::simple;
using kernel::Op;
using kernel::OpKind;

namespace {

// The warps share a stretch of rows, 16 B per lane.
Op copy(const Plan& p, int array, std::int64_t rows, std::int64_t row, kernel::Strides strides) {
  Op op = simple(OpKind::CpAsync, std::max<std::int64_t>(1, rows * row / (512 * p.warps)));
  op.access.array = array;
  op.access.width = 16;
  op.access.lanes = static_cast<int>(
      std::min<std::int64_t>(32, ceil_div(rows * row, 16 * p.warps)));
  op.access.bypass_l1 = true;
  op.access.walk = kernel::WalkKind::Strides;
  strides.warp = op.count * 512;
  strides.count = 512;
  op.access.strides = std::move(strides);
  return op;
}

// `masked`: trips count from the first of the blocks at the tile's end.
Op copy_keys(const Plan& p, bool keys, std::int64_t first, bool masked) {
  const Shape& s = p.shape;
  const std::int64_t row = keys ? p.k_row() : p.v_row();
  kernel::Strides strides = key_strides(p, row);
  strides.loop = {p.cols * row};
  if (masked && s.causal) {
    strides.block_y = -ceil_div(p.rows, p.pack) * row;
    first += ceil_div(p.tiles * p.rows / p.pack + s.prefix, p.cols) - p.masked;
  } else if (masked) {
    first += p.steps - p.masked;
  }
  Op op = copy(p, keys ? kK : kV, std::min(p.cols, p.shape.keys), row, std::move(strides));
  op.access.offset = first * p.cols * row;
  return op;
}

// 16 rows of 32 B of a tile in shared memory under the swizzle that keeps them on different banks.
kernel::SharedAccess fragment() {
  kernel::SharedAccess a;
  a.width = 16;
  a.pattern = kernel::SharedPattern::Column;
  a.pitch = 128;
  a.per_line = 16;
  a.swizzle = {3, 4, 3};
  return a;
}

// A product in slices of 16 along its inner dimension: the next one's fragments are asked for
// before the present one is multiplied. Weights are in registers already.
void product(Listing& code, const Plan& p, bool scores) {
  const std::int64_t rows = p.rows * p.key_warps / p.warps, keys = p.cols / p.key_warps;
  const std::int64_t columns = scores ? keys : p.shape.dim_v;
  const std::int64_t slices = (scores ? p.shape.dim : keys) / 16;
  const std::int64_t fragments = columns / 16 + (scores ? rows / 16 : 0);
  Op mma = simple(OpKind::Mma, rows / 16 * (columns / 8));
  mma.distance = mma.count;
  mma.tensor = {16, 8, 16, p.shape.type, false};
  const auto slice = [&](bool more) {
    Listing one;
    one.wait_shared(0);
    if (more) { one.shared_load(fragment(), fragments); }
    one.op(mma);
    return one;
  };
  code.shared_load(fragment(), fragments);
  code.repeat(slices - 1, slice(true));
  code.append(slice(false));
}

void landed(Listing& code) {
  code.op(simple(OpKind::CpAsyncWait, 0));
  code.barrier();
}

// The next K is fetched behind the last block of keys, too: it is the present one again.
Listing step_of(const Plan& p, bool masked) {
  Listing step;
  landed(step);
  step.op(copy_keys(p, false, 0, masked));
  step.op(simple(OpKind::CpAsyncCommit));
  product(step, p, true);
  landed(step);
  read_pages(step, p);
  step.op(copy_keys(p, true, p.steps > 1 ? 1 : 0, masked));
  step.op(simple(OpKind::CpAsyncCommit));
  step.loop_step(2);
  step.append(softmax(p, false, masked));
  step.append(rescale(p));
  product(step, p, false);
  return step;
}

void store_result(Listing& code, const Plan& p) {
  const std::int64_t rows = std::min(p.rows, p.all_rows()), row = p.o_row();
  const std::int64_t count = std::max<std::int64_t>(1, rows * row / (512 * p.warps));
  code.shared_store(fragment(), count);
  code.barrier();
  code.shared_load(fragment(), count);
  code.wait_shared(0);
  kernel::Strides strides = row_strides(p, row);
  if (p.shape.decode) { strides.block_z = p.shape.batch * p.shape.q_heads * row; }
  strides.warp = count * 512;
  strides.count = 512;
  code.store(
      {.array = kO,
       .width = 16,
       .count = count,
       .strides = std::move(strides),
       .offset = p.shape.decode ? 0 : (p.tiles - 1) * p.rows * row,
       .lanes = static_cast<int>(std::min<std::int64_t>(32, ceil_div(rows * row, 16 * p.warps)))});
}

std::int64_t registers_of(const Plan& p) {
  return std::min<std::int64_t>(255, round_up(p.scores() + p.results() + 100, 8));
}

}  // namespace

kernel::Kernel mma_kernel(const Plan& p, const Values& v, const gpu::GpuSpec& gpu) {
  kernel::Strides q = row_strides(p, p.k_row());
  Op queries = copy(p, kQ, std::min(p.rows, p.all_rows()), p.k_row(), std::move(q));
  if (!p.shape.decode) { queries.access.offset = (p.tiles - 1) * p.rows * p.k_row(); }
  Listing code;
  code.prologue(4);
  read_length(code, p);
  code.int32(24, 2);  // which tile this is, which keys it sees
  code.op(queries);
  read_pages(code, p);
  code.op(copy_keys(p, true, 0, false));
  code.op(simple(OpKind::CpAsyncCommit));
  code.append(over_keys(p, 0, false, step_of(p, false)));
  code.append(over_keys(p, 0, true, step_of(p, true)));
  if (p.key_warps > 1) {  // the warps' maxima, sums and results become one
    code.shared_store(fragment(), ceil_div(p.results() * 4 * 32, 512));
    code.barrier();
    code.shared_load(fragment(), ceil_div(p.results() * 4 * 32, 512));
    code.wait_shared(0);
    code.fp32(p.results(), 8, 2);
  }
  code.append(normalise(p));
  store_result(code, p);
  kernel::Kernel k;
  describe(k, p, v);
  k.block = p.warps * gpu.sm.warp_size;
  k.registers = registers_of(p);
  kernel::Role role;
  role.warps = p.warps;
  role.program = code.take();
  k.roles.push_back(std::move(role));
  k.shared_memory = unit::Bytes{
      std::max(p.rows * p.k_row() + p.cols * (p.k_row() + p.v_row()), p.rows * p.o_row())};
  // Split-KV states no carve-out, and gets the one that holds a block: rounds of 108 blocks on an
  // A100 (AID rows of 256, 512 and 1,024 sequences and KV heads: 4.1 us per 128 keys).
  if (p.shape.decode && p.key_warps == 1) { k.carveout = k.shared_memory; }
  return k;
}

}  // namespace wavetail::library::attention
