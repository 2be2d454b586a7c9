// SPDX-License-Identifier: Apache-2.0
// One declaration per reported field: JSON key (which ends in its unit), unit, sentence. Everything
// that prints, documents, compares or looks up results walks these functions; there is no second
// field list.
//
//   struct Visitor {
//     template <class T>
//     void operator()(std::string_view key, const T& value, std::string_view unit,
//                     std::string_view sentence);
//   };
#pragma once

#include <string_view>

#include "result/result.h"

namespace wavetail::result {

template <class V>
void describe(V&& v, const StallCycles& s) {
  v("selected", s.selected, "cycles", "issued an instruction");
  v("not_selected", s.not_selected, "cycles", "ready, but the scheduler issued another warp");
  v("long_scoreboard", s.long_scoreboard, "cycles",
    "waited for data from global memory, or at an mbarrier");
  v("short_scoreboard", s.short_scoreboard, "cycles", "waited for data from shared memory");
  v("wait", s.wait, "cycles", "waited out a fixed-latency dependency");
  v("math_pipe_throttle", s.math_pipe_throttle, "cycles", "its arithmetic pipe was busy");
  v("lg_throttle", s.lg_throttle, "cycles", "the queue for global memory instructions was full");
  v("mio_throttle", s.mio_throttle, "cycles", "the queue for shared memory instructions was full");
  v("barrier", s.barrier, "cycles", "waited at a block, named or cluster barrier");
  v("branch_resolving", s.branch_resolving, "cycles", "took or joined a divergent branch");
  v("gmma", s.gmma, "cycles", "waited for warpgroup matrix instructions");
  v("drain", s.drain, "cycles",
    "past its last instruction, its bulk copies not yet done, or its stores not answered");
  v("start", s.start, "cycles", "placed on the SM, not yet at its first instruction");
  v("exit", s.exit, "cycles", "past its last instruction, its slot not yet free");
}

template <class V>
void describe(V&& v, const SlotCycles& s) {
  v("issued", s.issued, "cycles", "a warp instruction was issued");
  v("stalled", s.stalled, "cycles", "warps were resident, none was issued");
  v("no_warp", s.no_warp, "cycles", "the SM had run blocks of the kernel, none was resident now");
  v("not_reached", s.not_reached, "cycles", "no block of the kernel came to this SM");
}

template <class V>
void describe(V&& v, const Energy& e) {
  v("idle", e.idle, "J", "what the board takes with nothing to do");
  v("instructions", e.instructions, "J", "fetching, decoding and scheduling instructions");
  v("arithmetic", e.arithmetic, "J", "arithmetic pipes");
  v("tensor", e.tensor, "J", "tensor instructions, operands and sums included");
  v("shared", e.shared, "J", "data at the banks of shared memory and L1");
  v("l2", e.l2, "J", "data between SM and L2");
  v("dram", e.dram, "J", "data between L2 and DRAM");
}

template <class V>
void describe(V&& v, const Gaps& g) {
  v("launch_bound_us", g.launch_bound_us, "us",
    "device idle while the CPU was still busy with launch calls");
  v("sync_us", g.sync_us, "us", "device idle from a synchronisation until the next launch arrived");
  v("host_us", g.host_us, "us",
    "device idle during stated host work that no synchronisation preceded");
  v("dependency_us", g.dependency_us, "us",
    "the next launch was queued and waited for the previous kernel's end");
  v("tail_us", g.tail_us, "us", "from the last kernel's end to the end of the run");
  v("launch_bound_count", g.launch_bound_count, "", "gaps of that class");
  v("sync_count", g.sync_count, "", "gaps of that class");
  v("host_count", g.host_count, "", "gaps of that class");
  v("dependency_count", g.dependency_count, "", "gaps of that class");
  v("startup_us", g.startup_us, "us",
    "the part of launch_bound that lies before the first kernel of the run");
}

template <class V>
void describe(V&& v, const Unfinished& u) {
  v("kernel", u.kernel, "", "the kernel that was running when the run was cut short");
  v("started_us", u.started_us, "us", "when its first block was dispatched");
  v("ran_us", u.ran_us, "us", "how long it had run");
  v("blocks", u.blocks, "blocks", "blocks of the launch");
  v("blocks_done", u.blocks_done, "blocks", "of them, retired");
  v("warp_instructions", u.warp_instructions, "", "warp instructions issued so far");
  v("dram_read_bytes", u.dram_read_bytes, "bytes", "read from DRAM so far");
  v("dram_write_bytes", u.dram_write_bytes, "bytes", "written to DRAM so far");
}

// The part of a kernel's figures that speaks of memory, from DRAM to the banks of shared memory.
template <class V>
void describe_memory(V&& v, const KernelResult& k) {
  v("dram_read_bytes", k.dram_read_bytes, "bytes", "read from DRAM");
  v("dram_write_bytes", k.dram_write_bytes, "bytes", "written to DRAM");
  v("dram_gbps", k.dram_gbps, "GB/s", "DRAM bytes / time");
  v("dram_pct", k.dram_pct, "pct", "DRAM bytes / (time x pin bandwidth)");
  v("useful_gbps", k.useful_gbps, "GB/s", "bytes that lanes asked for / time");
  v("l1_hit_pct", k.l1_hit_pct, "pct",
    "load sectors found in L1 or on their way to it; those of streaming loads, which skip it, are "
    "misses");
  v("l2_hit_pct", k.l2_hit_pct, "pct", "sectors found in L2, loads and stores");
  v("l2_sectors", k.l2_sectors, "", "32 B sectors asked of L2");
  v("memory_side_hit_pct", k.memory_side_hit_pct, "pct",
    "sectors that L2 lacked, found in the memory-side cache; null without such a cache");
  v("sectors_per_request", k.sectors_per_request, "", "32 B sectors per warp load or store");
  v("useful_sector_pct", k.useful_sector_pct, "pct",
    "bytes that lanes asked for, each byte of a request once / bytes of the sectors touched");
  v("data_wavefronts_per_request", k.data_wavefronts_per_request, "",
    "wavefronts in the banks of L1's data per warp load or store");
  v("data_conflict_pct", k.data_conflict_pct, "pct",
    "wavefronts of L1's data beyond those that the same lanes need without bank conflicts");
  v("tag_wavefronts_per_request", k.tag_wavefronts_per_request, "",
    "wavefronts in the banks of L1's tags per warp load or store");
  v("bank_wavefronts_per_request", k.bank_wavefronts_per_request, "",
    "shared-memory wavefronts per request");
  v("bank_conflict_pct", k.bank_conflict_pct, "pct",
    "shared-memory wavefronts beyond those that the same lanes need without bank conflicts");
  v("shared_busy_pct", k.shared_busy_pct, "pct", "shared memory's data path busy on active SMs");
  v("bytes_in_flight", k.bytes_in_flight, "bytes",
    "bytes of loads under way beyond L1, averaged over time, GPU-wide");
  v("mean_latency_ns", k.mean_latency_ns, "ns",
    "issue to return of loads beyond L1, weighted by bytes");
  v("little_error_pct", k.little_error_pct, "pct",
    "bytes in flight x time against the sum of bytes x latency, two sums kept apart");
}

template <class V>
void describe(V&& v, const KernelResult& k) {
  v("name", k.name, "", "the kernel's name in the scenario");
  v("role", k.role, "", "what the kernel does in a model: qkv, attention, o_proj, ...");
  v("note", k.note, "", "what the template chose");
  v("launches", k.launches, "", "times launched");
  v("replayed", k.replayed, "",
    "launches answered from an identical earlier one in the same cache state");
  v("skipped_trips", k.skipped_trips, "",
    "trips of long loops, of every warp, that took as long as those before them and were not "
    "simulated, mean per launch (simulation.skip_waves)");
  v("skipped_waves", k.skipped_waves, "",
    "waves that took as long as those before them and were not simulated, mean per launch "
    "(simulation.skip_waves)");
  v("time_us", k.time_us, "us", "first block dispatched to last block retired, mean per launch");
  v("time_total_us", k.time_total_us, "us", "the same, summed over launches");
  v("grid", k.grid, "blocks", "blocks per launch");
  v("block", k.block, "threads", "threads per block");
  v("cluster", k.cluster, "blocks", "blocks per cluster");
  v("registers", k.registers, "", "registers per thread");
  v("shared_memory_bytes", k.shared_memory_bytes, "bytes", "shared memory per block");
  v("waves", k.waves, "", "rounds of blocks: ceil(grid / (reachable SMs x blocks per SM))");
  v("wave_efficiency_pct", k.wave_efficiency_pct, "pct",
    "grid / (waves x blocks that fit at once)");
  v("sms_reached", k.sms_reached, "", "SMs that ran at least one block");
  v("blocks_per_sm", k.blocks_per_sm, "", "blocks that fit on one SM");
  v("theoretical_occupancy_pct", k.theoretical_occupancy_pct, "pct",
    "warps that fit / the SM's warp slots");
  v("achieved_occupancy_pct", k.achieved_occupancy_pct, "pct",
    "mean resident warps of an active SM / its warp slots");
  v("warps_of_cap_pct", k.warps_of_cap_pct, "pct",
    "mean resident warps of an active SM / the warps that fit");
  v("limiters", k.limiters, "", "every resource that limits the blocks per SM");
  describe_memory(v, k);
  v("warp_instructions", k.warp_instructions, "", "warp instructions issued, per launch");
  v("active_lanes_pct", k.active_lanes_pct, "pct",
    "lanes active per warp instruction / lanes of a warp");
  v("issue_slot_pct", k.issue_slot_pct, "pct", "issue slots used on active SMs");
  v("fp32_pct", k.fp32_pct, "pct", "FP32 pipe busy on active SMs");
  v("tflops", k.tflops, "TFLOP/s", "floating-point operations / time");
  v("tensor_pct", k.tensor_pct, "pct", "tensor FLOPs / dense peak of the active SMs");
  v("sm_busy_pct", k.sm_busy_pct, "pct", "busiest of issue and pipes, on active SMs");
  v("fragment_fill_pct", k.fragment_fill_pct, "pct",
    "FLOPs asked for / FLOPs of the tensor instructions, whose tiles may reach beyond the matrix");
  v("l2_fit_ratio", k.l2_fit_ratio, "ratio", "compulsory bytes / L2 capacity");
  v("time_over_bound", k.time_over_bound, "ratio", "time / the highest closed-form ceiling");
  v("traffic_us", k.traffic_us, "us",
    "least time for the bytes really moved: DRAM at the pins' rate, crossbar and L2 at theirs");
  v("gap_us", k.gap_us, "us",
    "device idle before a launch (launch_bound, dependency), mean; not before the run's first");
  v("clock_mhz", k.clock_mhz, "MHz", "SM clock, averaged over the launches' time");
  v("power_w", k.power_w, "W",
    "board power while it runs, mean; null where the GPU file has no energies");
  v("energy_mj", k.energy_mj, "mJ", "power x time, per launch");
}

template <class V>
void describe(V&& v, const RunResult& r) {
  v("scenario", r.scenario, "", "the scenario's name");
  v("gpu", r.gpu, "", "the GPU file's name");
  v("confidence", r.confidence, "", "the weakest confidence of the GPU values used");
  v("clock_mhz", r.clock_mhz, "MHz", "SM clock, averaged over the kernels' time");
  v("regime", r.regime, "", "what set the clock");
  v("time_us", r.time_us, "us", "start to the last completion on host or device");
  v("kernel_time_us", r.kernel_time_us, "us", "sum over launches of their time");
  v("busy_us", r.busy_us, "us", "time with at least one kernel resident");
  v("mbu_pct", r.mbu_pct, "pct", "model bytes / time / pin bandwidth");
  v("mfu_pct", r.mfu_pct, "pct", "model FLOPs / time / dense peak");
}

}  // namespace wavetail::result
