// SPDX-License-Identifier: Apache-2.0
// reduce: the sum of an array, as the first pass of a library's device-wide reduction: a persistent
// grid, each thread accumulates several vectors per trip, then a block-wide sum and one partial
// result per block.
#include <algorithm>

#include <fmt/format.h>

#include "library/all.h"
#include "library/parts.h"

namespace wavetail::library {

namespace {

std::vector<Mistake> make(const Arguments& arguments, const gpu::GpuSpec& gpu,
                          std::vector<kernel::Kernel>& out) {
  const Values v(arguments);
  const std::string dtype = v.word("dtype");
  const std::int64_t bytes = v.number("bytes"), unroll = v.number("unroll"),
                     threads = v.number("block");
  if (threads % gpu.sm.warp_size != 0) {
    return {
        {"block", fmt::format("is {}; whole warps of {} are needed", threads, gpu.sm.warp_size)}};
  }
  constexpr std::int64_t kWidth = 16;
  const std::int64_t tile = threads * kWidth * unroll;
  const std::int64_t grid = std::min(gpu.sms() * v.number("blocks_per_sm"), ceil_div(bytes, tile));
  const std::int64_t trips = ceil_div(bytes, grid * tile);
  const std::int64_t elements = unroll * kWidth / dtype_bytes(dtype);
  Listing code, body;
  code.prologue(1);
  body.load({.array = 0,
             .width = kWidth,
             .count = unroll,
             .strides = {.block_x = tile,
                         .warp = gpu.sm.warp_size * kWidth,
                         .count = threads * kWidth,
                         .loop = {grid * tile}},
             .streaming = true});
  body.loop_step(1);
  body.wait(0);
  body.unpack(dtype, elements);
  body.fp32(elements, 4, 1);
  code.repeat(trips, std::move(body));
  code.shuffle_sum(gpu.sm.warp_size, 1);
  code.barrier();
  code.shuffle_sum(threads / gpu.sm.warp_size, 1);
  code.store({.array = 1, .width = 4, .strides = {.block_x = 4}, .lanes = 1});

  kernel::Kernel k = plain_kernel(gpu, {grid, 1, 1}, threads, round_up(20 + 4 * unroll, 8),
                                  std::move(code));
  k.arrays = {{v.array("x"), unit::Bytes{round_up(bytes, gpu.sm.warp_size * kWidth)}},
              {v.array("y"), unit::Bytes{round_up(4 * grid, 32)}}};
  k.compulsory_read = unit::Bytes{bytes};
  k.compulsory_write = unit::Bytes{4 * grid};
  const std::int64_t count = bytes / dtype_bytes(dtype);
  k.flops = static_cast<double>(count);
  k.note = fmt::format("{} blocks, {} trips of {} vectors of 16 B per thread", grid, trips, unroll);
  out.push_back(std::move(k));
  return {};
}

}  // namespace

Template reduce_template() {
  return {
      "reduce",
      "sums an array",
      {required_size("bytes", 512, std::int64_t{1} << 42, "bytes read"), dtype_parameter("fp32"),
       count_parameter("unroll", 1, 16, "4", "loads of 16 B under way per thread"),
       count_parameter("block", 32, 1024, "256", "threads per block"),
       count_parameter("blocks_per_sm", 1, 32, "4", "blocks launched per SM"),
       array_parameter("x", "array read"), array_parameter("y", "partial sums")},
      &make};
}

}  // namespace wavetail::library
