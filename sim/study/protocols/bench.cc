// SPDX-License-Identifier: Apache-2.0
#include "study/protocols/bench.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "occupancy/occupancy.h"
#include "study/protocols/library.h"

namespace wavetail::study {

namespace {

// A grid that is at most so many times as long as its three pieces is simulated whole.
constexpr double kWholeWithin = 1.5;

// Waves of a long kernel that repeat each other to within this are left out.
constexpr double kSteadyWithin = 0.005;

std::int64_t waves_for(double bytes, const LongKernel& k) {
  const double wave_bytes = k.bytes_per_block * static_cast<double>(k.wave);
  return std::max<std::int64_t>(1, std::llround(std::ceil(bytes / std::max(wave_bytes, 1.0))));
}

Steady whole(const gpu::GpuSpec& gpu, const LongKernel& k) {
  kernel::Kernel kernel = k.make({0, k.blocks});
  kernel.name = "measured";
  const auto seconds = [](const run::Happened& h) {
    return unit::seconds(h.log.launches[1].ended - h.log.launches[1].started);
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

namespace {

kernel::Kernel stand_in(std::string name, unit::Duration duration) {
  kernel::Kernel k;
  k.name = std::move(name);
  k.duration = duration;
  return k;
}

}  // namespace

Steady between_events(const gpu::GpuSpec& gpu, Timed timed) {
  constexpr double kCleared = 256e6;  // bytes
  std::vector<kernel::Kernel> kernels{
      stand_in("clear", unit::Duration{std::llround(
                            kCleared / static_cast<double>(gpu.hbm.bandwidth.count()) * 1e12)})};
  kernels.push_back(from_template("copy",
                                  {.numbers = {{"bytes", gpu.l2.capacity.count() / 2}},
                                   .words = {{"x", "cleared"}, {"y", "cleared2"}}},
                                  gpu)
                        .front());
  kernels.back().name = "cleared";
  kernels.push_back(stand_in("event", kEvent));
  std::vector<int> order{0, 1, 2};
  const auto append = [&](std::vector<kernel::Kernel>& more, std::string_view name) {
    for (std::size_t i = 0; i < more.size(); ++i) {
      more[i].name = fmt::format("{}{}", name, i + 1);
      order.push_back(static_cast<int>(kernels.size()));
      kernels.push_back(std::move(more[i]));
    }
  };
  append(timed.kernels, "step");
  const std::size_t second = order.size();
  order.push_back(2);
  append(timed.probes, "probe");
  scenario::Scenario s = scenario_of(gpu, std::move(kernels), order);
  s.initial_l2 = scenario::InitialL2::Clean;
  s.simulation.skip_waves = kSteadyWithin;
  if (timed.waits > 0) {
    const auto at = s.timeline.items.begin() + 3 + timed.waits;
    s.timeline.items.insert(at,
                            {host::Item{.kind = host::ItemKind::SyncDevice},
                             host::Item{.kind = host::ItemKind::HostWork, .work = timed.pause}});
  }
  const double rest = timed.rest;
  const auto seconds = [=](const run::Happened& h) {
    const auto& launches = h.log.launches;
    const double between = unit::seconds(launches[second].ended - launches[2].ended);
    return rest == 0 ? between : between + rest * seconds_more(h, second + 2, second + 1);
  };
  return {std::move(s), seconds, seconds};
}

Steady called_between_events(Steady run, unit::Duration call) {
  constexpr unit::Duration kNoWork{1};
  scenario::Scenario& s = run.scenario;
  std::vector<kernel::Kernel> kernels = s.kernels.all();
  const auto event = static_cast<int>(kernels.size());
  kernels.push_back(stand_in("event", kEvent));
  kernels.push_back(stand_in("called", kNoWork));
  s.kernels = std::move(kernels);
  s.timeline.items.push_back({.kernel = event});
  s.timeline.items.push_back({.kind = host::ItemKind::HostWork, .work = call});
  s.timeline.items.push_back({.kernel = event + 1});
  s.timeline.items.push_back({.kernel = event});
  s.timeline.items.push_back({.kind = host::ItemKind::SyncDevice});
  run.seconds = [kernels = run.seconds](const run::Happened& h) {
    const auto& l = h.log.launches;
    const std::size_t n = l.size();
    return kernels(h) + unit::seconds(l[n - 2].started - l[n - 3].ended) +
           unit::seconds(l[n - 1].ended - l[n - 2].ended);
  };
  return run;
}

Steady timed_calls(const gpu::GpuSpec& gpu, std::vector<kernel::Kernel> kernels,
                   unit::Duration call, unit::Duration after) {
  constexpr std::int64_t kCalls = 4;
  for (std::size_t k = 0; k < kernels.size(); ++k) {
    kernels[k].name = fmt::format("step{}", k + 1);
  }
  scenario::Scenario s = scenario_of(gpu, std::move(kernels), {});
  let_repeat(s);
  host::Item calls{.kind = host::ItemKind::Repeat, .repeat = kCalls};
  calls.body.push_back({.kind = host::ItemKind::HostWork, .work = call});
  for (std::size_t k = 0; k < s.kernels.size(); ++k) {
    calls.body.push_back({.kernel = static_cast<int>(k)});
  }
  calls.body.push_back({.kind = host::ItemKind::HostWork, .work = after});
  calls.body.push_back({.kind = host::ItemKind::SyncDevice});
  const std::size_t spans_per_call = calls.body.size();
  s.timeline.items = {std::move(calls)};
  const auto seconds = [=](const run::Happened& h) {
    const auto& spans = h.log.spans;
    return unit::seconds(spans.back().end - spans[spans.size() - spans_per_call].start);
  };
  return {std::move(s), seconds, seconds};
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
