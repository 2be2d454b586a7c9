// SPDX-License-Identifier: Apache-2.0
// What the benchmarks and the tests of the simulator's own speed run.
#pragma once

#include <algorithm>
#include <cstdint>
#include <random>
#include <stdexcept>
#include <string>

#include "event/wheel.h"
#include "run/simulate.h"
#include "scenario/load.h"
#include "support/specs.h"

namespace wavetail::tests {

// The hold model on the bare wheel: take the next event, schedule another a random step later.
class Hold {
 public:
  Hold(std::int64_t pending, std::int64_t longest_step_ps)
      : longest_step_(static_cast<std::uint64_t>(longest_step_ps)) {
    for (std::int64_t n = 0; n < pending; ++n) { wheel_.schedule({.time = unit::Time{} + step()}); }
  }

  void go(std::int64_t events) {
    event::Event e;
    for (std::int64_t n = 0; n < events && wheel_.pop(e); ++n) {
      e.time += step();
      wheel_.schedule(e);
    }
  }

  [[nodiscard]] std::int64_t popped() const { return wheel_.popped(); }

 private:
  unit::Duration step() {
    return unit::Duration{static_cast<std::int64_t>(random_() % longest_step_)};
  }

  std::uint64_t longest_step_;
  std::mt19937_64 random_{1};
  event::Wheel wheel_;
};

// An H100 reads `bytes` once, 512 B per warp instruction.
inline scenario::Scenario streaming_read(std::int64_t bytes) {
  kernel::Op load;
  load.kind = kernel::OpKind::Load;
  load.count = 2;
  load.access.array = 0;
  load.access.width = 16;
  load.access.bypass_l1 = true;
  kernel::Op wait;
  wait.kind = kernel::OpKind::WaitLoads;
  wait.count = 0;
  kernel::Op loop;
  loop.kind = kernel::OpKind::Repeat;
  loop.count = 32;
  loop.bodies = {{load, wait}};
  kernel::Kernel k;
  k.name = "read";
  k.block = 256;
  k.registers = 64;
  k.grid = {bytes / (256 * 16 * load.count * loop.count), 1, 1};
  k.arrays = {{"x", unit::Bytes{bytes}}};
  k.roles = {{.name = "all", .warps = 8, .registers = {}, .program = {loop}}};
  scenario::Scenario s;
  s.gpu = specs::h100();
  s.kernels = {k};
  host::Item launch;
  launch.kernel = 0;
  s.timeline.items = {launch};
  return s;
}

// The base run of a shipped scenario.
inline scenario::Scenario shipped(const std::string& file) {
  const std::string root = WAVETAIL_SOURCE_DIR;
  config::Diagnostics diagnostics;
  const auto study = scenario::load_study(
      root + "/workloads/" + file + ".yaml",
      {.sets = {}, .gpu = {}, .folders = {root + "/configs/gpu"}}, diagnostics);
  if (!study) { throw std::runtime_error(diagnostics.render()); }
  return study->base;
}

// Without any limit.
inline run::Happened simulate(const scenario::Scenario& s) {
  return run::simulate(s,
                       [](std::int64_t, result::Outcome&) { return std::optional<std::string>{}; });
}

// The decode step of an 8-billion-parameter model with one of its 32 layers, without the last
// matrix.
inline scenario::Scenario decode_layer() {
  scenario::Scenario s = shipped("decode-step-llama-3.1-8b");
  for (host::Item& item : s.timeline.items) {
    if (item.kind == host::ItemKind::Repeat) { item.repeat = 1; }
  }
  std::erase_if(s.timeline.items, [&](const host::Item& i) {
    return i.kind == host::ItemKind::Launch &&
           s.kernels[static_cast<std::size_t>(i.kernel)].name == "lm_head";
  });
  return s;
}

}  // namespace wavetail::tests
