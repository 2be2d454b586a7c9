// SPDX-License-Identifier: Apache-2.0
// The program of an FP32 tile: copies some stages ahead, fragments a slice of K ahead, and
// one multiply-add per element of a lane's patch and slice.
#include <algorithm>

#include <fmt/format.h>

#include "library/sgemm.h"

namespace wavetail::library::sgemm {

namespace {

using kernel::Op;
using kernel::OpKind;

constexpr int kA = 0, kB = 1, kD = 2;
constexpr std::int64_t kWarp = 32;

Op simple(OpKind kind, std::int64_t count = 1) {
  Op op;
  op.kind = kind;
  op.count = count;
  return op;
}

struct Operand {
  int array = kA;
  std::int64_t rows = 0;  // of the tile
  std::int64_t pitch = 0, step = 0;
  bool along_k = true;
  kernel::Strides strides;
};

Operand operand_a(const Plan& p) {
  return {kA,
          p.tile_m,
          p.k * 4,
          p.tile_k * 4,
          true,
          {.block_y = p.tile_m * p.k * 4,
           .block_z = p.split > 1 ? p.steps() * p.tile_k * 4 : p.m * p.k * 4}};
}

Operand operand_b(const Plan& p) {
  const std::int64_t pitch = (p.b_k_major ? p.k : p.n) * 4;
  const std::int64_t step = p.b_k_major ? p.tile_k * 4 : p.tile_k * pitch;
  return {kB,
          p.tile_n,
          pitch,
          step,
          p.b_k_major,
          {.block_x = p.b_k_major ? p.tile_n * pitch : p.tile_n * 4,
           .block_z = p.split > 1 ? p.steps() * step : p.n * p.k * 4}};
}

// The block's warps share the copy; what a warp does not need in whole instructions, the first
// ones do.
struct Piece {
  std::int64_t width = 4, lanes_per_row = 8, rows_at_once = 4, count = 1, per_row = 1;
};

Piece piece_of(const Plan& p, const Operand& o) {
  Piece c;
  const std::int64_t row_bytes = (o.along_k ? p.tile_k : o.rows) * 4;
  const std::int64_t rows = o.along_k ? o.rows : p.tile_k;
  const std::int64_t each = rows * row_bytes / p.threads;
  const bool whole = p.aligned && o.pitch % 16 == 0 && row_bytes % 16 == 0;
  c.width = !whole || each < 8 ? 4 : each < 16 ? 8 : 16;
  c.lanes_per_row = std::min(kWarp, std::max<std::int64_t>(1, row_bytes / c.width));
  c.rows_at_once = kWarp / c.lanes_per_row;
  c.per_row = ceil_div(row_bytes, c.width * c.lanes_per_row);
  c.count = ceil_div(rows, c.rows_at_once * p.warps());
  return c;
}

void copy(Listing& code, OpKind kind, const Plan& p, const Operand& o, std::int64_t ahead) {
  const Piece c = piece_of(p, o);
  for (std::int64_t part = 0; part < c.per_row; ++part) {
    Op op = simple(kind, c.count);
    op.access.array = o.array;
    op.access.width = static_cast<int>(c.width);
    op.access.pattern = kernel::Pattern::Listed;
    for (std::int64_t lane = 0; lane < kWarp; ++lane) {
      op.access.offsets.push_back(lane / c.lanes_per_row * o.pitch +
                                  lane % c.lanes_per_row * c.width);
    }
    // Copies of words allocate in L1, too, but nothing of a step is read again there, and its
    // limit on waiting lines was seen with loads only: misaligned products are as fast as others.
    op.access.bypass_l1 = c.width == 16 || kind == OpKind::CpAsync;
    op.access.walk = kernel::WalkKind::Strides;
    op.access.strides = o.strides;
    op.access.strides.loop = {o.step};
    op.access.strides.warp = c.count * c.rows_at_once * o.pitch;
    op.access.strides.count = c.rows_at_once * o.pitch;
    op.access.offset = ahead * o.step + part * c.width * c.lanes_per_row;
    code.op(std::move(op));
  }
}

void copy_both(Listing& code, OpKind kind, const Plan& p, std::int64_t ahead) {
  copy(code, kind, p, operand_a(p), ahead);
  copy(code, kind, p, operand_b(p), ahead);
  code.loop_step(2);
}

// What registers have taken goes to shared memory, turned round: a word per lane.
void put(Listing& code, const Plan& p) {
  kernel::SharedAccess a;
  a.width = 4;
  a.count = 128;
  code.shared_store(a, ceil_div(p.stage_bytes(), p.threads * 4));
}

// A lane's fragments of one slice of K: lanes stand 8 along the longer side of the warp's part and
// 4 along the other, each with vectors of four elements.
void fragments(Listing& code, const Plan& p) {
  const std::int64_t part_m = p.tile_m / p.warps_m(), part_n = p.tile_n / p.warps_n();
  const std::int64_t along_m = part_m >= part_n ? 8 : 4, along_n = kWarp / along_m;
  const auto side = [&](std::int64_t part, std::int64_t lanes, bool is_m, std::int64_t base) {
    const std::int64_t each = std::max<std::int64_t>(1, part / lanes);
    const std::int64_t width = p.word_wise ? 4 : std::min<std::int64_t>(16, each * 4);
    kernel::SharedAccess a;
    a.width = static_cast<int>(width);
    a.pattern = kernel::SharedPattern::Listed;
    for (std::int64_t lane = 0; lane < kWarp; ++lane) {
      a.offsets.push_back((is_m ? lane / along_n : lane % along_n) * width);
    }
    a.offset = base;
    code.shared_load(a, ceil_div(each * 4, width));
  };
  side(part_m, along_m, true, 0);
  side(part_n, along_n, false, p.tile_m * p.tile_k * 4);
}

// Registers that a multiply-add reads from the register file: its sum, and of the fragments what
// the operand before it has not left in the reuse cache; more than two where both lie in one bank.
// Fitted on half of NeuSight's products of 128 x 128 tiles on an H100.
constexpr double kReads = 2.27;

// The fragments of the next slice are under way while a slice is multiplied.
void multiply_stage(Listing& code, const Plan& p, const gpu::GpuSpec& gpu) {
  Listing slice;
  slice.wait_shared(0);
  fragments(slice, p);
  if (p.converted) { slice.int32(p.tile_m / p.warps_m() / 8 + p.tile_n / p.warps_n() / 4, 4); }
  slice.fp32(p.patch(), p.patch(), 2);
  slice.fp32(register_turns(gpu, p.patch(), kReads), p.patch(), 0);
  code.repeat(p.tile_k / p.slices, std::move(slice));  // slices of K per warp
}

Listing pipelined(const Plan& p, const gpu::GpuSpec& gpu) {
  const std::int64_t ahead = std::min(p.stages - 1, p.trips());
  Listing tile, fill, both, last;
  copy_both(fill, OpKind::CpAsync, p, 0);
  fill.op(simple(OpKind::CpAsyncCommit));
  both.op(simple(OpKind::CpAsyncWait, std::max<std::int64_t>(0, ahead - 1)));
  both.barrier();
  copy_both(both, OpKind::CpAsync, p, ahead);
  both.op(simple(OpKind::CpAsyncCommit));
  multiply_stage(both, p, gpu);
  last.op(simple(OpKind::CpAsyncCommit));
  last.op(simple(OpKind::CpAsyncWait, std::max<std::int64_t>(0, ahead - 1)));
  last.barrier();
  multiply_stage(last, p, gpu);
  tile.repeat(ahead, std::move(fill));
  tile.repeat(p.trips() - ahead, std::move(both));
  tile.repeat(ahead, std::move(last));
  return tile;
}

// Through registers. Two stages: the next step's loads are under way while this one is multiplied.
Listing synchronous(const Plan& p, const gpu::GpuSpec& gpu) {
  Listing tile, step;
  if (p.stages == 1) {
    copy_both(step, OpKind::Load, p, 0);
    step.wait(0);
    step.barrier();
    put(step, p);
    step.barrier();
    multiply_stage(step, p, gpu);
    tile.repeat(p.trips(), std::move(step));
    return tile;
  }
  Listing first;
  copy_both(first, OpKind::Load, p, 0);
  first.wait(0);
  put(first, p);
  first.barrier();
  copy_both(step, OpKind::Load, p, 1);
  multiply_stage(step, p, gpu);
  step.wait(0);
  put(step, p);
  step.barrier();
  tile.repeat(1, std::move(first));
  tile.repeat(std::max<std::int64_t>(0, p.trips() - 1), std::move(step));
  multiply_stage(tile, p, gpu);
  return tile;
}

// Rows of D in pieces of 16 B per lane where they are aligned. Slices meet in shared memory first.
void finish(Listing& code, const Plan& p) {
  const std::int64_t words = p.patch();
  if (p.slices > 1) {
    code.barrier();
    kernel::SharedAccess a;
    a.width = 16;
    code.shared_store(a, ceil_div(words, 4));
    code.barrier();
    code.shared_load(a, ceil_div(words, 4));
    code.wait_shared(0);
    code.fp32(words, 8, 1);
  }
  const std::int64_t width = p.n % 4 == 0 && p.tile_m * p.tile_n >= p.threads * 4 ? 16 : 4;
  const std::int64_t lanes = std::min(kWarp, p.tile_n * 4 / width), rows = kWarp / lanes;
  const std::int64_t count = std::max<std::int64_t>(1,
                                                    p.tile_m * p.tile_n * 4 / (p.threads * width));
  Op op = simple(OpKind::Store, count);
  op.access.array = kD;
  op.access.width = static_cast<int>(width);
  op.access.pattern = kernel::Pattern::Listed;
  for (std::int64_t lane = 0; lane < kWarp; ++lane) {
    op.access.offsets.push_back(lane / lanes * p.n * 4 + lane % lanes * width);
  }
  op.access.walk = kernel::WalkKind::Strides;
  op.access.strides = {.block_x = p.tile_n * 4,
                       .block_y = p.tile_m * p.n * 4,
                       .block_z = p.m * p.n * 4,
                       .warp = count * rows * p.n * 4,
                       .count = rows * p.n * 4};
  code.op(std::move(op));
}

}  // namespace

kernel::Kernel main_kernel(const Plan& p, const gpu::GpuSpec& gpu, const std::string& x,
                           const std::string& weights, const std::string& y) {
  Listing code;
  code.prologue(3);
  code.append(p.async && p.stages > 1 ? pipelined(p, gpu) : synchronous(p, gpu));
  finish(code, p);
  kernel::Kernel k = plain_kernel(
      gpu, {ceil_div(p.n, p.tile_n), ceil_div(p.m, p.tile_m), p.batch * p.split}, p.threads,
      p.registers(), std::move(code));
  k.shared_memory = unit::Bytes{
      std::max(p.stages * p.stage_bytes(), p.slices > 1 ? p.tile_m * p.tile_n * 4 : 0)};
  const std::int64_t a = p.batch * p.m * p.k * 4, b = p.batch * p.k * p.n * 4,
                     d = p.batch * p.m * p.n * 4 * p.split;
  k.arrays = {{x, unit::Bytes{round_up(a, 512)}, false},
              {weights, unit::Bytes{round_up(b, 512)}, false},
              {p.split > 1 ? ".workspace" : y, unit::Bytes{round_up(d, 512)}, false}};
  k.compulsory_read = unit::Bytes{a + b};
  k.compulsory_write = unit::Bytes{d};
  k.flops = 2.0 * static_cast<double>(p.batch * p.m) * static_cast<double>(p.n) *
            static_cast<double>(p.k);
  k.accumulators = p.tile_m * p.tile_n;
  k.note = fmt::format("tile {}x{}x{}, {} threads with {} sums each{}{}, {} stages{}", p.tile_m,
                       p.tile_n, p.tile_k, p.threads, p.patch(),
                       p.slices > 1 ? fmt::format(" in {} slices of K", p.slices) : "",
                       p.split > 1 ? fmt::format(", K in {} parts", p.split) : "", p.stages,
                       p.why.empty() ? "" : "; " + p.why);
  return k;
}

}  // namespace wavetail::library::sgemm
