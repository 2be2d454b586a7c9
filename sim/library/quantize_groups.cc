// SPDX-License-Identifier: Apache-2.0
#include "library/quantize.h"

#include <algorithm>

#include <fmt/format.h>

namespace wavetail::library {

namespace {

constexpr std::int64_t kThreads = 256, kVector = 8;  // elements per lane
constexpr std::int64_t kBlocksPerSm = 8;  // of a long matrix, which blocks then loop over

// A scale per group, by the group's first lane.
void store_scales(Listing& code, const GroupQuantize& q, std::int64_t per_block,
                  std::int64_t grid) {
  const std::int64_t lanes = q.group / kVector;
  kernel::Op op;
  op.kind = kernel::OpKind::Store;
  op.access.array = 2;
  op.access.width = static_cast<int>(q.scale_bytes);
  op.access.pattern = kernel::Pattern::Listed;
  for (std::int64_t lane = 0; lane < 32 / lanes; ++lane) {
    op.access.offsets.push_back(lane * q.scale_bytes);
  }
  op.access.walk = kernel::WalkKind::Strides;
  const std::int64_t of_block = per_block / q.group * q.scale_bytes;
  op.access.strides = {
      .block_x = of_block, .warp = of_block / (kThreads / 32), .loop = {grid * of_block}};
  code.op(std::move(op));
}

}  // namespace

kernel::Kernel group_quantize_kernel(const GroupQuantize& q, const gpu::GpuSpec& gpu) {
  const std::int64_t element = dtype_bytes(q.dtype), per_block = kThreads * kVector;
  const std::int64_t pieces = ceil_div(q.elements, per_block);
  const std::int64_t grid = std::min(pieces, gpu.sms() * kBlocksPerSm);
  const std::int64_t in = kVector * element, out = kVector * q.out_bits / 8;
  Listing code, body;
  body.load(
      {.array = 0,
       .width = in,
       .strides = {
           .block_x = per_block * element, .warp = 32 * in, .loop = {grid * per_block * element}}});
  body.loop_step(2);
  body.wait(0);
  body.unpack(q.dtype, kVector);
  body.fp32(kVector, 4, 1);
  body.shuffle_sum(q.group / kVector, 1);
  body.arithmetic(kernel::Pipe::Sfu, 2, 1, 0);  // the scale and its reciprocal
  body.fp32(kVector, 4, 1);
  body.pack("fp8", kVector);
  body.store({.array = 1,
              .width = out,
              .strides = {.block_x = per_block * q.out_bits / 8,
                          .warp = 32 * out,
                          .loop = {grid * per_block * q.out_bits / 8}}});
  store_scales(body, q, per_block, grid);
  code.prologue(3);
  code.repeat(ceil_div(pieces, grid), std::move(body));
  kernel::Kernel k = plain_kernel(gpu, {grid, 1, 1}, kThreads, 32, std::move(code));
  const std::int64_t scales = ceil_div(q.elements, q.group) * q.scale_bytes;
  k.name = "quantize";
  k.arrays = {{q.x, unit::Bytes{round_up(q.elements * element, 512)}, false},
              {q.y, unit::Bytes{round_up(q.elements * q.out_bits / 8, 512)}, false},
              {q.scales, unit::Bytes{round_up(scales, 512)}, false}};
  k.compulsory_read = unit::Bytes{q.elements * element};
  k.compulsory_write = unit::Bytes{q.elements * q.out_bits / 8 + scales};
  k.flops = static_cast<double>(2 * q.elements);
  k.note = fmt::format("a scale for every {} elements", q.group);
  return k;
}

}  // namespace wavetail::library
