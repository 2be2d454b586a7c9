// SPDX-License-Identifier: Apache-2.0
#include "report/metrics.h"

#include <fmt/format.h>

#include <string_view>
#include <type_traits>
#include <utility>

#include "result/describe.h"

namespace wavetail::report {

namespace {

// Nsight Compute's names (its Kernel Profiling Guide), by the last part of our path.
constexpr std::pair<std::string_view, std::string_view> kNsightNames[] = {
    {"time_us", "gpu__time_duration.sum"},
    {"grid", "launch__grid_size"},
    {"block", "launch__block_size"},
    {"cluster", "launch__cluster_size"},
    {"registers", "launch__registers_per_thread"},
    {"waves", "launch__waves_per_multiprocessor (ours is rounded up)"},
    {"theoretical_occupancy_pct", "sm__maximum_warps_per_active_cycle_pct"},
    {"achieved_occupancy_pct", "sm__warps_active.avg.pct_of_peak_sustained_active"},
    {"dram_read_bytes", "dram__bytes_read.sum"},
    {"dram_write_bytes", "dram__bytes_write.sum"},
    {"dram_gbps", "dram__bytes.sum.per_second"},
    {"dram_pct", "dram__throughput.avg.pct_of_peak_sustained_elapsed"},
    {"l1_hit_pct", "l1tex__t_sector_hit_rate.pct"},
    {"l2_hit_pct", "lts__t_sector_hit_rate.pct"},
    {"l2_sectors", "lts__t_sectors.sum"},
    {"sectors_per_request",
     "l1tex__average_t_sectors_per_request_pipe_lsu_mem_global_op_ld.ratio (loads alone)"},
    {"data_wavefronts_per_request",
     "l1tex__data_pipe_lsu_wavefronts_mem_lg.sum / (smsp__inst_executed_op_global_ld.sum + "
     "smsp__inst_executed_op_global_st.sum)"},
    {"data_conflict_pct",
     "l1tex__data_bank_conflicts_pipe_lsu_mem_global.sum / "
     "l1tex__data_pipe_lsu_wavefronts_mem_lg.sum"},
    {"tag_wavefronts_per_request",
     "l1tex__t_output_wavefronts_pipe_lsu_mem_global_op_ld.sum / "
     "smsp__inst_executed_op_global_ld.sum (loads alone)"},
    {"bank_wavefronts_per_request",
     "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum / smsp__inst_executed_op_shared.sum"},
    {"bank_conflict_pct",
     "l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum / "
     "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum"},
    {"shared_busy_pct",
     "l1tex__data_pipe_lsu_wavefronts_mem_shared.avg.pct_of_peak_sustained_active"},
    {"warp_instructions", "smsp__inst_executed.sum"},
    {"active_lanes_pct", "smsp__thread_inst_executed_per_inst_executed.pct"},
    {"issue_slot_pct", "smsp__issue_active.avg.pct_of_peak_sustained_active"},
    {"fp32_pct", "sm__inst_executed_pipe_fma.avg.pct_of_peak_sustained_active"},
    {"tensor_pct", "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_active"},
};

// What it calls the share of warps in a state; it has none for `start` and `exit`.
std::string nsight_stall(std::string_view reason) {
  if (reason == "start" || reason == "exit") { return {}; }
  return fmt::format("smsp__warp_issue_stalled_{}_per_warp_active.pct", reason);
}

std::string nsight_name(std::string_view key) {
  for (const auto& [ours, theirs] : kNsightNames) {
    if (ours == key) { return std::string(theirs); }
  }
  return {};
}

template <class T>
void collect(std::vector<Metric>& all, const std::string& prefix, const T& object, bool shares) {
  const bool stalls = std::is_same_v<T, result::StallCycles>;
  result::describe(
      [&](std::string_view key, const auto&, std::string_view unit, std::string_view sentence) {
        // Top-level figures speak of the whole run; Nsight Compute knows kernels.
        all.push_back({prefix + std::string(key), shares ? "pct" : std::string(unit),
                       std::string(sentence),
                       prefix.empty() ? ""
                       : stalls       ? nsight_stall(key)
                                      : nsight_name(key)});
      },
      object);
}

}  // namespace

std::vector<Metric> metrics() {
  std::vector<Metric> all;
  collect(all, "", result::RunResult{}, false);
  collect(all, "gaps.", result::Gaps{}, false);
  collect(all, "kernels[].", result::KernelResult{}, false);
  collect(all, "kernels[].stall_pct.", result::StallCycles{}, true);
  collect(all, "kernels[].slot_pct.", result::SlotCycles{}, true);
  collect(all, "kernels[].energy_pct.", result::Energy{}, true);
  collect(all, "unfinished[].", result::Unfinished{}, false);
  all.push_back({"kernels[].bound.name", "", "the highest closed-form ceiling", ""});
  all.push_back({"kernels[].bound.time_us", "us", "what it allows at best", ""});
  all.push_back({"kernels[].bound.chain", "", "every ceiling and what led to it", ""});
  return all;
}

}  // namespace wavetail::report
