// SPDX-License-Identifier: Apache-2.0
#include "support/drive.h"

#include <fmt/format.h>

#include <limits>

namespace wavetail::tests {

unit::Duration Driven::kernel_time() const {
  unit::Duration sum;
  for (const DrivenLaunch& l : launches) { sum += l.time(); }
  return sum;
}

result::Counters Driven::total() const {
  result::Counters sum;
  for (const DrivenLaunch& l : launches) { sum += l.counters; }
  return sum;
}

Session::Session(const scenario::Scenario& s)
    : machine_(s.gpu, wheel_,
               {.issue_quantum = s.simulation.issue_quantum,
                .seed = s.simulation.seed,
                .replay = s.simulation.replay,
                .skip_waves = s.simulation.skip_waves}),
      host_(
          s.gpu, s.kernels.all(), s.timeline, wheel_, machine_,
          [this](const sm::Launch& launch, const host::LaunchRecord& record) {
            driven_.launches.push_back({record.kernel, launch.started, launch.ended,
                                        launch.counters, launch.l2_bytes_at_start, launch.replayed,
                                        launch.fit, launch.skipped_waves, launch.skipped_trips});
          }) {
  if (s.initial_l2 != scenario::InitialL2::Empty) {
    machine_.memory().l2().fill_with_strangers(s.initial_l2 == scenario::InitialL2::Dirty);
  }
  host_.begin();
}

bool Session::go(std::int64_t events) {
  event::Event e;
  for (std::int64_t n = 0; n < events; ++n) {
    if (!wheel_.pop(e)) { return false; }
    if (e.target == event::Target::Host) {
      host_.handle(e);
    } else {
      machine_.handle(e);
    }
  }
  return true;
}

Driven Session::result() const {
  Driven d = driven_;
  auto& memory = const_cast<device::Machine&>(machine_).memory();
  d.log = host_.log();
  d.end = host_.end();
  d.events = wheel_.popped();
  d.finished = host_.finished();
  d.l2_lines = memory.l2().lines();
  d.l2_dirty_sectors = memory.l2().dirty_sectors();
  d.requests_under_way = memory.requests_under_way();
  d.fault = machine_.fault();
  return d;
}

Driven drive(const scenario::Scenario& scenario) {
  Session session(scenario);
  session.go(std::numeric_limits<std::int64_t>::max());
  return session.result();
}

std::string text_of(const result::Counters& c) {
  std::string text = fmt::format("{} {} {} {}", c.warp_instructions, c.thread_instructions,
                                 c.load_requests, c.store_requests);
  for (const std::int64_t n : {c.l1_sectors,
                               c.l1_hit_sectors,
                               c.l1_pending_sectors,
                               c.load_sectors,
                               c.store_sectors,
                               c.useful_load_bytes,
                               c.useful_store_bytes,
                               c.l2_read_sectors,
                               c.l2_write_sectors,
                               c.l2_hit_sectors,
                               c.ingress_bytes,
                               c.egress_bytes,
                               c.dram_read_bytes,
                               c.dram_write_bytes,
                               c.l2_fill_bytes,
                               c.l2_writeback_bytes,
                               c.memory_side_sectors,
                               c.memory_side_hit_sectors,
                               c.latency_ps_sum,
                               c.latency_bytes,
                               c.blocks,
                               c.warps,
                               c.active_sm_cycles,
                               c.fp32_busy,
                               c.int32_busy,
                               c.fp64_busy,
                               c.sfu_busy,
                               c.lsu_busy,
                               c.shared_load_requests,
                               c.shared_store_requests,
                               c.bank_wavefronts,
                               c.bank_conflicts,
                               c.shared_busy,
                               c.resident_warp_cycles,
                               c.slots.issued,
                               c.slots.stalled,
                               c.slots.no_warp,
                               c.slots.not_reached,
                               c.stalls.selected,
                               c.stalls.wait,
                               c.stalls.barrier,
                               c.stalls.not_selected,
                               c.stalls.lg_throttle,
                               c.stalls.mio_throttle,
                               c.stalls.start,
                               c.stalls.exit,
                               c.stalls.drain,
                               c.stalls.long_scoreboard,
                               c.stalls.short_scoreboard,
                               c.stalls.math_pipe_throttle,
                               c.stalls.branch_resolving}) {
    text += fmt::format(" {}", n);
  }
  return text + fmt::format(" {} {}\n", c.in_flight_byte_ps, c.flops);
}

std::string text_of(const Driven& d) {
  std::string text = fmt::format("{} {} {} {}\n", d.end.picoseconds(), d.events, d.l2_lines,
                                 d.l2_dirty_sectors);
  for (const DrivenLaunch& l : d.launches) {
    text += fmt::format("{} {} {}: {}", l.kernel, l.started.picoseconds(), l.ended.picoseconds(),
                        text_of(l.counters));
  }
  return text;
}

}  // namespace wavetail::tests
