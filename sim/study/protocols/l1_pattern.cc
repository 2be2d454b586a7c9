// SPDX-License-Identifier: Apache-2.0
// gpu-strides of gpu-benches: one block of 1024 threads loads from L1 in patterns, and the figure
// is the cycles of the SM per warp load. Thread i reads element (i mod 64) x arg (stride), or (x
// mod 64, y mod 32) of a matrix with rows of 4098 elements for a thread block of width arg (block);
// each trip loads at eight offsets and multiplies and adds them.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "study/protocols/all.h"
#include "study/protocols/bench.h"

namespace wavetail::study {

namespace {

constexpr std::array<std::int64_t, 8> kOffsets = {0, 4, 8, 12, 20, 16, 24, 28};  // elements
constexpr std::int64_t kPitch = 4098;                                            // elements
constexpr std::int64_t kTrips = 16;  // of the short kernel; the long one has twice as many

struct Shape {
  std::int64_t element = 4, block = 1024, argument = 0;
  bool stride = true;

  // The element that a thread's address begins at.
  [[nodiscard]] std::int64_t first(std::int64_t thread) const {
    if (stride) { return thread % 64 * argument; }
    const std::int64_t x = thread % argument, y = thread / argument;
    return x % 64 + y % 32 * kPitch + kPitch;
  }
};

kernel::Program program_of(const Shape& s, std::int64_t first_thread, std::int64_t warp_size,
                           std::int64_t trips) {
  library::Listing code;
  code.prologue(1);
  kernel::Op loop{.kind = kernel::OpKind::Repeat, .count = trips};
  kernel::MemoryAccess access{.array = 0,
                              .width = static_cast<int>(s.element),
                              .pattern = kernel::Pattern::Listed,
                              .walk = kernel::WalkKind::Strides};
  for (std::int64_t lane = 0; lane < warp_size; ++lane) {
    access.offsets.push_back(s.first(first_thread + lane) * s.element);
  }
  kernel::Program body;
  for (const std::int64_t offset : kOffsets) {
    access.offset = offset * s.element;
    body.push_back({.kind = kernel::OpKind::Load, .access = access});
  }
  body.push_back({.kind = kernel::OpKind::WaitLoads, .count = 0});
  body.push_back({.kind = kernel::OpKind::Arithmetic,
                  .count = 4,  // a product and a sum of two loads each
                  .pipe = s.element == 8 ? kernel::Pipe::Fp64 : kernel::Pipe::Fp32});
  loop.bodies = {std::move(body)};
  kernel::Program program = code.take();
  program.push_back(std::move(loop));
  return program;
}

// Warps whose lanes lie alike are one role.
kernel::Kernel readers(const Shape& s, const gpu::GpuSpec& gpu, std::int64_t trips) {
  kernel::Kernel k;
  k.block = s.block;
  k.registers = 32;
  k.arrays = {{"a", unit::Bytes{std::int64_t{2} << 20}, false}};
  for (std::int64_t w = 0; w < s.block / gpu.sm.warp_size; ++w) {
    kernel::Program program = program_of(s, w * gpu.sm.warp_size, gpu.sm.warp_size, trips);
    const auto same = std::find_if(k.roles.begin(), k.roles.end(),
                                   [&](const kernel::Role& r) { return r.program == program; });
    if (same != k.roles.end()) {
      ++same->warps;
    } else {
      k.roles.push_back({fmt::format("warps{}", w), 1, {}, std::move(program)});
    }
  }
  return k;
}

}  // namespace

Plan l1_pattern_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"cycles_per_warp_load"});
  params.must_be("data", "L1 resident");
  params.ignore({"access"});
  Shape s;
  s.element = params.one_of("elem", std::array<std::string_view, 2>{"float", "double"}) == "double"
                  ? 8
                  : 4;
  s.stride = params.one_of("pattern", std::array<std::string_view, 2>{"stride", "block"}) ==
             "stride";
  s.block = params.count("block");
  s.argument = params.count("arg", s.stride ? 0 : 1);
  if (s.argument > 1024 || s.block % gpu.sm.warp_size != 0) {
    throw Unmapped("arg goes up to 1024, and block is whole warps");
  }
  kernel::Kernel few = readers(s, gpu, kTrips), many = readers(s, gpu, 2 * kTrips);
  few.name = "short";
  many.name = "long";
  const auto loads = static_cast<double>(s.block / gpu.sm.warp_size * kTrips *
                                         static_cast<std::int64_t>(kOffsets.size()));
  return {scenario_of(gpu, {std::move(few), std::move(many)}, {0, 0, 1}), Quantity::Time,
          [=](const run::Happened& h) { return seconds_more(h, 2, 1) / loads; }};
}

}  // namespace wavetail::study
