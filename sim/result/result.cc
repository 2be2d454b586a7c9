// SPDX-License-Identifier: Apache-2.0
#include "result/result.h"

#include <cmath>
#include <type_traits>

namespace wavetail::result {

std::int64_t StallCycles::total() const {
  return selected + not_selected + long_scoreboard + short_scoreboard + wait + math_pipe_throttle +
         lg_throttle + mio_throttle + barrier + branch_resolving + gmma + drain + start + exit;
}

namespace {

// Calls f with every sum of each of the counters.
template <class F, class... S>
void for_each_stall(const F& f, S&... s) {
  f(s.selected...);
  f(s.not_selected...);
  f(s.long_scoreboard...);
  f(s.short_scoreboard...);
  f(s.wait...);
  f(s.math_pipe_throttle...);
  f(s.lg_throttle...);
  f(s.mio_throttle...);
  f(s.barrier...);
  f(s.branch_resolving...);
  f(s.gmma...);
  f(s.drain...);
  f(s.start...);
  f(s.exit...);
}

// What the program says: every block of a kernel counts about as much.
template <class F, class... C>
void for_each_work(const F& f, C&... c) {
  f(c.warp_instructions...);
  f(c.thread_instructions...);
  f(c.load_requests...);
  f(c.store_requests...);
  f(c.load_sectors...);
  f(c.store_sectors...);
  f(c.useful_load_bytes...);
  f(c.useful_store_bytes...);
  f(c.distinct_bytes...);
  f(c.shared_load_requests...);
  f(c.shared_store_requests...);
  f(c.bank_wavefronts...);
  f(c.bank_conflicts...);
  f(c.data_wavefronts...);
  f(c.data_conflicts...);
  f(c.tag_wavefronts...);
  f(c.tma_fetch_bytes...);
  f(c.tma_load_bytes...);
  f(c.tma_store_bytes...);
  f(c.dsmem_bytes...);
  f(c.flops...);
  f(c.tensor_flops...);
  f(c.blocks...);
  f(c.warps...);
  f(c.fp32_busy...);
  f(c.int32_busy...);
  f(c.fp64_busy...);
  f(c.sfu_busy...);
  f(c.redux_busy...);
  f(c.lsu_busy...);
  f(c.shared_busy...);
  f(c.tensor_busy...);
  f(c.tensor_energy...);
}

// What comes of it on the machine.
template <class F, class... C>
void for_each_effect(const F& f, C&... c) {
  f(c.l1_sectors...);
  f(c.l1_hit_sectors...);
  f(c.l1_pending_sectors...);
  f(c.l2_read_sectors...);
  f(c.l2_write_sectors...);
  f(c.l2_hit_sectors...);
  f(c.ingress_bytes...);
  f(c.egress_bytes...);
  f(c.dram_read_bytes...);
  f(c.dram_write_bytes...);
  f(c.l2_fill_bytes...);
  f(c.l2_writeback_bytes...);
  f(c.memory_side_sectors...);
  f(c.memory_side_hit_sectors...);
  f(c.latency_ps_sum...);
  f(c.latency_bytes...);
  f(c.in_flight_byte_ps...);
  f(c.resident_warp_cycles...);
  f(c.active_sm_cycles...);
  f(c.slots.issued...);
  f(c.slots.stalled...);
  f(c.slots.no_warp...);
  f(c.slots.not_reached...);
  for_each_stall(f, c.stalls...);
}

template <class F, class... C>
void for_each_sum(const F& f, C&... c) {
  for_each_work(f, c...);
  for_each_effect(f, c...);
}

template <class T>
T scaled(T sum, double by) {
  if constexpr (std::is_integral_v<T>) { return std::llround(static_cast<double>(sum) * by); }
  return static_cast<T>(static_cast<double>(sum) * by);
}

}  // namespace

StallCycles& StallCycles::operator+=(const StallCycles& o) {
  for_each_stall([](auto& sum, const auto& n) { sum += n; }, *this, o);
  return *this;
}

Counters& Counters::operator+=(const Counters& o) {
  for_each_sum([](auto& sum, const auto& n) { sum += n; }, *this, o);
  return *this;
}

Counters& Counters::operator-=(const Counters& o) {
  for_each_sum([](auto& sum, const auto& n) { sum -= n; }, *this, o);
  return *this;
}

Counters& Counters::operator*=(double by) {
  for_each_sum([by](auto& sum) { sum = scaled(sum, by); }, *this);
  return *this;
}

void Counters::take_work(const Counters& o, double by) {
  for_each_work([by](auto& sum, const auto& n) { sum = scaled(n, by); }, *this, o);
}

Work& Work::operator-=(const Work& o) {
  instructions -= o.instructions;
  arithmetic -= o.arithmetic;
  tensor -= o.tensor;
  shared -= o.shared;
  l2 -= o.l2;
  dram -= o.dram;
  return *this;
}

void Energy::add(const Work& work, double core, double memory) {
  const auto joules = [](std::int64_t femto) { return static_cast<double>(femto) * 1e-15; };
  instructions += joules(work.instructions) * core;
  arithmetic += joules(work.arithmetic) * core;
  tensor += joules(work.tensor) * core;
  shared += joules(work.shared) * core;
  l2 += joules(work.l2) * core;
  dram += joules(work.dram) * memory;
}

Energy& Energy::operator+=(const Energy& o) {
  idle += o.idle;
  instructions += o.instructions;
  arithmetic += o.arithmetic;
  tensor += o.tensor;
  shared += o.shared;
  l2 += o.l2;
  dram += o.dram;
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
