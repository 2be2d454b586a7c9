// SPDX-License-Identifier: Apache-2.0
// tcgen05.mma as SemiAnalysis measures it: one thread issues `depth` products, commits them to an
// mbarrier and waits for it; then again. A pair of blocks issues from its first one. The rounds of
// gb300-microbench end with a barrier of the block's four warps and of the pair as well.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "isa/tensor.h"
#include "study/protocols/all.h"
#include "study/protocols/async.h"
#include "study/protocols/tensor.h"

namespace wavetail::study {

namespace {

using kernel::Op;
using kernel::OpKind;
using kernel::TensorShape;

constexpr std::int64_t kRounds = 8;  // of the short kernel; the long one has twice as many
constexpr std::int64_t kDepth = 64;  // of an interval, against twice as many

// The waiting thread's warp and three others meet behind every round.
library::Listing meeting(const TensorShape& s) {
  constexpr std::size_t kWarps = 4;
  Op wait;
  wait.kind = OpKind::Diverge;
  wait.diverge_by = kernel::DivergeBy::Warp;
  wait.bodies.resize(kWarps);
  wait.bodies[0] = {mbarrier_wait(0)};
  library::Listing code;
  code.op(std::move(wait));
  code.barrier();
  if (s.ctas > 1) { code.op(cluster_barrier()); }
  return code;
}

// Rounds that end with a meeting, of four warps.
kernel::Kernel meeting_rounds_of(const gpu::GpuSpec& gpu, const TensorShape& s, std::int64_t depth,
                                 std::int64_t rounds) {
  Op multiply, commit;
  multiply.kind = OpKind::Tcgen05Mma;
  multiply.tensor = s;
  multiply.count = depth;
  commit.kind = OpKind::Tcgen05Commit;
  commit.mbarrier = 0;
  commit.pair = s.ctas > 1;
  library::Listing code, round;
  if (s.ctas > 1) {
    Op first;
    first.kind = OpKind::Diverge;
    first.diverge_by = kernel::DivergeBy::Rank;
    first.bodies = {{multiply, commit}, {}};
    round.op(std::move(first));
  } else {
    round.op(multiply);
    round.op(commit);
  }
  round.append(meeting(s));
  code.prologue(1);
  code.repeat(rounds, std::move(round));
  kernel::Kernel k = library::plain_kernel(gpu, {s.ctas, 1, 1}, 4 * gpu.sm.warp_size, 32,
                                           std::move(code));
  k.cluster = {s.ctas, 1, 1};
  k.tmem_columns = 512;
  k.mbarriers = {ring("done", 1)};
  k.mbarriers[0].open = false;
  return k;
}

kernel::Kernel rounds_of(const gpu::GpuSpec& gpu, const TensorShape& s, std::int64_t depth,
                         std::int64_t rounds) {
  Op multiply, commit;
  multiply.kind = OpKind::Tcgen05Mma;
  multiply.tensor = s;
  multiply.count = depth;
  commit.kind = OpKind::Tcgen05Commit;
  commit.mbarrier = 0;
  library::Listing code, round;
  round.op(multiply);
  round.op(commit);
  round.op(mbarrier_wait(0));
  code.prologue(1);
  code.repeat(rounds, std::move(round));
  if (s.ctas > 1) {
    Op first;
    first.kind = OpKind::Diverge;
    first.diverge_by = kernel::DivergeBy::Rank;
    first.bodies = {code.take(), {}};
    code.op(std::move(first));
  }
  kernel::Kernel k = library::plain_kernel(gpu, {s.ctas, 1, 1}, gpu.sm.warp_size, 32,
                                           std::move(code));
  k.cluster = {s.ctas, 1, 1};
  k.tmem_columns = 512;
  k.mbarriers = {ring("done", 1)};
  k.mbarriers[0].open = false;
  return k;
}

// Two kernels, of which the first is kernel `first` of its scenario, and the seconds of one round.
struct Rounds {
  std::vector<kernel::Kernel> kernels;
  std::function<double(const run::Happened&)> seconds;
};

Rounds round_time(const gpu::GpuSpec& gpu, const TensorShape& s, std::int64_t depth,
                  std::size_t first, bool meets = false) {
  const auto make = meets ? meeting_rounds_of : rounds_of;
  std::vector<kernel::Kernel> kernels{make(gpu, s, depth, kRounds),
                                      make(gpu, s, depth, 2 * kRounds)};
  kernels[0].name = fmt::format("short_{}", depth);
  kernels[1].name = fmt::format("long_{}", depth);
  return {std::move(kernels), [first](const run::Happened& h) {
            return (seconds_of(h, first + 1) - seconds_of(h, first)) / kRounds;
          }};
}

kernel::TensorType format_of(Params& params, const gpu::GpuSpec& gpu) {
  constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kFormats{
      {{"BF16", "bf16"},
       {"bf16", "bf16"},
       {"TF32", "tf32"},
       {"E4M3", "fp8"},
       {"E5M2", "fp8"},
       {"MXF8", "fp8"},
       {"S8", "int8"},
       {"F4", "fp4"},
       {"MXF4", "fp4"}}};
  const std::string text = params.word("fmt");
  for (const auto& [name, type] : kFormats) {
    if (text == name) { return type_of("fmt", type, gpu); }
  }
  throw Unmapped(fmt::format("fmt={}: unknown format", text));
}

TensorShape shape_of(Params& params, const gpu::GpuSpec& gpu) {
  TensorShape s;
  s.type = format_of(params, gpu);
  s.ctas = params.count("cta_group");
  s.m = params.has("M") ? params.count("M") : 128 * s.ctas;
  s.n = params.count("N");
  s.k = isa::wgmma_depth(s.type);
  params.agrees("K", s.k);
  constexpr std::array<std::string_view, 2> kPlaces{"SS", "TS"};
  s.a_in_registers = params.has("operands") && params.one_of("operands", kPlaces) == "TS";
  const std::int64_t rows = s.ctas > 0 ? s.m / s.ctas : 0;
  if (s.ctas > 2 || (rows != 64 && rows != 128) || s.n > 256 || s.n % 8 != 0) {
    throw Unmapped(
        fmt::format("cta_group={};M={};N={}: an SM works on 64 or 128 rows and up to 256 "
                    "columns",
                    s.ctas, s.m, s.n));
  }
  return s;
}

}  // namespace

Plan tcgen05_issue(const gpu::GpuSpec& gpu, const TensorShape& s) {
  kernel::Kernel k = rounds_of(gpu, s, kDepth, kRounds);
  k.name = "issue";
  const double clock = static_cast<double>(gpu.sm_clock().count());
  return {scenario_of(gpu, {std::move(k)}, {0}), Quantity::Time, [clock](const run::Happened& h) {
            const result::StallCycles& stalls = h.kernels[0].counters.stalls;
            const auto waits = static_cast<double>(stalls.math_pipe_throttle);
            return (waits / (kDepth * kRounds) + 1) / clock;
          }};
}

Plan umma_latency_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"latency"});
  const TensorShape s = shape_of(params, gpu);
  Rounds one = round_time(gpu, s, 1, 0);
  return {scenario_of(gpu, std::move(one.kernels), {0, 1}), Quantity::Time, std::move(one.seconds)};
}

Plan umma_interval_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"interval"});
  const TensorShape s = shape_of(params, gpu);
  Rounds few = round_time(gpu, s, kDepth, 0);
  const Rounds many = round_time(gpu, s, 2 * kDepth, 2);
  few.kernels.insert(few.kernels.end(), many.kernels.begin(), many.kernels.end());
  return {scenario_of(gpu, std::move(few.kernels), {0, 1, 2, 3}), Quantity::Time,
          [less = few.seconds, more = many.seconds](const run::Happened& h) {
            return (more(h) - less(h)) / kDepth;
          }};
}

Plan umma_throughput_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"flops_per_cycle", "flops_per_cycle_per_sm"});
  const bool meets = params.has("method");  // of gb300-microbench, by the pair's size
  if (meets) {
    (void)params.one_of("method", std::array<std::string_view, 2>{"umma_1sm", "umma_2sm"});
  }
  const TensorShape s = shape_of(params, gpu);
  const std::int64_t depth = params.count("depth");
  if (depth > 65536) { throw Unmapped(fmt::format("depth={}: up to 65536", depth)); }
  Rounds rounds = round_time(gpu, s, depth, 0, meets);
  const double flops = s.flops() * static_cast<double>(depth);
  return {scenario_of(gpu, std::move(rounds.kernels), {0, 1}), Quantity::OpRate,
          [=, seconds = rounds.seconds](const run::Happened& h) { return flops / seconds(h); },
          s.ctas};
}

}  // namespace wavetail::study
