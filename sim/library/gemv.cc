// SPDX-License-Identifier: Apache-2.0
// gemv: y = W x, W row-major [rows, cols], as a library's kernel for batch 1: a warp per row (or
// several warps per row where rows are few), several vector loads of W in flight per warp, x from
// L1, FP32 accumulation, shuffles at the end. The heuristics are beside the code that applies them.
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
  std::int64_t split = 1;               // warps per row
  std::int64_t unroll = 0, loads = 0;   // loads in flight, loads per warp and row
  std::int64_t grid = 0, passes = 1;    // blocks, rows that each warp (or group of warps) handles
};

// The widest vector of which a row holds whole warp loads.
std::int64_t choose_width(std::int64_t row_bytes, int element, std::int64_t warp_size) {
  for (const std::int64_t width : {16, 8, 4, 2, 1}) {
    if (width >= element && row_bytes % (width * warp_size) == 0) { return width; }
  }
  return 0;
}

// Warps per row: doubled until every SM has enough warps, while each keeps four loads of a row.
std::int64_t choose_split(std::int64_t rows, std::int64_t loads_per_row, std::int64_t sms) {
  std::int64_t split = 1;
  while (split < kWarps && rows * split < sms * kWarpsWanted && loads_per_row % (split * 2) == 0 &&
         loads_per_row / (split * 2) >= 4) {
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
  p.split = choose_split(p.rows, p.row_bytes / p.request, gpu.sms());
  p.loads = p.row_bytes / p.request / p.split;
  p.unroll = std::min(v.number("unroll"), p.loads);
  const std::int64_t rows_per_block = kWarps / p.split;
  const std::int64_t whole = ceil_div(p.rows, rows_per_block);
  p.grid = v.number_or("blocks", whole);
  if (whole % p.grid != 0) {
    return {{"blocks", fmt::format("is {}; it must divide the {} groups of {} rows", p.grid, whole,
                                   rows_per_block)}};
  }
  p.passes = whole / p.grid;
  return {};
}

// One trip: `count` loads of W and of x, then the products. The weights stream past L1; x stays in
// it.
Listing trip(const Plan& p, const std::string& dtype, std::int64_t count,
             std::int64_t offset_loads) {
  const std::int64_t piece = p.row_bytes / p.split, per_lane = p.width / p.element;
  const std::int64_t x_bytes = per_lane * p.x_element,
                     x_width = std::min<std::int64_t>(x_bytes, 16);
  const std::int64_t x_loads = x_bytes / x_width, x_request = p.request / p.width * x_width;
  const std::int64_t scale = p.x_element / p.element;
  const Access w{.array = 0,
                 .width = p.width,
                 .count = count,
                 .strides = {.block_x = kWarps * piece,
                             .warp = piece,
                             .count = p.request,
                             .loop = {p.grid * kWarps * piece, p.unroll * p.request}},
                 .offset = offset_loads * p.request,
                 .streaming = true};
  const Access x{.array = 1,
                 .width = x_width,
                 .count = count * x_loads,
                 .strides = {.warp = p.split == 1 ? 0 : piece * scale,
                             .count = x_request,
                             .loop = {0, p.unroll * p.request * scale}},
                 .offset = offset_loads * p.request * scale};
  Listing code;
  code.load(w);
  code.load(x);
  code.loop_step(2);
  code.wait(0);
  code.unpack(dtype, count * per_lane);
  code.unpack(dtype == "fp8" ? "bf16" : dtype, count * per_lane);
  code.fp32(count * per_lane, 4, 2);  // four accumulators
  return code;
}

std::vector<Mistake> make(const Arguments& arguments, const gpu::GpuSpec& gpu,
                          std::vector<kernel::Kernel>& out) {
  const Values v(arguments);
  Plan p;
  if (auto mistakes = plan(v, gpu, p); !mistakes.empty()) { return mistakes; }
  const std::string dtype = v.word("dtype");
  Listing code, row;
  code.prologue(3);
  row.repeat(p.loads / p.unroll, trip(p, dtype, p.unroll, 0));
  if (p.loads % p.unroll != 0) {
    const std::int64_t done = p.loads / p.unroll * p.unroll;
    row.repeat(1, trip(p, dtype, p.loads - done, done));
  }
  row.fp32(3, 1, 1);  // the four accumulators
  row.shuffle_sum(gpu.sm.warp_size, 1);
  if (p.split > 1) {
    row.barrier();
    row.shuffle_sum(p.split, 1);
  }
  row.pack(dtype, 1);
  Listing result;
  const std::int64_t group = kWarps / p.split * p.x_element;  // bytes of y per block
  result.store({.array = 2,
                .width = p.x_element,
                .strides = {.block_x = group, .warp = p.x_element, .loop = {p.grid * group}},
                .lanes = 1});
  row.first_warps(p.split, std::move(result));
  code.repeat(p.passes, std::move(row));

  const std::int64_t registers = round_up(16 + 2 * p.unroll * ceil_div(p.width, 4), 8);
  kernel::Kernel k = plain_kernel(gpu, {p.grid, 1, 1}, kWarps * gpu.sm.warp_size, registers,
                                  std::move(code));
  const std::int64_t x_bytes = v.number("cols") * p.x_element, y_bytes = p.rows * p.x_element;
  k.arrays = {{v.array("weights"), unit::Bytes{p.rows * p.row_bytes}, v.flag("fresh")},
              {v.array("x"), unit::Bytes{x_bytes}},
              {v.array("y"), unit::Bytes{round_up(y_bytes, 32)}}};
  k.compulsory_read = unit::Bytes{p.rows * p.row_bytes + x_bytes};
  k.compulsory_write = unit::Bytes{y_bytes};
  k.flops = 2.0 * static_cast<double>(p.rows) * static_cast<double>(v.number("cols"));
  k.note = fmt::format("{} per row, {} loads of {} B per lane in flight, {} blocks of {} warps",
                       p.split == 1 ? std::string("a warp") : fmt::format("{} warps", p.split),
                       p.unroll, p.width, p.grid, kWarps);
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
                           "blocks; a warp per row (or split row) if absent"),
           count_parameter("unroll", 1, 16, "4", "loads of weights under way per warp"),
           flag_parameter("fresh", "false",
                          "every launch reads weights of its own, as successive layers do"),
           array_parameter("weights", "the matrix"), array_parameter("x", "input vector"),
           array_parameter("y", "output vector")},
          &make};
}

}  // namespace wavetail::library
