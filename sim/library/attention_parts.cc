// SPDX-License-Identifier: Apache-2.0
// What the programs of fused attention share. A thread of the multiplying warps holds two rows of
// scores per 16 rows of its tile, and four lanes share a row, as mma and wgmma lay them out.
#include <algorithm>

#include <fmt/format.h>

#include "library/attention.h"
#include "library/gemm.h"

namespace wavetail::library::attention {

using kernel::Op;
using kernel::OpKind;

namespace {

// (offset + block . y) / divisor, without the first `skip` blocks, at most `most`.
Op loop_of(const Plan& p, std::int64_t skip, std::int64_t least, std::int64_t most) {
  Op op = gemm::simple(OpKind::Repeat, most);
  const Shape& s = p.shape;
  if (!s.causal || s.decode || !p.skips) {
    op.count = std::clamp(p.steps - skip, std::min(least, most), most);
    return op;
  }
  // Tile t = tiles - 1 - y ends in front of row (t + 1) x rows; its last query sees prefix and all
  // queries up to its own: blocks of keys = ceil((pack x prefix + (t + 1) x rows) / (pack x cols)).
  op.over = kernel::Over::Index;
  op.trips.divisor = p.pack * p.cols;
  op.trips.offset = p.pack * s.prefix + p.tiles * p.rows + (1 - skip) * op.trips.divisor - 1;
  op.trips.block_y = -p.rows;
  op.trips.least = least;
  return op;
}

Listing looped(Op op, Listing body) {
  Listing code;
  if (op.count == 0) { return code; }
  op.bodies.push_back(body.take());
  code.op(std::move(op));
  return code;
}

// A shuffle goes through shared memory's pipe.
void shuffle(Listing& code, std::int64_t values) {
  kernel::SharedAccess a;
  code.shared_load(a, values);
  code.wait_shared(0);
}

std::int64_t rows_per_thread(const Plan& p) {
  return 2 * std::max<std::int64_t>(1, p.rows * p.key_warps / (16 * p.warps));
}

double attended(const Plan& p) {  // pairs of query and key that count, of one head
  const auto q = static_cast<double>(p.shape.queries), k = static_cast<double>(p.shape.keys);
  if (!p.shape.causal) { return q * k; }
  return q * static_cast<double>(p.shape.prefix) + q * (q + 1) / 2;
}

}  // namespace

Listing over_keys(const Plan& p, std::int64_t skip, bool masked, Listing body) {
  const std::int64_t most = std::max<std::int64_t>(0, p.steps - skip);
  if (masked) { return looped(loop_of(p, skip, 0, std::min(most, p.masked)), std::move(body)); }
  return looped(loop_of(p, skip + p.masked, 0, std::max<std::int64_t>(0, most - p.masked)),
                std::move(body));
}

Listing over_all_keys(const Plan& p, Listing body) {
  return looped(loop_of(p, 0, 1, p.steps), std::move(body));
}

void read_length(Listing& code, const Plan& p) {
  if (p.shape.varlen) {
    for (std::int64_t done = 0; done < p.shape.batch; done += 32 * 32) {
      code.load({.array = kLengths, .width = 4, .strides = {}});
      code.wait(0);
      code.int32(8, 2);  // tiles of a sequence, by a division
      for (int step = 0; step < 5; ++step) {
        shuffle(code, 1);
        code.int32(2, 1);
      }
      shuffle(code, 2);  // the sequence found, and how many tiles lie before it
    }
    code.barrier();
  }
  code.load({.array = kLengths,
             .width = 4,
             .strides = {.block_x = p.shape.kv_heads == 1 ? 4 : 0},
             .broadcast = true});
  code.wait(0);
}

void read_pages(Listing& code, const Plan& p) {
  if (p.shape.page == 0) { return; }
  const std::int64_t pages = ceil_div(p.shape.keys, p.shape.page);
  const std::int64_t per_step = std::max<std::int64_t>(1, p.cols / p.shape.page);
  code.load({.array = kPages,
             .width = 4,
             .strides = {.block_x = p.shape.decode ? pages / p.shape.kv_heads * 4 : 0,
                         .block_z = p.shape.decode ? p.steps * per_step * 4 : pages * 4,
                         .loop = {per_step * 4}},
             .lanes = static_cast<int>(std::min<std::int64_t>(32, per_step))});
  code.wait(0);
  code.int32(16, 4);  // addresses of the rows
}

kernel::Strides row_strides(const Plan& p, std::int64_t row_bytes) {
  const std::int64_t head = p.all_rows() * row_bytes;
  const std::int64_t heads = p.shape.group() / p.pack;
  if (!p.shape.decode) {
    return {.block_x = head, .block_y = -p.rows * row_bytes, .block_z = p.section * heads * head};
  }
  return {.block_x = heads * head, .block_y = heads == 1 ? p.rows * row_bytes : head};
}

kernel::Strides key_strides(const Plan& p, std::int64_t row_bytes) {
  const std::int64_t head = p.shape.keys * row_bytes;
  if (p.shape.decode) { return {.block_x = head, .block_z = p.steps * p.cols * row_bytes}; }
  return {.block_x = p.pack == p.shape.group() ? head : 0, .block_z = p.section * head};
}

// Maxima, comparisons and conversions are made at the rate of the integer pipe. The sum over a row
// runs in two chains beside the exponentials.
Listing softmax(const Plan& p, bool first, bool masked) {
  const std::int64_t e = p.scores(), rows = rows_per_thread(p);
  Listing code;
  if (masked) {
    code.int32(e, 8);
    code.fp32(e, 8, 0);
  }
  code.int32(e, rows);
  for (int step = 0; step < 2; ++step) {
    shuffle(code, rows);
    code.int32(rows, rows);
  }
  code.fp32(first ? rows : 2 * rows, rows, 2);
  if (!first) { code.arithmetic(kernel::Pipe::Sfu, rows, rows, 1); }
  code.fp32(e, 8, 2);
  code.arithmetic(kernel::Pipe::Sfu, e, 8, 1);
  code.fp32(e, 2 * rows, 1);
  code.pack(p.shape.dtype, e);
  return code;
}

Listing rescale(const Plan& p) {
  Listing code;
  code.fp32(p.results() + rows_per_thread(p), 8, 1);
  return code;
}

Listing normalise(const Plan& p) {
  const std::int64_t rows = rows_per_thread(p);
  Listing code;
  for (int step = 0; step < 2; ++step) {
    shuffle(code, rows);
    code.fp32(rows, rows, 1);
  }
  code.arithmetic(kernel::Pipe::Sfu, 2 * rows, rows, 1);  // reciprocal, logarithm
  code.fp32(p.results(), 8, 1);
  if (p.splits == 1) { code.pack(p.shape.dtype, p.results()); }
  return code;
}

void describe(kernel::Kernel& k, const Plan& p, const Values& v) {
  const Shape& s = p.shape;
  k.grid = p.grid();
  const std::int64_t heads = s.batch * s.q_heads, kv = s.batch * s.kv_heads * s.keys;
  const unit::Bytes q{heads * s.queries * p.k_row()}, keys{kv * p.k_row()};
  const unit::Bytes values{s.latent ? 0 : kv * p.v_row()};
  const unit::Bytes o{heads * s.queries * p.o_row() * p.splits};
  k.arrays = {{v.array("x"), q, false},
              {v.array("keys"), keys, s.fresh},
              {v.array("values"), std::max(values, unit::Bytes{128}), s.fresh},
              {p.splits > 1 ? std::string(".partials") : v.array("y"), o, false},
              {".lengths", unit::Bytes{round_up(4 * s.batch, 128)}, false}};
  if (s.page > 0) {
    k.arrays.push_back(
        {".pages", unit::Bytes{round_up(4 * s.batch * ceil_div(s.keys, s.page), 128)}, false});
  }
  k.compulsory_read = q + keys + values;
  k.compulsory_write = o;
  k.flops = 2.0 * static_cast<double>(heads * (s.dim + s.dim_v)) * attended(p);
  k.note = fmt::format("{} tiles of {}x{}, {} blocks of keys at most{}{}", kernel::volume(k.grid),
                       p.rows, p.cols, p.steps,
                       p.pack > 1 ? fmt::format(", {} query heads in a tile", p.pack) : "",
                       p.splits > 1 ? fmt::format(", {} splits", p.splits) : "");
}

// A warp per row: its lanes hold the row's columns and go through the splits, the scales first.
kernel::Kernel combine_kernel(const Plan& p, const Values& v, const gpu::GpuSpec& gpu) {
  constexpr std::int64_t kWarps = 4, kMost = 8;
  const Shape& s = p.shape;
  const std::int64_t rows = s.batch * s.q_heads * s.queries, row = s.dim_v * 4;
  const std::int64_t width = std::clamp<std::int64_t>(row / gpu.sm.warp_size, 4, 16);
  const std::int64_t lanes = std::min(gpu.sm.warp_size, row / width);
  const std::int64_t parts = ceil_div(row, width * gpu.sm.warp_size);
  Listing code;
  code.prologue(3);
  code.load({.array = 2,
             .width = 4,
             .strides = {.block_x = kWarps * p.splits * 4, .warp = p.splits * 4},
             .lanes = static_cast<int>(std::min(gpu.sm.warp_size, p.splits))});
  code.wait(0);
  code.arithmetic(kernel::Pipe::Sfu, 2, 1, 1);
  code.shuffle_sum(gpu.sm.warp_size, 2);
  const auto some = [&](std::int64_t n, std::int64_t done) {
    Listing part;
    for (std::int64_t i = 0; i < parts; ++i) {
      part.load({.array = 0,
                 .width = width,
                 .count = n,
                 .strides = {.block_x = kWarps * row,
                             .warp = row,
                             .count = rows * row,
                             .loop = {kMost * rows * row}},
                 .offset = done * rows * row + i * width * gpu.sm.warp_size,
                 .lanes = static_cast<int>(lanes)});
    }
    part.wait(0);
    part.fp32(n * parts * width / 4, parts * width / 4, 2);
    return part;
  };
  code.repeat(p.splits / kMost, some(kMost, 0));
  if (p.splits % kMost != 0) { code.repeat(1, some(p.splits % kMost, p.splits / kMost * kMost)); }
  code.pack(s.dtype, parts * width / 4);
  code.store({.array = 1,
              .width = std::max<std::int64_t>(1, width * s.out_element / 4),
              .count = parts,
              .strides = {.block_x = kWarps * s.dim_v * s.out_element,
                          .warp = s.dim_v * s.out_element,
                          .count = width * gpu.sm.warp_size * s.out_element / 4},
              .lanes = static_cast<int>(lanes)});
  kernel::Kernel k = plain_kernel(gpu, {ceil_div(rows, kWarps), 1, 1}, kWarps * gpu.sm.warp_size,
                                  48, std::move(code));
  k.name = "combine";
  k.arrays = {{".partials", unit::Bytes{rows * p.splits * row}, false},
              {v.array("y"), unit::Bytes{rows * s.dim_v * s.out_element}, false},
              {".scales", unit::Bytes{round_up(rows * p.splits * 4, 128)}, false}};
  k.compulsory_read = unit::Bytes{rows * p.splits * row};
  k.compulsory_write = unit::Bytes{rows * s.dim_v * s.out_element};
  k.flops = 2.0 * static_cast<double>(rows * p.splits * s.dim_v);
  k.note = fmt::format("merges {} splits per row", p.splits);
  return k;
}

}  // namespace wavetail::library::attention
