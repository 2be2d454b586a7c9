// SPDX-License-Identifier: Apache-2.0
// Latency of dependent loads: one thread follows a chain through all lines of a set, in an order in
// which neighbours are far apart (the library's pointer_chase). The figure is the time per load,
// from two chases of different length, so that launch and warm-up cancel. The set is visited before
// each chase, so that caches hold what an earlier round left in them.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "study/protocols/all.h"
#include "study/protocols/async.h"

namespace wavetail::study {

namespace {

constexpr std::int64_t kKiB = 1024;
constexpr std::int64_t kLeastLoads = 4096;
constexpr std::int64_t kMostLoads = 32768;  // of the short chase; its lines are spread over the set

// Dependent operations behind every load of the chain, which is the last loop of the program.
void append(kernel::Kernel& chase, std::int64_t operations) {
  library::Listing code;
  code.int32(operations, 1);
  kernel::Program& body = chase.roles.front().program.back().bodies.front();
  for (kernel::Op& op : code.take()) { body.push_back(std::move(op)); }
}

Plan time_per_load(std::int64_t bytes, std::int64_t operations, const gpu::GpuSpec& gpu) {
  const std::int64_t lines = std::max<std::int64_t>(1, bytes / gpu.l1.line.count());
  const std::int64_t rounds = library::round_up(std::max(lines, kLeastLoads), lines);
  const std::int64_t few = std::min(rounds, kMostLoads), many = 2 * few;
  const auto chase = [&](std::int64_t loads) {
    return from_template("pointer_chase",
                         {.numbers = {{"bytes", lines * gpu.l1.line.count()}, {"loads", loads}},
                          .words = {{"x", "set"}}},
                         gpu);
  };
  std::vector<kernel::Kernel> kernels = chase(few);  // warm, chase
  kernels.push_back(chase(many).back());
  append(kernels[1], operations);
  append(kernels[2], operations);
  for (kernel::Kernel& k : kernels) { k.carveout = unit::Bytes{0}; }
  kernels[1].name = "short";
  kernels[2].name = "long";
  const auto loads = static_cast<double>(many - few);
  return {scenario_of(gpu, std::move(kernels), {0, 1, 0, 2}), Quantity::Time,
          [=](const run::Happened& h) { return (seconds_of(h, 2) - seconds_of(h, 1)) / loads; }};
}

constexpr std::int64_t kJump = 97;  // lines from one access to the next

// A chain of 16 B accesses through all `lines` of a set, by loads or by bulk copies, after each of
// which the thread reads the next address from shared memory.
kernel::Kernel chain(const gpu::GpuSpec& gpu, bool copies, std::int64_t lines,
                     std::int64_t accesses) {
  const std::int64_t jump = kJump * gpu.l1.line.count();
  library::Listing code, body;
  if (copies) {
    kernel::Box b = box(1, 16, 16, {.loop = {jump}});
    b.tensor_map = false;
    body.op(tma_load({b}, 0));
    body.op(mbarrier_wait(0));
    body.shared_load({.width = 8, .lanes = 1}, 1);
    body.wait_shared(0);
  } else {
    body.load(
        {.array = 0, .width = 16, .strides = {.loop = {jump}}, .lanes = 1, .streaming = true});
    body.wait(0);
  }
  code.prologue(1);
  code.repeat(accesses, std::move(body));
  kernel::Kernel k = library::plain_kernel(gpu, {1, 1, 1}, 1, 16, std::move(code));
  k.shared_memory = unit::Bytes{kKiB};
  k.arrays = {{"set", unit::Bytes{lines * gpu.l1.line.count()}, false}};
  if (copies) { k.mbarriers = {ring("bar", 1)}; }
  return k;
}

// The chain of bulk copies after a round that leaves in L2 what of the set it holds.
Plan time_per_copy(std::int64_t bytes, const gpu::GpuSpec& gpu) {
  std::int64_t lines = std::max<std::int64_t>(1, bytes / gpu.l1.line.count());
  if (lines % kJump == 0) { --lines; }  // else the chain would miss some
  const std::int64_t rounds = library::round_up(std::max(lines, kLeastLoads), lines);
  const std::int64_t few = std::min(rounds, kMostLoads), many = 2 * few;
  std::vector<kernel::Kernel> kernels{chain(gpu, true, lines, rounds), chain(gpu, true, lines, few),
                                      chain(gpu, true, lines, many)};
  const char* const names[] = {"warm", "short", "long"};
  for (std::size_t k = 0; k < kernels.size(); ++k) { kernels[k].name = names[k]; }
  const auto copies = static_cast<double>(many - few);
  return {scenario_of(gpu, std::move(kernels), {0, 1, 0, 2}), Quantity::Time,
          [=](const run::Happened& h) { return (seconds_of(h, 2) - seconds_of(h, 1)) / copies; }};
}

}  // namespace

Plan shared_latency(const gpu::GpuSpec& gpu) {
  const auto chase = [&](std::int64_t loads) {
    library::Listing code, body;
    code.prologue(1);
    body.shared_load({.width = 4, .lanes = 1}, 1);
    body.wait_shared(0);
    code.repeat(loads, std::move(body));
    kernel::Kernel k = library::plain_kernel(gpu, {1, 1, 1}, gpu.sm.warp_size, 16, std::move(code));
    k.shared_memory = unit::Bytes{kKiB};
    return k;
  };
  std::vector<kernel::Kernel> kernels{chase(kLeastLoads), chase(2 * kLeastLoads)};
  kernels[0].name = "short";
  kernels[1].name = "long";
  return {scenario_of(gpu, std::move(kernels), {0, 1}), Quantity::Time, [](const run::Happened& h) {
            return (seconds_of(h, 1) - seconds_of(h, 0)) / kLeastLoads;
          }};
}

Plan tma_extra_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"latency"});
  params.must_be("vs", "regular load");
  const std::int64_t lines = 2 * kKiB * kKiB / gpu.l1.line.count();
  std::vector<kernel::Kernel> kernels{
      chain(gpu, false, lines, lines), chain(gpu, false, lines, 2 * lines),
      chain(gpu, true, lines, lines), chain(gpu, true, lines, 2 * lines)};
  const char* const names[] = {"loads", "more_loads", "copies", "more_copies"};
  for (std::size_t k = 0; k < kernels.size(); ++k) { kernels[k].name = names[k]; }
  const auto accesses = static_cast<double>(lines);
  return {scenario_of(gpu, std::move(kernels), {0, 0, 1, 2, 3}), Quantity::Time,
          [=](const run::Happened& h) {
            return (seconds_more(h, 4, 3) - seconds_more(h, 2, 1)) / accesses;
          }};
}

Plan latency_curve_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"latency"});
  params.must_be("access", "dependent_load");
  params.must_be("threads", "1");
  const double kib = params.number("working_set_kB");
  if (kib < 0.125 || kib > 64.0 * kKiB * kKiB) {
    throw Unmapped(fmt::format("working_set_kB={}: 0.125 to 67108864 can be simulated", kib));
  }
  const auto bytes = static_cast<std::int64_t>(kib * kKiB);
  // Chains of bulk copies are called loads in their parameters; their note says what they are.
  if (params.row().notes.find("TMA bulk copies") != std::string::npos) {
    return time_per_copy(bytes, gpu);
  }
  return time_per_load(bytes, 0, gpu);
}

// A row that names a level and no set: 16 KiB lie in every L1, eight times the L1 in the near half
// of every L2, and four times the L2 in none. The p-chase of HOP24 moves the address through two
// registers between its loads; the latency of shared memory in the GPU files has them in it.
Plan latency_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"latency"});
  const std::int64_t moves = params.has("method") && params.word("method").starts_with("p-chase")
                                 ? 2
                                 : 0;
  const std::string level = params.one_of(
      "level", std::array<std::string_view, 5>{"L1", "shared", "L2", "global", "L2 4MB ldcg"});
  if (level == "shared") { return shared_latency(gpu); }
  const std::int64_t bytes = level == "L1"            ? 16 * kKiB
                             : level == "L2"          ? 8 * gpu.sm.unified_l1.count()
                             : level == "L2 4MB ldcg" ? 4 * kKiB * kKiB
                                                      : 4 * gpu.cached().count();
  return time_per_load(bytes, moves, gpu);
}

}  // namespace wavetail::study
