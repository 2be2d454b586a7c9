// SPDX-License-Identifier: Apache-2.0
#include "result/result.h"

namespace wavetail::result {

std::int64_t StallCycles::total() const {
  return selected + not_selected + long_scoreboard + short_scoreboard + wait + math_pipe_throttle +
         lg_throttle + mio_throttle + barrier + branch_resolving + gmma + drain + start + exit;
}

StallCycles& StallCycles::operator+=(const StallCycles& o) {
  selected += o.selected;
  not_selected += o.not_selected;
  long_scoreboard += o.long_scoreboard;
  short_scoreboard += o.short_scoreboard;
  wait += o.wait;
  math_pipe_throttle += o.math_pipe_throttle;
  lg_throttle += o.lg_throttle;
  mio_throttle += o.mio_throttle;
  barrier += o.barrier;
  branch_resolving += o.branch_resolving;
  gmma += o.gmma;
  drain += o.drain;
  start += o.start;
  exit += o.exit;
  return *this;
}

Counters& Counters::operator+=(const Counters& o) {
  warp_instructions += o.warp_instructions;
  thread_instructions += o.thread_instructions;
  load_requests += o.load_requests;
  store_requests += o.store_requests;
  l1_sectors += o.l1_sectors;
  l1_hit_sectors += o.l1_hit_sectors;
  l1_pending_sectors += o.l1_pending_sectors;
  load_sectors += o.load_sectors;
  store_sectors += o.store_sectors;
  useful_load_bytes += o.useful_load_bytes;
  useful_store_bytes += o.useful_store_bytes;
  distinct_bytes += o.distinct_bytes;
  shared_load_requests += o.shared_load_requests;
  shared_store_requests += o.shared_store_requests;
  bank_wavefronts += o.bank_wavefronts;
  data_wavefronts += o.data_wavefronts;
  data_conflicts += o.data_conflicts;
  tag_wavefronts += o.tag_wavefronts;
  bank_conflicts += o.bank_conflicts;
  l2_read_sectors += o.l2_read_sectors;
  l2_write_sectors += o.l2_write_sectors;
  l2_hit_sectors += o.l2_hit_sectors;
  ingress_bytes += o.ingress_bytes;
  egress_bytes += o.egress_bytes;
  dram_read_bytes += o.dram_read_bytes;
  dram_write_bytes += o.dram_write_bytes;
  l2_fill_bytes += o.l2_fill_bytes;
  l2_writeback_bytes += o.l2_writeback_bytes;
  memory_side_sectors += o.memory_side_sectors;
  memory_side_hit_sectors += o.memory_side_hit_sectors;
  tma_fetch_bytes += o.tma_fetch_bytes;
  tma_load_bytes += o.tma_load_bytes;
  tma_store_bytes += o.tma_store_bytes;
  dsmem_bytes += o.dsmem_bytes;
  tensor_busy += o.tensor_busy;
  latency_ps_sum += o.latency_ps_sum;
  latency_bytes += o.latency_bytes;
  in_flight_byte_ps += o.in_flight_byte_ps;
  flops += o.flops;
  tensor_flops += o.tensor_flops;
  blocks += o.blocks;
  warps += o.warps;
  resident_warp_cycles += o.resident_warp_cycles;
  active_sm_cycles += o.active_sm_cycles;
  fp32_busy += o.fp32_busy;
  int32_busy += o.int32_busy;
  fp64_busy += o.fp64_busy;
  sfu_busy += o.sfu_busy;
  lsu_busy += o.lsu_busy;
  shared_busy += o.shared_busy;
  events += o.events;
  stalls += o.stalls;
  slots.issued += o.slots.issued;
  slots.stalled += o.slots.stalled;
  slots.no_warp += o.slots.no_warp;
  slots.not_reached += o.slots.not_reached;
  return *this;
}

std::string_view name(Verdict v) {
  switch (v) {
    case Verdict::Passed: return "passed";
    case Verdict::Failed: return "failed";
    case Verdict::KnownMiss: return "known_miss";
    case Verdict::UnexpectedPass: return "unexpected_pass";
  }
  return "failed";
}

std::string_view name(Outcome o) {
  switch (o) {
    case Outcome::Complete: return "complete";
    case Outcome::Hang: return "hang";
    case Outcome::OverBudget: return "over_budget";
    case Outcome::Interrupted: return "interrupted";
  }
  return "complete";
}

}  // namespace wavetail::result
