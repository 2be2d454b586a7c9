// SPDX-License-Identifier: Apache-2.0
// copy: every thread loads a few vectors, then stores them. As memory-copy kernels of libraries do,
// one block handles one contiguous tile and the grid covers the array.
#include <fmt/format.h>

#include "library/all.h"
#include "library/parts.h"

namespace wavetail::library {

namespace {

std::vector<Mistake> make(const Arguments& arguments, const gpu::GpuSpec& gpu,
                          std::vector<kernel::Kernel>& out) {
  const Values v(arguments);
  const std::int64_t bytes = v.number("bytes"), width = v.number("width"),
                     unroll = v.number("unroll");
  const std::int64_t threads = v.number("block"), tile = threads * width * unroll;
  if (auto mistakes = check_width("width", width); !mistakes.empty()) { return mistakes; }
  if (threads % gpu.sm.warp_size != 0) {
    return {
        {"block", fmt::format("is {}; whole warps of {} are needed", threads, gpu.sm.warp_size)}};
  }
  const kernel::Strides strides{
      .block_x = tile, .warp = gpu.sm.warp_size * width, .count = threads * width};
  Listing code;
  code.prologue(2);
  code.load({.array = 0, .width = width, .count = unroll, .strides = strides});
  code.wait(0);
  code.store({.array = 1, .width = width, .count = unroll, .strides = strides});

  const std::int64_t registers = round_up(16 + unroll * ceil_div(width, 4), 8);
  kernel::Kernel k = plain_kernel(gpu, {ceil_div(bytes, tile), 1, 1}, threads, registers,
                                  std::move(code));
  const unit::Bytes whole{round_up(bytes, gpu.sm.warp_size * width)};
  k.arrays = {{v.array("x"), whole}, {v.array("y"), whole}};
  k.compulsory_read = k.compulsory_write = unit::Bytes{bytes};
  k.note = fmt::format("{} B tiles, {} vectors of {} B per thread", tile, unroll, width);
  out.push_back(std::move(k));
  return {};
}

}  // namespace

Template copy_template() {
  return {"copy",
          "reads an array once and writes as much",
          {required_size("bytes", 16, std::int64_t{1} << 42, "bytes read; as many are written"),
           size_parameter("width", 1, 16, "16 B", "bytes per lane and instruction"),
           count_parameter("unroll", 1, 16, "4", "loads under way per thread"),
           count_parameter("block", 32, 1024, "256", "threads per block"),
           array_parameter("x", "array read"), array_parameter("y", "array written")},
          &make};
}

}  // namespace wavetail::library
