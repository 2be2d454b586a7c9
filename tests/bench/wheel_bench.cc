// SPDX-License-Identifier: Apache-2.0
// The bare event wheel under the hold model: take the next event, schedule another a random step
// later, with a constant number pending. Its rate is the yardstick for the simulator's own events
// per second.
#include <benchmark/benchmark.h>

#include "bench/workloads.h"

namespace {

void hold(benchmark::State& state) {
  wavetail::tests::Hold hold(state.range(0), state.range(1));
  constexpr std::int64_t kBatch = 1024;
  for (auto _ : state) { hold.go(kBatch); }
  state.SetItemsProcessed(hold.popped());
}

BENCHMARK(hold)
    ->ArgNames({"pending", "longest_step_ps"})
    ->Args({200, 1'000'000})
    ->Args({5'000, 1'000'000})
    ->Args({100'000, 1'000'000})
    ->Args({5'000, 100'000'000});

}  // namespace
