// SPDX-License-Identifier: Apache-2.0
#include "support/random_scenario.h"

#include <algorithm>
#include <random>

#include "occupancy/occupancy.h"
#include "run/budget.h"
#include "support/random_gpu.h"
#include "support/random_kernel.h"

namespace wavetail::tests {

namespace {

host::Item launch_of(int kernel, int stream, Dice& dice) {
  host::Item item;
  item.kernel = kernel;
  item.stream = stream;
  item.repeat = dice.one_in(4) ? dice.between(1, 3) : 1;
  return item;
}

host::Item plain(host::ItemKind kind) {
  host::Item item;
  item.kind = kind;
  return item;
}

// One kernel's launches: a call, a graph, or a loop with a synchronisation inside.
void add_launches(int kernel, int stream, Dice& dice, std::vector<host::Item>& items) {
  const host::Item launch = launch_of(kernel, stream, dice);
  if (dice.one_in(5)) {
    host::Item graph = plain(host::ItemKind::Graph);
    graph.stream = stream;
    graph.body = {launch, launch};
    items.push_back(graph);
  } else if (dice.one_in(6)) {
    host::Item loop = plain(host::ItemKind::Repeat);
    loop.repeat = 2;
    loop.body = {launch, plain(host::ItemKind::SyncDevice)};
    items.push_back(loop);
  } else {
    items.push_back(launch);
  }
  if (dice.one_in(4)) {
    host::Item sync = plain(host::ItemKind::SyncStream);
    sync.stream = stream;
    items.push_back(sync);
  }
  if (dice.one_in(5)) {
    host::Item work = plain(host::ItemKind::HostWork);
    work.work = unit::Duration{dice.between(1, 5'000'000)};
    items.push_back(work);
  }
}

// A kernel of stated duration.
kernel::Kernel stand_in(const std::string& name, Dice& dice) {
  kernel::Kernel k;
  k.name = name;
  k.duration = unit::Duration{dice.between(0, 20'000'000)};
  return k;
}

}  // namespace

scenario::Scenario random_scenario(std::uint64_t seed, const RandomOptions& options) {
  Dice dice(seed);
  scenario::Scenario s;
  s.name = "random " + std::to_string(seed);
  s.gpu = random_gpu(dice, options.gpu);
  s.simulation.seed = seed;
  s.simulation.replay = false;
  s.initial_l2 = dice.one_in(6) ? scenario::InitialL2::Clean : scenario::InitialL2::Empty;
  const auto kernels = dice.between(1, 3);
  const std::int64_t streams = options.streams && dice.one_in(4) ? dice.between(2, 3) : 1;
  std::vector<kernel::Kernel> made;
  for (int k = 0; k < kernels; ++k) {
    const std::string name = "k" + std::to_string(k);
    // Kernels that may run at the same time have arrays of their own.
    const std::string prefix = streams > 1 ? name : "";
    made.push_back(dice.one_in(16) ? stand_in(name, dice)
                                   : random_kernel(dice, s.gpu, name, prefix));
    add_launches(k, static_cast<int>(k % streams), dice, s.timeline.items);
  }
  s.timeline.costs = {s.gpu.launch.host_launch, s.gpu.launch.host_graph_launch,
                      s.gpu.launch.host_sync};
  for (s.kernels = made; run::needs_of(s).events > options.most_events; s.kernels = made) {
    auto biggest = std::max_element(made.begin(), made.end(),
                                    [](const kernel::Kernel& a, const kernel::Kernel& b) {
                                      return kernel::volume(a.grid) < kernel::volume(b.grid);
                                    });
    if (kernel::volume(biggest->grid) <= 4) { break; }
    for (std::int64_t& extent : biggest->grid) { extent = (extent + 1) / 2; }
    const std::int64_t cluster = biggest->cluster[0];
    biggest->grid[0] = (biggest->grid[0] + cluster - 1) / cluster * cluster;
  }
  return s;
}

}  // namespace wavetail::tests
