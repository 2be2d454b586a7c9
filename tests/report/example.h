// SPDX-License-Identifier: Apache-2.0
// Results made by hand for the writers' tests: round figures, so that a golden file can be checked
// by eye.
#pragma once

#include "result/result.h"

namespace wavetail::report::examples {

inline result::Bound stream_bound() {
  result::Bound bound;
  bound.name = "dram";
  bound.time_us = 70;
  bound.chain = {
      {"bytes in flight needed", "needed_in_flight_bytes", "bandwidth x latency",
       "3.35 TB/s x 330 ns", 1'105'500, "bytes"},
      {"the same per SM", "needed_in_flight_per_sm_bytes", "bytes in flight / SMs", "1.11 MB / 132",
       8375, "bytes"},
      {"sectors per request", "sectors_per_request", "32 B sectors that a warp's lanes touch",
       "7500000 / 468750", 16, ""},
      {"DRAM", "dram_us", "(reads not in L2 + writes that cannot stay in L2) / pin bandwidth",
       "(240 MB + 0 B) / 3.35 TB/s", 70, "us"},
  };
  return bound;
}

// A kernel that streams through DRAM at 86 % of the pins.
inline result::KernelResult stream() {
  result::KernelResult k;
  k.name = "gate_up";
  k.role = "gate_up";
  k.note = "gemv: 4 rows per block";
  k.launches = 32;
  k.replayed = 31;
  k.time_us = 84;
  k.time_total_us = 2688;
  k.grid = 1056;
  k.block = 256;
  k.registers = 32;
  k.waves = 1;
  k.sms_reached = 132;
  k.blocks_per_sm = 8;
  k.wave_efficiency_pct = 100;
  k.theoretical_occupancy_pct = 100;
  k.achieved_occupancy_pct = 93.125;
  k.warps_of_cap_pct = 93.125;
  k.limiters = {"registers", "warps"};
  k.dram_read_bytes = 240'000'000;
  k.dram_write_bytes = 0;
  k.dram_gbps = 2857.142857;
  k.dram_pct = 85.287;
  k.useful_gbps = 2857.142857;
  k.l1_hit_pct = 0;
  k.l2_hit_pct = 1.5;
  k.l2_sectors = 7'500'000;
  k.sectors_per_request = 16;
  k.useful_sector_pct = 100;
  k.bytes_in_flight = 1'750'000;
  k.mean_latency_ns = 612.5;
  k.little_error_pct = 0.01;
  k.warp_instructions = 1'000'000;
  k.active_lanes_pct = 100;
  k.issue_slot_pct = 1.25;
  k.fp32_pct = 0.8;
  k.tflops = 1.4;
  k.sm_busy_pct = 1.25;
  k.l2_fit_ratio = 4.58;
  k.stall_pct = {{"long_scoreboard", 84.14},
                 {"wait", 6.13},
                 {"selected", 1.35},
                 {"barrier", 0},
                 {"start", 8.38}};
  k.slot_pct = {{"issued", 1.25}, {"stalled", 95.5}, {"no_warp", 3.25}, {"not_reached", 0}};
  k.bound = stream_bound();
  k.bound.load_width = 16;
  k.time_over_bound = 1.2;
  k.traffic_us = 71.6;
  k.clock_mhz = 1830;
  return k;
}

inline result::KernelResult stated() {
  result::KernelResult k;
  k.name = "sampling";
  k.launches = 1;
  k.time_us = 12;
  k.time_total_us = 12;
  k.bound = {.name = "stated", .time_us = 12, .chain = {}};
  k.bound.chain.push_back(
      {"stated duration", "stated_us", "as the scenario says", "12 us", 12, "us"});
  k.time_over_bound = 1;
  k.clock_mhz = 1830;
  return k;
}

// 2.7 ms of kernels, launch gaps of 1.8 ms and one synchronisation of 0.8 ms.
inline result::RunResult decode() {
  result::RunResult r;
  r.scenario = "decode-step";
  r.gpu = "h100-sxm";
  r.confidence = "assumed";
  r.weakest_values = {"hbm.write_drain"};
  r.clock_mhz = 1830;
  r.regime = "spec 1830 MHz";
  r.time_us = 5310;
  r.kernel_time_us = 2700;
  r.busy_us = 2700;
  r.kernels = {stream(), stated()};
  r.kernels[0].gap_us = 56.25;
  r.gaps.launch_bound_us = 1800;
  r.gaps.launch_bound_count = 32;
  r.gaps.sync_us = 800;
  r.gaps.sync_count = 1;
  r.gaps.tail_us = 10;
  r.mbu_pct = 61.63;
  r.closed_form = {{"bytes in flight needed", "needed_in_flight_bytes", "bandwidth x latency",
                    "3.35 TB/s x 600 ns", 2'010'000, "bytes"}};
  r.expect = {{.path = "time",
               .wanted = "5.3 ms within 5 %",
               .got = "5.31 ms",
               .verdict = result::Verdict::Passed,
               .known_miss = "",
               .place = "decode.yaml:40:9"},
              {.path = "kernels.gate_up.dram",
               .wanted = "at least 3.0 TB/s",
               .got = "2.86 TB/s",
               .verdict = result::Verdict::KnownMiss,
               .known_miss = "stream-efficiency",
               .place = "decode.yaml:41:9"}};
  result::RunResult graph = r;
  graph.variant = "graph";
  graph.expect.clear();
  graph.gaps.launch_bound_us = 0;
  graph.gaps.launch_bound_count = 0;
  graph.time_us = 3510;
  r.variants = {graph};
  r.trace = {{.start_us = 0, .end_us = 4, .name = "launch gate_up", .track = "host"},
             {.start_us = 6.5, .end_us = 90.5, .name = "gate_up", .track = "stream 0"}};
  return r;
}

}  // namespace wavetail::report::examples
