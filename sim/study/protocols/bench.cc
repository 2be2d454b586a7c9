// SPDX-License-Identifier: Apache-2.0
#include "study/protocols/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "occupancy/occupancy.h"

namespace wavetail::study {

namespace {

// A grid that is at most so many times as long as its three pieces is simulated whole.
constexpr double kWholeWithin = 1.5;

std::int64_t waves_for(double bytes, const LongKernel& k) {
  const double wave_bytes = k.bytes_per_block * static_cast<double>(k.wave);
  return std::max<std::int64_t>(1, std::llround(std::ceil(bytes / std::max(wave_bytes, 1.0))));
}

Steady whole(const gpu::GpuSpec& gpu, const LongKernel& k) {
  kernel::Kernel kernel = k.make({0, k.blocks});
  kernel.name = "measured";
  const auto seconds = [](const run::Happened& h) {
    return unit::seconds(h.log.launches.back().ended - h.log.launches.back().started);
  };
  const auto blocks = static_cast<double>(k.blocks);
  return {scenario_of(gpu, {std::move(kernel)}, {0, 0}), seconds,
          [=](const run::Happened& h) { return seconds(h) / blocks; }};
}

}  // namespace

scenario::Scenario scenario_of(const gpu::GpuSpec& gpu, std::vector<kernel::Kernel> kernels,
                               const std::vector<int>& order) {
  scenario::Scenario s;
  s.gpu = gpu;
  s.kernels = std::move(kernels);
  s.timeline.costs = {gpu.launch.host_launch, gpu.launch.host_graph_launch, gpu.launch.host_sync};
  for (const int k : order) { s.timeline.items.push_back({.kernel = k}); }
  s.timeline.items.push_back({.kind = host::ItemKind::SyncDevice});
  return s;
}

double seconds_of(const run::Happened& happened, std::size_t k) {
  const run::KernelAccount& account = happened.kernels[k];
  return unit::seconds(account.time) / static_cast<double>(account.launches);
}

double seconds_more(const run::Happened& happened, std::size_t later, std::size_t earlier) {
  const host::LaunchRecord &a = happened.log.launches[later], &b = happened.log.launches[earlier];
  return unit::seconds((a.ended - a.started) - (b.ended - b.started));
}

void hold_residency(kernel::Kernel& kernel, const gpu::GpuSpec& gpu, std::int64_t blocks_per_sm) {
  const std::int64_t unit = gpu.sm.shared_memory_unit.count();
  for (const unit::Bytes step : gpu.sm.carveouts) {
    const std::int64_t each = step.count() / blocks_per_sm - gpu.sm.shared_memory_reserved.count();
    const std::int64_t most = gpu.sm.shared_memory_per_block.count();
    kernel.shared_memory = unit::Bytes{std::clamp<std::int64_t>(each, 0, most) / unit * unit};
    kernel.carveout = step;
    const auto fit = occupancy::occupy(gpu, occupancy::launch_of(kernel));
    if (fit.launchable && fit.blocks_per_sm == blocks_per_sm) { return; }
  }
  throw Unmapped(
      fmt::format("no shared memory per block holds {} blocks of {} threads on an SM of {}",
                  blocks_per_sm, kernel.block, gpu.name));
}

Steady steady(const gpu::GpuSpec& gpu, const LongKernel& k) {
  const std::int64_t warm = waves_for(k.settle_bytes, k) * k.wave,
                     lead = waves_for(k.measured_bytes / 4, k) * k.wave,
                     between = waves_for(k.measured_bytes, k) * k.wave;
  const double simulated = static_cast<double>(warm + 2 * lead + between);
  if (static_cast<double>(2 * k.blocks) <= kWholeWithin * simulated) { return whole(gpu, k); }
  std::vector<kernel::Kernel> kernels{k.make({0, warm}), k.make({warm, lead}),
                                      k.make({warm + lead, lead + between})};
  kernels[0].name = "warm";
  kernels[1].name = "short";
  kernels[2].name = "long";
  const auto per_block = [=](const run::Happened& h) {
    return (seconds_of(h, 2) - seconds_of(h, 1)) / static_cast<double>(between);
  };
  const auto rest = static_cast<double>(k.blocks - lead - between);
  return {scenario_of(gpu, std::move(kernels), {0, 1, 2}),
          [=](const run::Happened& h) { return seconds_of(h, 2) + rest * per_block(h); },
          per_block};
}

namespace {

// On arrays that no other kernel names.
kernel::Kernel alone(kernel::Kernel kernel, std::string name) {
  for (kernel::Array& a : kernel.arrays) { a.name += "." + name; }
  kernel.name = std::move(name);
  return kernel;
}

}  // namespace

Steady steady(const gpu::GpuSpec& gpu, const LongLoop& loop) {
  const bool cut = loop.rounds > loop.lead + loop.between;
  const std::int64_t most = cut ? loop.lead + loop.between : loop.rounds;
  std::vector<kernel::Kernel> kernels;
  if (cut) { kernels.push_back(alone(loop.make(loop.lead), "short")); }
  kernels.push_back(alone(loop.make(most), cut ? "long" : "measured"));
  const auto per_round = [=](const run::Happened& h) {
    return cut ? (seconds_of(h, 1) - seconds_of(h, 0)) / static_cast<double>(loop.between)
               : seconds_of(h, 0) / static_cast<double>(loop.rounds);
  };
  const auto rest = static_cast<double>(loop.rounds - most);
  return {scenario_of(gpu, std::move(kernels), cut ? std::vector{0, 1} : std::vector{0}),
          [=](const run::Happened& h) { return seconds_of(h, cut ? 1 : 0) + rest * per_round(h); },
          per_round};
}

std::int64_t wave_of(const kernel::Kernel& kernel, const gpu::GpuSpec& gpu) {
  const auto fit = occupancy::occupy(gpu, occupancy::launch_of(kernel));
  if (!fit.launchable) {
    throw Unmapped(fmt::format("{} refuses the launch: {}", gpu.name, fit.reason));
  }
  return fit.blocks_per_sm * gpu.sms();
}

std::vector<kernel::Kernel> from_template(std::string_view name, library::Arguments arguments,
                                          const gpu::GpuSpec& gpu) {
  std::vector<kernel::Kernel> kernels;
  const auto mistakes = library::build(*library::find_template(name), std::move(arguments), gpu,
                                       kernels);
  if (!mistakes.empty()) {
    throw Unmapped(fmt::format("template {}: {} {}", name, mistakes.front().parameter,
                               mistakes.front().message));
  }
  return kernels;
}

}  // namespace wavetail::study
