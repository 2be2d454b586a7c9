// SPDX-License-Identifier: Apache-2.0
// What a run found out, as plain values. Writers (report/) walk the `describe` functions of
// result/describe.h, which give every field its key, unit and sentence once, for text, JSON, docs
// and the `expect` paths of scenarios. An empty optional means "does not apply" and is written as
// null.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace wavetail::result {

// One step of a closed-form chain: what was computed from what.
struct ChainLink {
  std::string name;     // "bytes in flight"
  std::string key;      // path element for `expect`: needed_in_flight_bytes
  std::string formula;  // "bandwidth x latency"
  std::string inputs;   // "3.35 TB/s x 600 ns"
  double value = 0;
  std::string unit;  // "bytes", "us", "ratio", "pct", ...
};

struct Bound {
  // Which ceiling is the highest: "dram", "l2", "atomics", "issue", "fp32", "shared", "in_flight",
  // "latency", "stated".
  std::string name;
  double time_us = 0;            // no result may be faster
  std::vector<ChainLink> chain;  // every ceiling and what led to it, the binding one included
  // Bytes per second that ports and slices of the L2 can bring to the SMs, and take from them.
  double l2_to_sms = 0, sms_to_l2 = 0;
  double load_width = 0;  // bytes per lane of the program's loads, mean; 0: it has none
};

// Warp-cycles by state, Nsight Compute's names, in SM cycles. The sum is the kernel's resident
// warp-cycles.
struct StallCycles {
  std::int64_t selected = 0;            // issuing
  std::int64_t not_selected = 0;        // ready, another warp was issued
  std::int64_t long_scoreboard = 0;     // waits for data from global memory
  std::int64_t short_scoreboard = 0;    // waits for data from shared memory
  std::int64_t wait = 0;                // fixed-latency dependency
  std::int64_t math_pipe_throttle = 0;  // its pipe is busy
  std::int64_t lg_throttle = 0;         // the queue of global memory instructions is full
  std::int64_t mio_throttle = 0;        // the queue of shared memory instructions is full
  std::int64_t barrier = 0;             // at a block barrier
  std::int64_t branch_resolving = 0;    // divergence: taking or joining a branch
  std::int64_t gmma = 0;                // waits for warpgroup matrix instructions
  std::int64_t drain = 0;               // has exited, its stores are not yet accepted
  std::int64_t start = 0;               // placed, not yet at its first instruction (no Nsight name)
  std::int64_t exit = 0;                // last instruction done, slot not yet free (no Nsight name)
  [[nodiscard]] std::int64_t total() const;
  StallCycles& operator+=(const StallCycles& o);
};

// Issue-slot cycles of all schedulers over the kernel's time: every one is in exactly one bucket.
struct SlotCycles {
  std::int64_t issued = 0, stalled = 0, no_warp = 0, not_reached = 0;

  [[nodiscard]] std::int64_t total() const { return issued + stalled + no_warp + not_reached; }
};

// Counters of one launch (or the sum over launches): all additive.
struct Counters {
  std::int64_t warp_instructions = 0;
  std::int64_t thread_instructions = 0;                // active lanes, summed
  std::int64_t load_requests = 0, store_requests = 0;  // warp instructions to global memory
  std::int64_t l1_sectors = 0, l1_hit_sectors = 0;     // sectors asked of L1, loads
  std::int64_t l1_pending_sectors = 0;  // of those, already on their way for an earlier load
  std::int64_t load_sectors = 0, store_sectors = 0;  // sectors after coalescing, before L1
  std::int64_t useful_load_bytes = 0, useful_store_bytes = 0;  // lanes x width
  std::int64_t distinct_bytes = 0;  // asked for, each byte of a request once
  // Warp instructions to shared memory, the wavefronts they took, and how many of these were not
  // needed without bank conflicts.
  std::int64_t shared_load_requests = 0, shared_store_requests = 0;
  std::int64_t bank_wavefronts = 0, bank_conflicts = 0;
  // Of warp instructions to global memory, in L1: through the banks of its data, of these not
  // needed without bank conflicts, and in the banks of its tags.
  std::int64_t data_wavefronts = 0, data_conflicts = 0, tag_wavefronts = 0;
  std::int64_t l2_read_sectors = 0, l2_write_sectors = 0;
  std::int64_t l2_hit_sectors = 0;                   // reads and writes
  std::int64_t ingress_bytes = 0, egress_bytes = 0;  // crossbar data
  std::int64_t dram_read_bytes = 0, dram_write_bytes = 0;
  std::int64_t l2_fill_bytes = 0, l2_writeback_bytes = 0;
  // Asked of the memory-side cache by L2, and found there.
  std::int64_t memory_side_sectors = 0, memory_side_hit_sectors = 0;
  // TMA: fetched from L2, landed in shared memory (with multicast several times), stored.
  std::int64_t tma_fetch_bytes = 0, tma_load_bytes = 0, tma_store_bytes = 0;
  std::int64_t dsmem_bytes = 0;     // loaded from and stored to shared memory of peers
  std::int64_t latency_ps_sum = 0;  // per-request stamps, issue to return, loads beyond L1, x bytes
  std::int64_t latency_bytes = 0;   // the bytes of those requests
  double in_flight_byte_ps = 0;     // integral of bytes in flight over time, kept at the SMs
  double flops = 0;
  double tensor_flops = 0;  // of these, by tensor instructions
  std::int64_t blocks = 0, warps = 0;
  std::int64_t resident_warp_cycles = 0;  // kept per block, independent of the stall buckets
  std::int64_t active_sm_cycles = 0;      // cycles with at least one resident warp, over SMs
  // Pipe-cycles in use, summed over sub-partitions (lsu: over SMs; shared: its part for shared
  // memory).
  std::int64_t fp32_busy = 0, int32_busy = 0, fp64_busy = 0, sfu_busy = 0, redux_busy = 0;
  std::int64_t lsu_busy = 0;
  std::int64_t shared_busy = 0;
  // Thousandths of a pipe-cycle that the tensor FLOPs take at the dense rate.
  std::int64_t tensor_busy = 0;
  // Femtojoules of the tensor FLOPs at the clock of the GPU file's energies, random data.
  std::int64_t tensor_energy = 0;
  StallCycles stalls;
  SlotCycles slots;
  Counters& operator+=(const Counters& o);
  Counters& operator-=(const Counters& o);
  Counters& operator*=(double by);
  // Of what the program says (instructions, bytes asked for, FLOPs, pipe-cycles, ...), what `o` has
  // times `by`.
  void take_work(const Counters& o, double by);
};

// What counted work costs at the clock for which the GPU file states energies, in femtojoules.
struct Work {
  std::int64_t instructions = 0, arithmetic = 0, tensor = 0, shared = 0, l2 = 0, dram = 0;

  // All that hangs on the core's voltage.
  [[nodiscard]] std::int64_t core() const {
    return instructions + arithmetic + tensor + shared + l2;
  }

  Work& operator-=(const Work& o);
};

// Where energy went, in joules.
struct Energy {
  double idle = 0;  // static power x time
  double instructions = 0, arithmetic = 0, tensor = 0, shared = 0, l2 = 0, dram = 0;

  [[nodiscard]] double total() const {
    return idle + instructions + arithmetic + tensor + shared + l2 + dram;
  }

  // `work`, of which the core's part costs `core` times and DRAM's `memory` times as much.
  void add(const Work& work, double core, double memory = 1);
  Energy& operator+=(const Energy& o);
};

struct KernelResult {
  std::string name, role, note;
  std::int64_t launches = 0;
  std::int64_t replayed = 0;  // launches answered from an identical earlier one
  double skipped_trips = 0;   // steady trips of long loops that were not simulated, likewise
  double skipped_waves = 0;   // steady waves that were not simulated, mean per launch
  double time_us = 0;         // mean per launch, first block dispatched to last block retired
  double time_total_us = 0;   // sum over launches
  std::int64_t grid = 0, block = 0, cluster = 1, registers = 0;
  double shared_memory_bytes = 0;
  std::optional<std::int64_t> waves, sms_reached, blocks_per_sm;
  std::optional<double> wave_efficiency_pct, theoretical_occupancy_pct, achieved_occupancy_pct,
      warps_of_cap_pct;
  std::vector<std::string> limiters;
  std::optional<double> dram_read_bytes, dram_write_bytes, dram_gbps, dram_pct;
  std::optional<double> l1_hit_pct, l2_hit_pct, l2_sectors, sectors_per_request, useful_sector_pct;
  std::optional<double> memory_side_hit_pct;  // only of GPUs that have such a cache
  std::optional<double> useful_gbps;          // lanes x width over time
  std::optional<double> data_wavefronts_per_request, data_conflict_pct, tag_wavefronts_per_request;
  std::optional<double> bank_wavefronts_per_request, bank_conflict_pct, shared_busy_pct;
  std::optional<double> bytes_in_flight, mean_latency_ns, little_error_pct;
  std::optional<double> warp_instructions, active_lanes_pct, issue_slot_pct, fp32_pct;
  std::optional<double> tflops, tensor_pct, sm_busy_pct, fragment_fill_pct, l2_fit_ratio;
  std::map<std::string, double> stall_pct;  // of resident warp-cycles, every reason, Nsight's names
  std::map<std::string, double> slot_pct;   // issued, stalled, no_warp, not_reached
  Bound bound;
  std::optional<double> time_over_bound;  // time_us / bound.time_us
  // What the bytes that really moved take at least; the bound counts those that no cache can spare.
  std::optional<double> traffic_us;
  std::optional<double> gap_us;  // idle device before a launch of it; see describe.h
  bool from_graphs = false;      // every launch of it was a node of a graph
  double clock_mhz = 0;
  std::optional<double> power_w, energy_mj;
  std::map<std::string, double> energy_pct;  // by part; empty where power is not known
  Counters counters;                         // mean per launch is counters / launches
};

struct Gaps {
  double launch_bound_us = 0, sync_us = 0, host_us = 0, dependency_us = 0, tail_us = 0;
  std::int64_t launch_bound_count = 0, sync_count = 0, host_count = 0, dependency_count = 0;
  double startup_us = 0;     // part of launch_bound_us
  bool from_graphs = false;  // every launch of the run was a node of a graph

  [[nodiscard]] double total_us() const {
    return launch_bound_us + sync_us + host_us + dependency_us + tail_us;
  }
};

enum class Verdict { Passed, Failed, KnownMiss, UnexpectedPass };

struct ExpectationResult {
  std::string path;    // as written in the scenario
  std::string wanted;  // "2.1 ms within 10 %"
  std::string got;
  Verdict verdict = Verdict::Failed;
  std::string known_miss;  // id in docs/deviations.md
  std::string place;       // file:line:column of the expectation
};

enum class Outcome { Complete, Hang, OverBudget, Interrupted };

// A launch that was on the device when the run was cut short, and what it had done by then.
struct Unfinished {
  std::string kernel;
  double started_us = 0, ran_us = 0;
  std::int64_t blocks = 0, blocks_done = 0;  // 0 blocks: a stand-in of stated duration
  double warp_instructions = 0, dram_read_bytes = 0, dram_write_bytes = 0;
};

// One bar of a trace (--trace).
struct Interval {
  double start_us = 0, end_us = 0;
  std::string name, track;
};

struct RunResult {
  std::string scenario, gpu, confidence, variant;
  std::vector<std::string> weakest_values;  // paths with that confidence, at most a few
  double clock_mhz = 0;
  std::string regime;  // "spec 1830 MHz" | "boost 1980 MHz"
  double time_us = 0, kernel_time_us = 0, busy_us = 0;
  std::vector<KernelResult> kernels;
  Gaps gaps;
  std::optional<double> mbu_pct, mfu_pct;
  std::vector<ChainLink> closed_form;  // chains of the scenario's own assumptions (`assume`)
  std::vector<ExpectationResult> expect;
  std::vector<RunResult> variants;  // each with its own `variant` name; no nesting below
  Outcome outcome = Outcome::Complete;
  std::string outcome_message;  // hang report, budget that was hit
  std::vector<std::string> warnings;
  std::vector<Unfinished> unfinished;  // in the order of their calls; empty in a complete run
  std::vector<Interval> trace;         // filled only when asked for
  std::int64_t events = 0;
};

[[nodiscard]] std::string_view name(Verdict v);
[[nodiscard]] std::string_view name(Outcome o);

}  // namespace wavetail::result
