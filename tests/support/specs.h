// SPDX-License-Identifier: Apache-2.0
// GPU descriptions for tests: round numbers of a known part, so that a test's arithmetic can be
// followed on paper. Tests change only what they are about.
#pragma once

#include "gpu/spec.h"
#include "unit/literals.h"

namespace wavetail::specs {

// What h100() says about L1, L2, HBM and the way between them.
inline void set_h100_memory(gpu::GpuSpec& g) {
  using namespace unit::literals;
  g.shared_memory = {29_cycles, unit::BytesPerCycle{128'000}};
  g.l1.latency = 33_cycles;
  g.l1.line = 128_B;
  g.l1.sector = 32_B;
  g.l1.ways = 4;
  g.l1.age = 16384_cycles;
  g.l1.bandwidth = unit::BytesPerCycle{128'000};
  g.l1.tag_banks = 1;
  g.l1.pending = 0.25;
  g.l1.in_flight_lines = 512;
  g.l1.store_lines = 64;
  g.l1.queue = 64_cycles;
  g.crossbar = {unit::BytesPerCycle{40'000}, unit::BytesPerCycle{64'000},
                unit::BytesPerCycle{900'000}};
  g.l2.capacity = 50_MiB;
  g.l2.partitions = 2;
  g.l2.slices = 80;
  g.l2.slice_bandwidth = unit::BytesPerCycle{64'000};
  g.l2.atomic = 1_cycles;
  g.l2.latency_near = 140_ns;
  g.l2.latency_far = 220_ns;
  g.hbm.stacks = 5;
  g.hbm.channels = 80;
  g.hbm.bandwidth = unit::Bandwidth{3'350'000'000'000};
  g.hbm.efficiency = 0.93;
  g.hbm.capacity = unit::Bytes{80'000'000'000};
  g.hbm.interleave = 256_B;
  g.hbm.burst = 64_B;
  g.hbm.row = 1_KiB;
  g.hbm.latency = 330_ns;
  g.hbm.write_drain = 16;
  g.hbm.read_to_write = 10_ns;
  g.hbm.write_to_read = 10_ns;
  g.hbm.row_access = 2_ns;
  g.hbm.banks = 16;
  g.hbm.row_cycle = 45_ns;
}

// The launch rules and rates of an H100 SXM.
inline gpu::GpuSpec h100() {
  using namespace unit::literals;
  gpu::GpuSpec g;
  set_h100_memory(g);
  g.name = "h100-like";
  g.architecture = "sm_90";
  g.gpcs = {18, 18, 18, 16, 16, 16, 16, 14};
  g.clock.sm = 1830_MHz;
  g.clock.sm_max = 1980_MHz;
  g.clock.l2 = 1620_MHz;
  g.clock.mode = gpu::ClockMode::Spec;
  g.sm.schedulers = 4;
  g.sm.warp_size = 32;
  g.sm.max_warps = 64;
  g.sm.max_blocks = 32;
  g.sm.max_threads_per_block = 1024;
  g.sm.max_cluster = 16;
  g.sm.registers = 65536;
  g.sm.register_unit = 256;
  g.sm.max_registers_per_thread = 255;
  g.sm.warp_unit = 4;
  g.sm.unified_l1 = 256_KiB;
  g.sm.shared_memory = 228_KiB;
  g.sm.shared_memory_per_block = 227_KiB;
  g.sm.shared_memory_reserved = 1_KiB;
  g.sm.shared_memory_unit = 128_B;
  g.sm.carveouts = {0_KiB,   8_KiB,   16_KiB,  32_KiB,  64_KiB,
                    100_KiB, 132_KiB, 164_KiB, 196_KiB, 228_KiB};
  g.sm.policy = gpu::WarpPolicy::GreedyThenOldest;
  g.pipes.fp32 = {32, 4_cycles};
  g.pipes.int32 = {16, 4_cycles};
  g.pipes.fp64 = {16, 8_cycles};
  g.pipes.sfu = {4, 18_cycles};
  g.pipes.redux = {4, 12_cycles};
  g.launch.host_launch = 3_us;
  g.launch.host_graph_launch = 5_us;
  g.launch.host_sync = 5_us;
  g.launch.submit = 2_us;
  g.launch.stream_gap = 1_us;
  g.launch.graph_gap = 700_ns;
  g.launch.graph_start = g.launch.stream_gap;
  g.launch.block_start = 100_ns;
  g.launch.block_exit = 20_ns;
  g.launch.warp_start = 1_ns;
  g.launch.warp_setup = 2_ns;
  g.launch.blocks_per_cycle = 0.6;
  g.tensor = {
      .fp16 = 4096, .bf16 = 4096, .tf32 = 2048, .fp8 = 8192, .int8 = 8192, .fp4 = 0, .fp64 = 256};
  g.mma = {24_cycles, 0.65, unit::BytesPerCycle{128'000}, 1};
  g.wgmma = {16_cycles, 0_cycles};
  g.tma = {100_cycles, 100_cycles, unit::BytesPerCycle{32'000}, 1, 2, unit::BytesPerCycle{64'000}};
  g.mbarrier = {20_cycles};
  g.cluster = {181_cycles, 203_cycles, 100_cycles};
  g.power.limit_watts = 700;
  return g;
}

// The same with what its work costs, in round numbers, and how it keeps to its limit.
inline gpu::GpuSpec h100_with_power() {
  using namespace unit::literals;
  gpu::GpuSpec g = h100();
  g.power.control = {20_ms, 10.0 / 7, 20_us, 15_MHz, 345_MHz};
  g.power.energy = {
      .clock = 1980_MHz,
      .static_watts = 110,
      .instruction = 100e3,
      .fp32 = 8e3,
      .int32 = 6e3,
      .fp64 = 25e3,
      .sfu = 30e3,
      .tensor =
          {.fp16 = 750, .bf16 = 750, .tf32 = 1500, .fp8 = 400, .int8 = 400, .fp4 = 0, .fp64 = 6000},
      .shared = 10e3,
      .l2 = 40e3,
      .dram = 60e3,
      .exponent = 1.5,
      .data = 0.3};
  return g;
}

// An H100 with the tensor cores and the tensor memory of a B200.
inline gpu::GpuSpec b200() {
  using namespace unit::literals;
  gpu::GpuSpec g = h100();
  g.name = "b200-like";
  g.architecture = "sm_100";
  g.sm.tmem_columns = 512;
  g.tensor = {.fp16 = 8192,
              .bf16 = 8192,
              .tf32 = 4096,
              .fp8 = 16384,
              .int8 = 16384,
              .fp4 = 32768,
              .fp64 = 128};
  g.tcgen05 = {11_cycles,
               10_cycles,
               34_cycles,
               3_cycles,
               unit::BytesPerCycle{128'000},
               unit::BytesPerCycle{64'000},
               30_cycles};
  return g;
}

// A 48-warp part with 100 KiB of shared memory and 16 block slots.
inline gpu::GpuSpec sm86() {
  using namespace unit::literals;
  gpu::GpuSpec g = h100();
  g.name = "sm86-like";
  g.architecture = "sm_86";
  g.gpcs = {12, 12, 12, 12, 12, 12, 12};
  g.sm.max_warps = 48;
  g.sm.max_blocks = 16;
  g.sm.max_cluster = 1;
  g.sm.unified_l1 = 128_KiB;
  g.sm.shared_memory = 100_KiB;
  g.sm.shared_memory_per_block = 99_KiB;
  g.sm.carveouts = {0_KiB, 8_KiB, 16_KiB, 32_KiB, 64_KiB, 100_KiB};
  return g;
}

}  // namespace wavetail::specs
