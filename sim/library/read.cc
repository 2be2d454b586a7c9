// SPDX-License-Identifier: Apache-2.0
// read: a streaming read that keeps a stated number of bytes under way on every SM. One block per
// SM; each warp holds a constant number of loads in flight (it waits for the oldest, uses it,
// issues the next), so that the bytes in flight are as asked and not a mean over bursts.
#include <algorithm>

#include <fmt/format.h>

#include "library/all.h"
#include "library/parts.h"

namespace wavetail::library {

namespace {

struct Shape {
  std::int64_t warps = 0, depth = 0;  // per SM, loads per warp
};

// Warps first up to one per scheduler, then up to four loads per warp, then more warps; where the
// number of loads does not divide so, the nearest depth that does.
Shape shape_for(std::int64_t loads, const gpu::GpuSpec& gpu) {
  const std::int64_t most_warps = gpu.sm.max_threads_per_block / gpu.sm.warp_size;
  const std::int64_t wanted = std::clamp<std::int64_t>(loads / gpu.sm.schedulers, 1, 4);
  for (std::int64_t step = 0; step < 16; ++step) {
    for (const std::int64_t depth : {wanted - step, wanted + step}) {
      if (depth >= 1 && loads % depth == 0 && loads / depth <= most_warps) {
        return {loads / depth, depth};
      }
    }
  }
  return {};
}

std::vector<Mistake> make(const Arguments& arguments, const gpu::GpuSpec& gpu,
                          std::vector<kernel::Kernel>& out) {
  const Values v(arguments);
  const std::int64_t bytes = v.number("bytes"), width = v.number("width"),
                     held = v.number("in_flight_per_sm");
  if (auto mistakes = check_width("width", width); !mistakes.empty()) { return mistakes; }
  const std::int64_t request = gpu.sm.warp_size * width;
  if (held % request != 0) {
    return {{"in_flight_per_sm",
             fmt::format("is {} B; a multiple of {} B, one warp load, is needed", held, request)}};
  }
  const Shape shape = shape_for(held / request, gpu);
  if (shape.warps == 0) {
    return {
        {"in_flight_per_sm",
         fmt::format(
             "is {} warp loads, which no number of warps up to {} with up to 20 loads each gives",
             held / request, gpu.sm.max_threads_per_block / gpu.sm.warp_size)}};
  }
  const std::int64_t step = gpu.sms() * shape.warps * request;
  const std::int64_t trips = std::max(ceil_div(bytes, step), shape.depth);
  Access load{.array = 0,
              .width = width,
              .count = shape.depth,
              .strides = {.block_x = shape.warps * request, .warp = request, .count = step},
              .streaming = true};
  const std::int64_t words = ceil_div(width, 4);
  Listing code, body;
  code.prologue(1);
  code.load(load);
  body.wait(shape.depth - 1);
  load.offset = shape.depth * step;
  load.count = 1;
  load.strides.loop = {step};
  body.load(load);             // the next one first, so that the bytes in flight stay the same
  body.fp32(words, words, 1);  // each word goes into an accumulator of its own
  body.loop_step(1);
  code.repeat(trips - shape.depth, std::move(body));
  code.wait(0);
  code.fp32(words * shape.depth, words, 1);

  const std::int64_t registers = round_up(20 + words * (shape.depth + 2), 8);
  kernel::Kernel k = plain_kernel(gpu, {gpu.sms(), 1, 1}, shape.warps * gpu.sm.warp_size, registers,
                                  std::move(code));
  k.arrays = {{v.array("x"), unit::Bytes{round_up(bytes, request)}}};
  k.compulsory_read = unit::Bytes{bytes};
  k.compulsory_write = unit::Bytes{0};
  k.flops = static_cast<double>(bytes) / 4;
  k.note = fmt::format("{} warps per SM hold {} loads of {} B each", shape.warps, shape.depth,
                       request);
  out.push_back(std::move(k));
  return {};
}

}  // namespace

Template read_template() {
  return {
      "read",
      "streams through an array with a stated number of bytes in flight per SM",
      {required_size("bytes", 512, std::int64_t{1} << 42, "bytes read"),
       size_parameter("in_flight_per_sm", 32, 512 << 10, "32 KiB", "bytes under way on every SM"),
       size_parameter("width", 1, 16, "16 B", "bytes per lane and instruction"),
       array_parameter("x", "array read")},
      &make};
}

}  // namespace wavetail::library
