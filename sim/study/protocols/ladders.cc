// SPDX-License-Identifier: Apache-2.0
// Hand-written and profiled matrix products, each kernel as its row or source makes it: times and
// rates of launches that follow each other, counters of one launch under a profiler, cycles of a
// kernel's phases.
#include <fmt/format.h>

#include <algorithm>

#include "occupancy/occupancy.h"
#include "study/protocols/all.h"
#include "study/protocols/bench.h"
#include "study/protocols/library.h"
#include "study/protocols/products.h"
#include "study/protocols/sgemm.h"

namespace wavetail::study {

namespace {

double flops_of(const Product& p) {
  return 2.0 * static_cast<double>(p.m) * static_cast<double>(p.n) * static_cast<double>(p.k);
}

std::vector<int> in_turn(std::size_t kernels, std::int64_t times) {
  std::vector<int> order;
  for (std::int64_t t = 0; t < times; ++t) {
    for (std::size_t k = 0; k < kernels; ++k) { order.push_back(static_cast<int>(k)); }
  }
  return order;
}

double real(std::int64_t n) { return static_cast<double>(n); }

// What profilers call it, of the only launch of the scenario's first kernel.
double counter(const std::string& metric, const run::Happened& h, const gpu::GpuSpec& gpu) {
  const run::KernelAccount& a = h.kernels.front();
  const result::Counters& c = a.counters;
  const double seconds = unit::seconds(a.time);
  if (metric == "l2_hit_rate") {
    return 100 * real(c.l2_hit_sectors) / real(c.l2_read_sectors + c.l2_write_sectors);
  }
  if (metric == "dram_throughput") {
    return 100 * real(c.dram_read_bytes + c.dram_write_bytes) / seconds /
           real(gpu.hbm.bandwidth.count());
  }
  if (metric == "executed_ipc_active") {
    return real(c.warp_instructions) / real(c.active_sm_cycles);
  }
  if (metric == "achieved_occupancy") {  // warps that have exited are not active
    return 100 * real(c.resident_warp_cycles - c.stalls.exit) /
           (real(c.active_sm_cycles) * real(gpu.sm.max_warps));
  }
  return seconds;
}

// What the launch rules say; nothing where they do not.
std::optional<double> rule(const std::string& metric, const kernel::Kernel& k,
                           const gpu::GpuSpec& gpu) {
  const auto fit = occupancy::occupy(gpu, occupancy::launch_of(k));
  const auto blocks = [](std::optional<std::int64_t> n) { return real(n.value_or(0)); };
  if (metric == "theoretical_occupancy") { return fit.theoretical_pct; }
  if (metric == "block_limit_registers") { return blocks(fit.limits.registers); }
  if (metric == "block_limit_smem") { return blocks(fit.limits.shared_memory); }
  if (metric == "block_limit_warps") { return real(fit.limits.warps); }
  if (metric == "block_limit_sm") { return real(fit.limits.blocks); }
  if (metric == "waves_per_sm") {
    return real(kernel::volume(k.grid)) / real(fit.blocks_per_sm * gpu.sms());
  }
  if (metric == "sm_frequency") { return real(gpu.sm_clock().count()); }
  return std::nullopt;
}

// The worklog's first step multiplies on the FP32 pipe.
Plan on_fp32_pipe(Params& params, const gpu::GpuSpec& gpu) {
  params.ignore({"dtype", "acc", "data"});
  SgemmRow r;
  r.m = params.count("m");
  r.n = params.count("n");
  r.k = params.count("k");
  r.kernel = params.word("kernel");
  return waves_plan(ladder_kernel(r, gpu).value(), r, Harness::Launches,
                    params.row().metric == "time" ? Quantity::Time : Quantity::OpRate, gpu);
}

}  // namespace

// Launches back to back, as long ones alone: what lies between them counts.
Plan ladder_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"time", "throughput"});
  constexpr double kLong = 4e11;  // FLOP: beyond it the gap is below a thousandth
  if (!states_kernel(params)) {
    throw Unmapped("the library's choice of a kernel has no protocol yet");
  }
  if (params.word("kernel").starts_with("k1 ")) { return on_fp32_pipe(params, gpu); }
  const Product p = product_of(params);
  const bool whole = flops_of(p) > kLong;
  const std::int64_t warm = whole ? 0 : 1, timed = whole ? 1 : 3;
  auto kernels = kernels_of(p, gpu);
  const std::size_t each = kernels.size();
  const bool rate = params.row().metric == "throughput";
  Plan plan{scenario_of(gpu, std::move(kernels), in_turn(each, warm + timed)),
            rate ? Quantity::OpRate : Quantity::Time,
            {},
            gpu.sms()};
  let_repeat(plan.scenario);
  const double flops = flops_of(p);
  plan.figure = [=](const run::Happened& h) {
    const unit::Time from = warm == 0
                                ? h.log.launches.front().started
                                : h.log.launches[static_cast<std::size_t>(warm) * each - 1].ended;
    const double seconds = unit::seconds(h.log.launches.back().ended - from) / real(timed);
    return rate ? flops / seconds : seconds;
  };
  return plan;
}

Plan profile_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"elapsed_cycles", "duration", "l2_hit_rate", "dram_throughput",
                    "executed_ipc_active", "achieved_occupancy", "theoretical_occupancy",
                    "block_limit_registers", "block_limit_smem", "block_limit_warps",
                    "block_limit_sm", "waves_per_sm", "sm_frequency"});
  auto kernels = kernels_of(product_of(params), gpu);
  const std::string metric = params.row().metric;
  const bool time = metric == "elapsed_cycles" || metric == "duration";
  const Quantity quantity = time                       ? Quantity::Time
                            : metric == "sm_frequency" ? Quantity::Frequency
                                                       : Quantity::Count;
  if (const auto value = rule(metric, kernels.front(), gpu)) {
    return {{}, quantity, [=](const run::Happened&) { return *value; }, gpu.sms()};
  }
  Plan plan{scenario_of(gpu, std::move(kernels), {0}), quantity,
            [=](const run::Happened& h) { return counter(metric, h, gpu); }, gpu.sms()};
  let_repeat(plan.scenario);
  return plan;
}

// A clock read before and after a phase, by a thread of every block: what its warp waits for.
Plan phase_plan(Params& params, const gpu::GpuSpec& gpu) {
  params.metric_is({"cycles"});
  const std::string phase = params.word("phase");
  const Product p = product_of(params);
  auto kernels = kernels_of(p, gpu);
  const double warps = real(kernel::volume(kernels.front().grid) * kernels.front().block /
                            gpu.sm.warp_size);
  const double steps = real(library::ceil_div(p.k, p.tile[2]));
  const bool tensor = phase.starts_with("tensor"), load = phase.find("oad") != std::string::npos;
  if (!tensor && !load && phase.find("tore") == std::string::npos) {
    throw Unmapped(fmt::format("phase={}: there are the tensor core's, loads and stores", phase));
  }
  const double clock = real(gpu.sm_clock().count());
  return {scenario_of(gpu, std::move(kernels), {0}), Quantity::Time,
          [=](const run::Happened& h) {
            const result::StallCycles& s = h.kernels.front().counters.stalls;
            // What is issued between a wgmma and the wait for it belongs to its phase.
            const std::int64_t issue = s.selected + s.not_selected + s.wait + s.math_pipe_throttle;
            const double cycles = tensor ? real(s.gmma + issue) / steps
                                  : load ? real(s.long_scoreboard + s.barrier) / steps
                                         : real(s.lg_throttle);
            return cycles / warps / clock;
          },
          gpu.sms()};
}

}  // namespace wavetail::study
