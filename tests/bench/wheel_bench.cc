// SPDX-License-Identifier: Apache-2.0
// The bare event wheel under the hold model: take the next event, schedule another a random step
// later, with a constant number pending. Its rate is the yardstick for the simulator's own events
// per second.
#include <benchmark/benchmark.h>

#include <cstdint>
#include <random>

#include "event/wheel.h"

namespace {

using wavetail::event::Event;
using wavetail::event::Wheel;
using wavetail::unit::Duration;
using wavetail::unit::Time;

void hold(benchmark::State& state) {
  const auto pending = state.range(0);
  const auto longest_step = state.range(1);
  std::mt19937_64 random(1);
  const auto step = [&] {
    return Duration{static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(longest_step))};
  };
  Wheel wheel;
  for (std::int64_t i = 0; i < pending; ++i) { wheel.schedule({.time = Time{} + step()}); }
  Event event;
  for (auto _ : state) {
    if (!wheel.pop(event)) { state.SkipWithError("the wheel ran empty"); }
    event.time += step();
    wheel.schedule(event);
  }
  state.SetItemsProcessed(wheel.popped());
  state.counters["pending"] = static_cast<double>(wheel.pending());
}

BENCHMARK(hold)
    ->ArgNames({"pending", "longest_step_ps"})
    ->Args({200, 1'000'000})
    ->Args({5'000, 1'000'000})
    ->Args({100'000, 1'000'000})
    ->Args({5'000, 100'000'000});

}  // namespace
