// SPDX-License-Identifier: Apache-2.0
#include "study/protocols/library.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/check.h"

namespace wavetail::study {

// Replays of a graph find the caches nearly, but not quite, as the one before did; what differs may
// take DRAM a hundredth of a launch's time.
void let_repeat(scenario::Scenario& scenario) {
  scenario.simulation.replay_within = 0.01;
  scenario.simulation.skip_waves = 0.005;
}

std::int64_t rotated_copies(unit::Bytes weights, const gpu::GpuSpec& gpu) {
  constexpr std::int64_t kMost = 5;
  const std::int64_t bytes = std::max<std::int64_t>(1, weights.count());
  return std::clamp<std::int64_t>(library::ceil_div(gpu.l2.capacity.count(), bytes), 1, kMost);
}

LibrarySize read_size(Params& params) {
  return {params.count("m"), params.count("n"), params.count("k")};
}

namespace {

// Numbers them; the order of their launches.
std::vector<int> in_steps(std::vector<kernel::Kernel>& kernels) {
  std::vector<int> order;
  for (std::size_t i = 0; i < kernels.size(); ++i) {
    kernels[i].name = fmt::format("step{}", i + 1);
    order.push_back(static_cast<int>(i));
  }
  return order;
}

// Of `operations` floating-point operations each.
Plan timed(scenario::Scenario s, double operations, const std::string& metric,
           std::function<double(const run::Happened&)> seconds, const gpu::GpuSpec& gpu) {
  if (metric == "time") { return {std::move(s), Quantity::Time, std::move(seconds), gpu.sms()}; }
  return {std::move(s), Quantity::OpRate,
          [=](const run::Happened& h) { return operations / seconds(h); }, gpu.sms()};
}

}  // namespace

Plan after_flush(std::vector<kernel::Kernel> kernels, double flops, const std::string& metric,
                 const gpu::GpuSpec& gpu) {
  const std::vector<int> order = in_steps(kernels);
  scenario::Scenario s = scenario_of(gpu, std::move(kernels), order);
  s.initial_l2 = scenario::InitialL2::Dirty;
  let_repeat(s);
  return timed(
      std::move(s), flops, metric,
      [](const run::Happened& h) {
        unit::Duration all{};
        for (const run::KernelAccount& k : h.kernels) { all = all + k.time; }
        return unit::seconds(all);
      },
      gpu);
}

Plan again_and_again(std::vector<kernel::Kernel> kernels, double flops, const std::string& metric,
                     const gpu::GpuSpec& gpu) {
  constexpr std::int64_t kWarmUp = 20, kTimed = 100;
  const std::size_t warm = static_cast<std::size_t>(kWarmUp) * kernels.size();
  host::Item all{.kind = host::ItemKind::Repeat, .repeat = kWarmUp + kTimed};
  for (const int k : in_steps(kernels)) { all.body.push_back({.kernel = k}); }
  scenario::Scenario s = scenario_of(gpu, std::move(kernels), {});
  s.timeline.items.insert(s.timeline.items.begin(), std::move(all));
  let_repeat(s);
  return timed(
      std::move(s), flops, metric,
      [=](const run::Happened& h) {
        const auto& launches = h.log.launches;
        return unit::seconds(launches.back().ended - launches[warm - 1].ended) /
               static_cast<double>(kTimed);
      },
      gpu);
}

Plan graph_replays(const gpu::GpuSpec& gpu, std::vector<kernel::Kernel> operation,
                   const GraphReplays& how) {
  base::check(how.copies >= 1 && how.timed >= 1, "a graph holds an operation and is replayed");
  host::Item graph{.kind = host::ItemKind::Graph, .repeat = how.warm_up + how.timed};
  for (std::size_t i = 0; i < operation.size(); ++i) {
    kernel::Kernel& k = operation[i];
    k.name = operation.size() == 1 ? "operation" : fmt::format("step{}", i + 1);
    for (kernel::Array& a : k.arrays) {
      const bool rotates = std::find(how.rotated.begin(), how.rotated.end(), a.name) !=
                           how.rotated.end();
      a.copies = rotates ? how.copies : 1;
    }
  }
  for (std::int64_t copy = 0; copy < how.copies; ++copy) {
    for (std::size_t i = 0; i < operation.size(); ++i) {
      graph.body.push_back({.kernel = static_cast<int>(i)});
    }
  }
  const std::size_t warm = static_cast<std::size_t>(how.warm_up) * graph.body.size();
  const auto operations = static_cast<double>(how.timed * how.copies);
  scenario::Scenario s = scenario_of(gpu, std::move(operation), {});
  let_repeat(s);
  s.timeline.items.insert(s.timeline.items.begin(), std::move(graph));
  return {std::move(s), Quantity::Time,
          [=](const run::Happened& h) {
            const auto& launches = h.log.launches;
            const unit::Time from = warm == 0 ? launches.front().started : launches[warm - 1].ended;
            return unit::seconds(launches.back().ended - from) / operations;
          },
          gpu.sms()};
}

}  // namespace wavetail::study
