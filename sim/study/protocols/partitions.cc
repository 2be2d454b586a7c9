// SPDX-License-Identifier: Apache-2.0
// What a load costs by the L2 partition that its line belongs to: one thread of the first SM
// follows a chain of lines, all of which are near it or all far, each once. Which are which the
// published benchmark found out by timing; here the memory is asked. Lines that are to hit were
// read before: far ones by an SM on their own side, so that no copy of them lies near the reader.
#include <algorithm>
#include <array>

#include "memory/system.h"
#include "study/protocols/all.h"
#include "study/protocols/bench.h"

namespace wavetail::study {

namespace {

constexpr std::int64_t kFewPages = 32, kManyPages = 96;  // of the short and the long chain
constexpr std::int64_t kRegion = std::int64_t{2} << 20;  // of the array, per block that warms it

using Pages = std::vector<std::int64_t>;  // offsets in the array, bytes

// The array lies at address 0: it is the only one. Its last region belongs to the block on the last
// GPC.
Pages pages_of(const gpu::GpuSpec& gpu, bool far, std::int64_t region) {
  event::Wheel wheel;
  const memory::System memory(gpu, memory::Clocks(gpu), wheel, 1);
  Pages pages;
  for (std::int64_t at = region * kRegion; at < (region + 1) * kRegion; at += memory::kPageBytes) {
    if (memory.is_far(0, at / memory::kLineBytes) == far) { pages.push_back(at); }
  }
  if (static_cast<std::int64_t>(pages.size()) < kFewPages + kManyPages) {
    throw Unmapped("one partition holds too few pages of the array");
  }
  return pages;
}

kernel::Kernel chase(const gpu::GpuSpec& gpu, std::span<const std::int64_t> pages,
                     std::int64_t regions) {
  library::Listing code, body;
  code.prologue(1);
  for (const std::int64_t page : pages) {
    body.load({.array = 0,
               .width = 4,
               .strides = {.loop = {memory::kLineBytes}},
               .offset = page,
               .lanes = 1,
               .streaming = true});
    body.wait(0);
  }
  code.repeat(memory::kLinesPerPage, std::move(body));
  kernel::Kernel k = library::plain_kernel(gpu, {1, 1, 1}, gpu.sm.warp_size, 32, std::move(code));
  k.arrays = {{"array", unit::Bytes{regions * kRegion}, false}};
  return k;
}

// A block on every GPC reads a region.
kernel::Kernel warm(const gpu::GpuSpec& gpu, std::int64_t regions) {
  constexpr std::int64_t kWidth = 16, kBatch = 8;
  const std::int64_t warp = gpu.sm.warp_size * kWidth;
  library::Listing code, body;
  code.prologue(1);
  body.load({.array = 0,
             .width = kWidth,
             .count = kBatch,
             .strides = {.block_x = kRegion, .count = warp, .loop = {kBatch * warp}},
             .streaming = true});
  body.wait(0);
  code.repeat(kRegion / (kBatch * warp), std::move(body));
  kernel::Kernel k = library::plain_kernel(gpu, {regions, 1, 1}, gpu.sm.warp_size, 32,
                                           std::move(code));
  k.arrays = {{"array", unit::Bytes{regions * kRegion}, false}};
  return k;
}

}  // namespace

Plan partition_latency_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"latency"});
  const std::string which = params.one_of(
      "case", std::array<std::string_view, 4>{"near hit", "far hit", "near miss", "far miss"});
  if (gpu.l2.partitions < 2) { throw Unmapped("the L2 of " + gpu.name + " has one partition"); }
  const bool far = which.starts_with("far"), hit = which.ends_with("hit");
  const auto gpcs = static_cast<std::int64_t>(gpu.gpcs.size());
  const Pages pages = pages_of(gpu, far, far ? gpcs - 1 : 0);
  const std::span<const std::int64_t> all(pages);
  std::vector<kernel::Kernel> kernels{chase(gpu, all.first(kFewPages), gpcs),
                                      chase(gpu, all.subspan(kFewPages, kManyPages), gpcs)};
  kernels[0].name = "short";
  kernels[1].name = "long";
  if (hit) {
    kernels.push_back(warm(gpu, gpcs));
    kernels.back().name = "warm";
  }
  const double loads = static_cast<double>((kManyPages - kFewPages) * memory::kLinesPerPage);
  return {scenario_of(gpu, std::move(kernels), hit ? std::vector{2, 0, 1} : std::vector{0, 1}),
          Quantity::Time,
          [=](const run::Happened& h) { return (seconds_of(h, 1) - seconds_of(h, 0)) / loads; }};
}

}  // namespace wavetail::study
