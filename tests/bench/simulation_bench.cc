// SPDX-License-Identifier: Apache-2.0
// How fast the simulator is: whole runs, and the parts of it that a run spends its time in. The
// bare wheel (wheel_bench) is the yardstick.
#include <benchmark/benchmark.h>

#include "bench/workloads.h"
#include "memory/l2_directory.h"
#include "memory/shape.h"

namespace {

using namespace wavetail;

void measure(benchmark::State& state, const scenario::Scenario& s) {
  double events = 0;
  double instructions = 0;
  for (auto _ : state) {
    const run::Happened happened = tests::simulate(s);
    events += static_cast<double>(happened.events);
    for (const run::KernelAccount& k : happened.kernels) {
      instructions += static_cast<double>(k.counters.warp_instructions);
    }
  }
  state.counters["events_per_s"] = benchmark::Counter(events, benchmark::Counter::kIsRate);
  state.counters["warp_instructions_per_s"] = benchmark::Counter(instructions,
                                                                 benchmark::Counter::kIsRate);
  state.counters["events"] = events / static_cast<double>(state.iterations());
}

void streaming_read(benchmark::State& state) {
  measure(state, tests::streaming_read(std::int64_t{256} << 20));
}

void decode_layer(benchmark::State& state) { measure(state, tests::decode_layer()); }

void coalescer(benchmark::State& state) {
  std::vector<std::int64_t> offsets;
  for (std::int64_t lane = 0; lane < 32; ++lane) { offsets.push_back(lane * state.range(0)); }
  int misalignment = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(memory::coalesce(offsets, 4, misalignment));
    misalignment = (misalignment + 4) % 128;
  }
  state.SetItemsProcessed(state.iterations());
}

void directory_look_up(benchmark::State& state) {
  const std::int64_t pages = 12'800;  // 50 MiB
  memory::L2Directory l2(pages * memory::kLinesPerPage);
  std::uint64_t random = 1;
  for (std::int64_t page = 0; page < pages; ++page) {
    const std::uint32_t frame = l2.find_or_claim(page);
    l2.install(frame, 0, ~0ULL, 0);
    l2.install(frame, 1, ~0ULL, 0);
  }
  for (auto _ : state) {
    random = memory::mix(random);
    const auto page = static_cast<std::int64_t>(random % static_cast<std::uint64_t>(pages));
    benchmark::DoNotOptimize(l2.valid(l2.find_or_claim(page)));
  }
  state.SetItemsProcessed(state.iterations());
}

BENCHMARK(streaming_read)->Unit(benchmark::kMillisecond);
BENCHMARK(decode_layer)->Unit(benchmark::kMillisecond);
BENCHMARK(coalescer)->ArgName("stride")->Arg(4)->Arg(32)->Arg(4096);
BENCHMARK(directory_look_up);

}  // namespace
