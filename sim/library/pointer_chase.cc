// SPDX-License-Identifier: Apache-2.0
// pointer_chase: one thread follows a chain of dependent loads through a set of lines, each line
// once per round, neighbours in the chain far apart. A first kernel ("NAME.warm", one block) reads
// the set line by line so that the caches hold what a repeated chase would leave in them; a set
// that fits L1 is read again at the start of the chase itself, because L1 does not survive a
// launch.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "library/all.h"
#include "library/parts.h"

namespace wavetail::library {

namespace {

constexpr std::int64_t kUnroll = 8;

// A number near `lines` x 0.618 without a common divisor: multiples of it visit every line once.
std::int64_t far_step(std::int64_t lines) {
  std::int64_t step = std::max<std::int64_t>(1, lines * 618 / 1000);
  while (std::gcd(step, lines) != 1) { ++step; }
  return step;
}

// Reads the whole set once with `warps` warps, `kUnroll` loads of 16 B per lane in flight each.
void read_all(Listing& code, std::int64_t bytes, std::int64_t warps, const gpu::GpuSpec& gpu) {
  const std::int64_t request = gpu.sm.warp_size * 16;
  Listing body;
  body.load({.array = 0,
             .count = kUnroll,
             .strides = {
                 .warp = request, .count = warps * request, .loop = {warps * request * kUnroll}}});
  body.wait(0);
  body.loop_step(1);
  code.repeat(ceil_div(bytes, warps * request * kUnroll), std::move(body));
}

std::vector<Mistake> make(const Arguments& arguments, const gpu::GpuSpec& gpu,
                          std::vector<kernel::Kernel>& out) {
  const Values v(arguments);
  const std::int64_t line = gpu.l1.line.count();
  const std::int64_t bytes = v.number("bytes");
  if (bytes % line != 0) {
    return {{"bytes", fmt::format("is {} B; whole lines of {} B are needed", bytes, line)}};
  }
  const std::int64_t lines = bytes / line;
  const std::int64_t loads = v.number_or("loads",
                                         round_up(std::max<std::int64_t>(lines, 4096), lines));
  const kernel::Array set{v.array("x"), unit::Bytes{bytes}};
  constexpr std::int64_t kWarps = 32;

  Listing warm;
  warm.prologue(1);
  read_all(warm, bytes, kWarps, gpu);
  kernel::Kernel first = plain_kernel(gpu, {1, 1, 1}, kWarps * gpu.sm.warp_size, 56,
                                      std::move(warm));
  first.name = "warm";
  first.arrays = {set};
  first.compulsory_read = unit::Bytes{bytes};
  first.compulsory_write = unit::Bytes{0};
  first.note = "reads the set once, so that the chase finds the caches as a repeated chase would";

  Listing code, body;
  code.prologue(1);
  if (set.bytes <= gpu.sm.unified_l1) { read_all(code, bytes, 1, gpu); }
  body.load({.array = 0, .width = 8, .strides = {.loop = {far_step(lines) * line}}, .lanes = 1});
  body.wait(0);
  code.repeat(loads, std::move(body));
  kernel::Kernel chase = plain_kernel(gpu, {1, 1, 1}, gpu.sm.warp_size, 48, std::move(code));
  chase.arrays = {set};
  chase.compulsory_read = unit::Bytes{std::min(loads, lines) * 8};
  chase.compulsory_write = unit::Bytes{0};
  chase.note = fmt::format("{} dependent loads over {} lines; time / loads is the latency", loads,
                           lines);
  out.push_back(std::move(first));
  out.push_back(std::move(chase));
  return {};
}

}  // namespace

Template pointer_chase_template() {
  return {"pointer_chase",
          "one thread follows dependent loads through a set of lines, after a kernel NAME.warm "
          "that reads them",
          {required_size("bytes", 128, std::int64_t{1} << 36, "size of the set"),
           count_parameter("loads", 1, std::int64_t{1} << 31, {},
                           "dependent loads; if absent whole rounds, at least 4096"),
           array_parameter("x", "array read")},
          &make};
}

}  // namespace wavetail::library
