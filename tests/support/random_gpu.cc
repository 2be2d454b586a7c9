// SPDX-License-Identifier: Apache-2.0
#include "support/random_gpu.h"

#include "support/specs.h"

namespace wavetail::tests {

namespace {

using unit::Bytes;
using unit::BytesPerCycle;
using unit::Cycles;
using unit::Duration;
using unit::Hertz;

Duration ns(std::int64_t n) { return Duration{n * 1000}; }

Bytes kib(std::int64_t n) { return Bytes{n * 1024}; }

void set_sms(gpu::GpuSpec& g, Dice& dice) {
  g.gpcs.clear();
  for (std::int64_t n = dice.between(1, 3); n > 0; --n) { g.gpcs.push_back(dice.between(1, 4)); }
  g.sm.schedulers = dice.pick<std::int64_t>({1, 2, 4, 4});
  g.sm.max_warps = dice.pick<std::int64_t>({16, 32, 48, 64});
  g.sm.max_blocks = dice.between(1, 32);
  g.sm.max_threads_per_block = 512;
  g.sm.policy = dice.one_in(2) ? gpu::WarpPolicy::GreedyThenOldest
                               : gpu::WarpPolicy::LooseRoundRobin;
  if (dice.one_in(8)) {
    g.sm.warp_size = 64;
    g.sm.max_threads_per_block = 1024;
  }
  g.pipes.fp32 = {dice.pick<std::int64_t>({16, 32}), Cycles{dice.between(1, 9)}};
  g.pipes.int32 = {dice.pick<std::int64_t>({8, 16}), Cycles{dice.between(1, 9)}};
  g.pipes.fp64 = {dice.pick<std::int64_t>({1, 16}), Cycles{dice.between(4, 40)}};
}

void set_caches(gpu::GpuSpec& g, Dice& dice) {
  g.l1.ways = dice.pick<std::int64_t>({1, 2, 3, 4, 16, 64});
  g.l1.age = Cycles{dice.pick<std::int64_t>({1, 1000, 1000000})};
  g.l1.bandwidth = BytesPerCycle{dice.pick<std::int64_t>({32'000, 64'000, 128'000, 37'500})};
  g.l1.tag_banks = dice.pick<std::int64_t>({1, 2, 4, 64});
  g.l1.pending = dice.pick<double>({0.001, 0.125, 1});
  g.l1.in_flight_lines = dice.pick<std::int64_t>({1, 3, 40, 512});
  g.l1.store_lines = dice.pick<std::int64_t>({1, 5, 64});
  g.l1.queue = Cycles{dice.between(1, 64)};
  g.crossbar = {BytesPerCycle{dice.between(5, 64) * 1000},
                BytesPerCycle{dice.between(5, 80) * 1000},
                BytesPerCycle{dice.between(20, 900) * 1000}};
  g.l2.capacity = Bytes{kib(64).count() + 128 * dice.pick<std::int64_t>({0, 1, 37, 2000, 40'000})};
  g.l2.partitions = dice.between(1, 2);
  g.l2.slices = dice.pick<std::int64_t>({1, 3, 7, 8, 11, 24});
  g.l2.slice_bandwidth = BytesPerCycle{dice.between(16, 64) * 1000};
  g.l2.atomic = Cycles{dice.between(1, 4)};
  g.l2.latency_near = ns(dice.between(60, 200));
  g.l2.latency_far = g.l2.latency_near + ns(dice.between(0, 100));
}

void set_hbm(gpu::GpuSpec& g, Dice& dice) {
  g.hbm.channels = dice.pick<std::int64_t>({1, 3, 5, 8, 13, 32});
  g.hbm.bandwidth = unit::Bandwidth{g.hbm.channels * dice.between(10, 60) * 1'000'000'000};
  g.hbm.efficiency = static_cast<double>(dice.between(50, 100)) / 100;
  g.hbm.interleave = Bytes{dice.pick<std::int64_t>({128, 256, 512, 2048, 8192})};
  g.hbm.row = dice.one_in(2) ? kib(1) : kib(4);
  g.hbm.latency = g.l2.latency_far + ns(dice.between(20, 400));
  g.hbm.write_drain = dice.between(1, 32);
  g.hbm.read_to_write = ns(dice.between(0, 30));
  g.hbm.write_to_read = ns(dice.between(0, 30));
  g.hbm.row_access = ns(dice.between(0, 20));
}

// What only some GPUs have. Private L2s, one per GPC or for several, lie above a cache that may be
// smaller than they are.
void set_optional_parts(gpu::GpuSpec& g, Dice& dice) {
  if (dice.one_in(3)) { g.store_acknowledgement.latency = ns(dice.between(1, 300)); }
  if (dice.one_in(3)) { g.address_unit.lanes = dice.pick<std::int64_t>({1, 4, 16, 64}); }
  if (!dice.one_in(3)) { return; }
  g.l2.partitions = dice.between(1, static_cast<std::int64_t>(g.gpcs.size()));
  g.l2.latency_far = g.l2.latency_near;
  const std::int64_t beyond = (g.hbm.latency - g.l2.latency_near).count() / 1000;
  g.memory_side.latency = g.l2.latency_near + ns(dice.between(1, beyond - 1));
  g.memory_side.capacity = Bytes{128 * dice.pick<std::int64_t>({1, 600, 8192, 100'000})};
  g.memory_side.bandwidth = unit::Bandwidth{g.hbm.bandwidth.count() * dice.between(1, 4)};
}

void set_launch(gpu::GpuSpec& g, Dice& dice) {
  g.launch.host_launch = ns(dice.between(0, 5000));
  g.launch.host_sync = ns(dice.between(0, 5000));
  g.launch.submit = ns(dice.between(0, 3000));
  g.launch.stream_gap = ns(dice.between(0, 1500));
  g.launch.graph_gap = ns(dice.between(0, 1000));
  g.launch.graph_start = ns(dice.between(0, 5000));
  g.launch.block_start = ns(dice.between(0, 300));
  g.launch.block_exit = ns(dice.one_in(4) ? 0 : dice.between(0, 50));
  g.launch.warp_start = ns(dice.between(0, 3));
  g.launch.warp_setup = ns(dice.between(0, 20));
  g.launch.blocks_per_cycle = static_cast<double>(dice.between(1, 40)) / 10;
}

}  // namespace

gpu::GpuSpec random_gpu(Dice& dice, GpuKind kind) {
  gpu::GpuSpec g = specs::h100();
  if (kind == GpuKind::Whole) { return g; }
  if (kind == GpuKind::Part) {
    g.gpcs = {dice.between(3, 6), dice.between(3, 6)};
    g.l2.capacity = kib(dice.between(1, 4) * 1024);
    g.l2.slices = g.hbm.channels = 8;
    g.hbm.bandwidth = unit::Bandwidth{g.hbm.channels * 41'875'000'000};
    return g;
  }
  set_sms(g, dice);
  set_caches(g, dice);
  set_hbm(g, dice);
  set_launch(g, dice);
  g.clock.sm = Hertz{dice.between(600, 2'500) * 1'000'000 + dice.between(0, 999'999)};
  g.clock.sm_max = g.clock.sm;
  g.clock.l2 = Hertz{dice.between(500, 2'000) * 1'000'000};
  g.l1.latency = Cycles{dice.between(5, 34)};  // 34 cycles at 600 MHz are less than 60 ns
  g.shared_memory.latency = Cycles{dice.between(1, 60)};
  g.shared_memory.bandwidth = BytesPerCycle{
      dice.pick<std::int64_t>({32'000, 64'000, 128'000, 256'000, 37'500})};
  g.architecture = dice.one_in(3) ? "sm_75" : "sm_90";  // Turing merges passes of loads
  Dice more(static_cast<std::uint64_t>(g.clock.sm.count()));
  set_optional_parts(g, more);
  return g;
}

}  // namespace wavetail::tests
