// SPDX-License-Identifier: Apache-2.0
// GPU descriptions for tests: round numbers of a known part, so that a test's arithmetic can be
// followed on paper. Tests change only what they are about.
#pragma once

#include "gpu/spec.h"
#include "unit/literals.h"

namespace wavetail::specs {

// The launch rules and rates of an H100 SXM.
inline gpu::GpuSpec h100() {
  using namespace unit::literals;
  gpu::GpuSpec g;
  g.name = "h100-like";
  g.architecture = "sm_90";
  g.gpcs = {18, 18, 18, 16, 16, 16, 16, 14};
  g.clock = {.sm = 1830_MHz, .sm_max = 1980_MHz, .l2 = 1620_MHz, .mode = gpu::ClockMode::Spec};
  g.sm = {.schedulers = 4,
          .warp_size = 32,
          .max_warps = 64,
          .max_blocks = 32,
          .max_threads_per_block = 1024,
          .max_cluster = 16,
          .registers = 65536,
          .register_unit = 256,
          .max_registers_per_thread = 255,
          .warp_unit = 4,
          .unified_l1 = 256_KiB,
          .shared_memory = 228_KiB,
          .shared_memory_per_block = 227_KiB,
          .shared_memory_reserved = 1_KiB,
          .shared_memory_unit = 128_B,
          .carveouts = {0_KiB, 8_KiB, 16_KiB, 32_KiB, 64_KiB, 100_KiB, 132_KiB, 164_KiB, 196_KiB,
                        228_KiB},
          .policy = gpu::WarpPolicy::GreedyThenOldest};
  g.pipes = {.fp32 = {32, 4_cycles},
             .int32 = {16, 4_cycles},
             .fp64 = {16, 8_cycles},
             .sfu = {4, 18_cycles}};
  g.shared_memory = {29_cycles, unit::BytesPerCycle{128'000}};
  g.l1 = {.latency = 33_cycles,
          .line = 128_B,
          .sector = 32_B,
          .ways = 4,
          .bandwidth = unit::BytesPerCycle{128'000},
          .tags_per_cycle = 1,
          .in_flight_lines = 512,
          .store_lines = 64,
          .queue = 64_cycles};
  g.crossbar = {unit::BytesPerCycle{40'000}, unit::BytesPerCycle{64'000},
                unit::BytesPerCycle{900'000}};
  g.l2 = {.capacity = 50_MiB,
          .partitions = 2,
          .slices = 80,
          .slice_bandwidth = unit::BytesPerCycle{64'000},
          .latency_near = 140_ns,
          .latency_far = 220_ns};
  g.hbm = {.stacks = 5,
           .channels = 80,
           .bandwidth = unit::Bandwidth{3'350'000'000'000},
           .efficiency = 0.93,
           .capacity = unit::Bytes{80'000'000'000},
           .interleave = 256_B,
           .burst = 64_B,
           .latency = 330_ns,
           .write_drain = 16,
           .read_to_write = 10_ns,
           .write_to_read = 10_ns,
           .row_access = 2_ns};
  g.launch = {.host_launch = 3_us,
              .host_graph_launch = 5_us,
              .host_sync = 5_us,
              .submit = 2_us,
              .stream_gap = 1_us,
              .graph_gap = 700_ns,
              .block_start = 100_ns,
              .block_exit = 20_ns,
              .warp_start = 1_ns,
              .warp_setup = 2_ns,
              .blocks_per_cycle = 0.6};
  g.tensor = {
      .fp16 = 4096, .bf16 = 4096, .tf32 = 2048, .fp8 = 8192, .int8 = 8192, .fp4 = 0, .fp64 = 256};
  g.power = {700};
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
