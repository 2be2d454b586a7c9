// SPDX-License-Identifier: Apache-2.0
// pointer_chase: one thread follows a chain of dependent loads through a set of lines, each line
// once per round, neighbours in the chain far apart. A first kernel ("NAME.warm", one block) visits
// the set in the same order, many loads at a time, so that the caches hold what an earlier round
// would have left in them; a set that fits L1 is visited again at the start of the chase itself,
// because L1 does not survive a launch.
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

// Visits every line once in the chain's order with `warps` warps, kUnroll loads in flight each.
void visit_all(Listing& code, std::int64_t lines, std::int64_t step, std::int64_t warps) {
  Listing body;
  body.load({.array = 0,
             .width = 8,
             .count = kUnroll,
             .strides = {.warp = step, .count = warps * step, .loop = {warps * step * kUnroll}},
             .lanes = 1});
  body.wait(0);
  body.loop_step(1);
  code.repeat(ceil_div(lines, warps * kUnroll), std::move(body));
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
  const std::int64_t step = far_step(lines) * line;
  const kernel::Array set{v.array("x"), unit::Bytes{bytes}};
  const std::int64_t warps = std::min<std::int64_t>(
      32, gpu.sm.max_threads_per_block / gpu.sm.warp_size);

  Listing warm;
  warm.prologue(1);
  visit_all(warm, lines, step, warps);
  kernel::Kernel first = plain_kernel(gpu, {1, 1, 1}, warps * gpu.sm.warp_size, 56,
                                      std::move(warm));
  first.name = "warm";
  first.arrays = {set};
  first.compulsory_read = unit::Bytes{lines * 8};
  first.compulsory_write = unit::Bytes{0};
  first.note =
      "visits the set in the same order, so that the chase finds the caches as a second round "
      "would";

  Listing code, body;
  code.prologue(1);
  if (set.bytes <= gpu.sm.unified_l1) { visit_all(code, lines, step, 1); }
  body.load({.array = 0, .width = 8, .strides = {.loop = {step}}, .lanes = 1});
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
