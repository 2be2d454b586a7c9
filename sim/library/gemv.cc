// SPDX-License-Identifier: Apache-2.0
// gemv: y = W x, W row-major [rows, cols], as a library's kernel for batch 1. A warp takes a few
// rows at once, a vector load of W from each in flight, so that a piece of x is loaded (from L1)
// and unpacked once for all of them; FP32 accumulation, shuffles at the end. Where rows are few,
// several warps of a block share each row. The heuristics are beside the code that applies them.
#include <algorithm>

#include <fmt/format.h>

#include "library/all.h"
#include "library/parts.h"

namespace wavetail::library {

namespace {

constexpr std::int64_t kWarps = 8;         // per block
constexpr std::int64_t kWarpsWanted = 16;  // per SM: enough for latency and for the schedulers

struct Plan {
  std::int64_t rows = 0, row_bytes = 0;
  int element = 0, x_element = 0;       // bytes
  std::int64_t width = 0, request = 0;  // per lane, per warp
  std::int64_t unroll = 0;              // rows that a warp takes at once
  std::int64_t split = 1;               // warps per row
  std::int64_t trips = 0;               // loads per row and warp
  std::int64_t grid = 0, passes = 1;    // blocks, times that each takes its rows
};

// The widest vector of which a row holds whole warp loads.
std::int64_t choose_width(std::int64_t row_bytes, int element, std::int64_t warp_size) {
  for (const std::int64_t width : {16, 8, 4, 2, 1}) {
    if (width >= element && row_bytes % (width * warp_size) == 0) { return width; }
  }
  return 0;
}

// Warps per row: doubled until every SM has enough warps, while each keeps two loads of a row.
std::int64_t choose_split(std::int64_t groups, std::int64_t loads_per_row, std::int64_t sms) {
  std::int64_t split = 1;
  while (split < kWarps && groups * split < sms * kWarpsWanted &&
         loads_per_row % (split * 2) == 0 && loads_per_row / (split * 2) >= 2) {
    split *= 2;
  }
  return split;
}

std::vector<Mistake> plan(const Values& v, const gpu::GpuSpec& gpu, Plan& p) {
  const std::string dtype = v.word("dtype");
  p.rows = v.number("rows");
  p.element = dtype_bytes(dtype);
  p.x_element = std::max(p.element, 2);  // activations stay 16-bit beside FP8 weights
  p.row_bytes = v.number("cols") * p.element;
  p.width = v.number_or("width", choose_width(p.row_bytes, p.element, gpu.sm.warp_size));
  if (p.width == 0) {
    return {{"cols", fmt::format("gives rows of {} B; whole warp loads need a multiple of {} B",
                                 p.row_bytes, gpu.sm.warp_size * p.element)}};
  }
  if (auto mistakes = check_width("width", p.width); !mistakes.empty()) { return mistakes; }
  p.request = gpu.sm.warp_size * p.width;
  if (p.width < p.element || p.row_bytes % p.request != 0) {
    return {{"width",
             fmt::format(
                 "is {} B; rows of {} B need a width of at least {} B that divides them into whole "
                 "warp loads",
                 p.width, p.row_bytes, p.element)}};
  }
  p.unroll = std::min(v.number("unroll"), p.rows);
  p.split = choose_split(ceil_div(p.rows, p.unroll), p.row_bytes / p.request, gpu.sms());
  p.trips = p.row_bytes / p.request / p.split;
  const std::int64_t rows_per_block = kWarps / p.split * p.unroll;
  const std::int64_t whole = ceil_div(p.rows, rows_per_block);
  p.grid = v.number_or("blocks", whole);
  if (whole % p.grid != 0) {
    return {{"blocks", fmt::format("is {}; it must divide the {} groups of {} rows", p.grid, whole,
                                   rows_per_block)}};
  }
  p.passes = whole / p.grid;
  return {};
}

// One trip of a warp: a load from each of its rows, the matching piece of x, the products. The rows
// of a block are dealt out in turn, so that a warp's rows lie kWarps / split apart. The weights
// stream past L1; x stays in it.
Listing trip(const Plan& p, const std::string& dtype) {
  const std::int64_t piece = p.row_bytes / p.split, per_lane = p.width / p.element;
  const std::int64_t block = kWarps * piece * p.unroll, scale = p.x_element / p.element;
  const std::int64_t x_bytes = per_lane * p.x_element,
                     x_width = std::min<std::int64_t>(x_bytes, 16);
  const std::int64_t x_loads = x_bytes / x_width, x_request = p.request / p.width * x_width;
  Listing code;
  code.load({.array = 0,
             .width = p.width,
             .count = p.unroll,
             .strides = {.block_x = block,
                         .warp = piece,
                         .count = kWarps * piece,
                         .loop = {p.grid * block, p.request}},
             .streaming = true});
  code.load({.array = 1,
             .width = x_width,
             .count = x_loads,
             .strides = {.warp = p.split == 1 ? 0 : piece * scale,
                         .count = x_request,
                         .loop = {0, p.request * scale}}});
  code.loop_step(2);
  code.wait(0);
  code.unpack(dtype == "fp8" ? "bf16" : dtype, per_lane);
  code.unpack(dtype, p.unroll * per_lane);
  code.fp32(p.unroll * per_lane, 2 * p.unroll, 2);  // two accumulators per row
  return code;
}

// The sums over lanes, and over the warps that share a row; then the first of them stores.
void finish_rows(Listing& code, const Plan& p, const std::string& dtype, const gpu::GpuSpec& gpu) {
  const std::int64_t groups = kWarps / p.split, block = groups * p.unroll * p.x_element;
  code.fp32(p.unroll, p.unroll, 1);
  code.shuffle_sum(gpu.sm.warp_size, p.unroll);
  if (p.split > 1) {
    code.barrier();
    code.shuffle_sum(p.split, p.unroll);
  }
  code.pack(dtype, p.unroll);
  Listing result;
  result.store({.array = 2,
                .width = p.x_element,
                .strides = {.block_x = block, .warp = p.x_element, .loop = {p.grid * block}},
                .lanes = static_cast<int>(p.unroll),
                .lane_stride = groups * p.x_element});
  code.first_warps(p.split, std::move(result));
}

std::vector<Mistake> make(const Arguments& arguments, const gpu::GpuSpec& gpu,
                          std::vector<kernel::Kernel>& out) {
  const Values v(arguments);
  Plan p;
  if (auto mistakes = plan(v, gpu, p); !mistakes.empty()) { return mistakes; }
  const std::string dtype = v.word("dtype");
  Listing code, rows;
  code.prologue(3);
  rows.repeat(p.trips, trip(p, dtype));
  finish_rows(rows, p, dtype, gpu);
  code.repeat(p.passes, std::move(rows));

  const std::int64_t words = ceil_div(p.width, 4);  // of W and of x per load, and x as FP32
  const std::int64_t registers = round_up(16 + (p.unroll + 3) * words + p.unroll, 8);
  kernel::Kernel k = plain_kernel(gpu, {p.grid, 1, 1}, kWarps * gpu.sm.warp_size, registers,
                                  std::move(code));
  const std::int64_t x_bytes = v.number("cols") * p.x_element, y_bytes = p.rows * p.x_element;
  k.arrays = {{v.array("weights"), unit::Bytes{p.rows * p.row_bytes}, v.flag("fresh")},
              {v.array("x"), unit::Bytes{x_bytes}},
              {v.array("y"), unit::Bytes{round_up(y_bytes, 32)}}};
  k.compulsory_read = unit::Bytes{p.rows * p.row_bytes + x_bytes};
  k.compulsory_write = unit::Bytes{y_bytes};
  k.flops = 2.0 * static_cast<double>(p.rows) * static_cast<double>(v.number("cols"));
  k.note = fmt::format("{} of {} B per lane in flight from as many rows, {} per row, {} blocks",
                       p.unroll == 1 ? "a load" : fmt::format("{} loads", p.unroll), p.width,
                       p.split == 1 ? "a warp" : fmt::format("{} warps", p.split), p.grid);
  out.push_back(std::move(k));
  return {};
}

}  // namespace

Template gemv_template() {
  return {"gemv",
          "matrix times vector, weights row-major [rows, cols]",
          {required_count("rows", 1, std::int64_t{1} << 31, "outputs"),
           required_count("cols", 1, std::int64_t{1} << 31, "inputs"), dtype_parameter(),
           size_parameter("width", 1, 16, {},
                          "bytes per lane and load; the widest that fits the rows if absent"),
           count_parameter("blocks", 1, std::int64_t{1} << 31, {},
                           "blocks; if absent as many as take their rows once"),
           count_parameter("unroll", 1, 16, "4",
                           "rows that a warp takes at once, a load of each under way"),
           flag_parameter("fresh", "false",
                          "every launch reads weights of its own, as successive layers do"),
           array_parameter("weights", "the matrix"), array_parameter("x", "input vector"),
           array_parameter("y", "output vector")},
          &make,
          {{"rows", "cols"}}};
}

}  // namespace wavetail::library
