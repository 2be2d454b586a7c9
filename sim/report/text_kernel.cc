// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include "report/diagnose.h"
#include "report/figures.h"
#include "report/text.h"
#include "unit/human.h"

namespace wavetail::report {

namespace {

using result::ChainLink;
using result::KernelResult;
using unit::human;

std::string pct(const std::optional<double>& v) { return v ? human(*v, "pct") : "-"; }

// The simulated figure that a closed-form link speaks of; empty where there is none.
std::string simulated(const KernelResult& k, const ChainLink& l) {
  const auto sms = sms_of(k);
  if (l.key == "needed_in_flight_bytes" || l.key == "possible_in_flight_bytes") {
    return k.bytes_in_flight ? human(*k.bytes_in_flight, "bytes") : "";
  }
  if (l.key == "needed_in_flight_per_sm_bytes" && k.bytes_in_flight && sms) {
    return human(*k.bytes_in_flight / *sms, "bytes");
  }
  if (l.key == "sectors_per_request" && k.sectors_per_request) {
    return human(*k.sectors_per_request, "");
  }
  if (l.key == "bank_wavefronts_per_request" && k.bank_wavefronts_per_request) {
    return human(*k.bank_wavefronts_per_request, "");
  }
  if (l.key == "useful_sector_pct" && k.useful_sector_pct) {
    return human(*k.useful_sector_pct, "pct");
  }
  if (l.key == "compulsory_bytes" && k.dram_read_bytes) {
    return human(*k.dram_read_bytes + k.dram_write_bytes.value_or(0), "bytes");
  }
  if (l.unit == "us" && l.value > 0) {
    return fmt::format("{} ({})", human(k.time_us, "us"), human(k.time_us / l.value, "ratio"));
  }
  return {};
}

// A ceiling so far from the time that it explains none of it. JSON and `expect` have it all the
// same.
bool says_nothing(const KernelResult& k, const ChainLink& l) {
  constexpr double kFar = 1000;
  return l.unit == "us" && kFar * l.value < k.time_us;
}

// What binds and its evidence, unless the verdict has just said so.
std::string because(const Diagnosis& d) {
  const bool said = d.binds == "dram" && d.verdict.find("DRAM binds") != std::string::npos;
  return d.findings.empty() || said ? ""
                                    : fmt::format("; {}: {}", d.binds, d.findings.front().evidence);
}

std::string launch_line(const KernelResult& k) {
  std::string out = fmt::format("{} blocks of {} threads", k.grid, k.block);
  if (k.cluster > 1) { out += fmt::format(" in clusters of {}", k.cluster); }
  out += fmt::format(", {} registers, {} shared", k.registers,
                     human(k.shared_memory_bytes, "bytes"));
  if (k.blocks_per_sm) {
    out += fmt::format("; {} per SM ({})", *k.blocks_per_sm, fmt::join(k.limiters, ", "));
  }
  if (k.waves) {
    out += fmt::format("; {} wave{}, {} full, {} SMs reached", *k.waves, *k.waves == 1 ? "" : "s",
                       pct(k.wave_efficiency_pct), k.sms_reached.value_or(0));
  }
  return out;
}

std::string memory_line(const KernelResult& k) {
  std::string out = fmt::format("DRAM {} read, {} written",
                                human(k.dram_read_bytes.value_or(0), "bytes"),
                                human(k.dram_write_bytes.value_or(0), "bytes"));
  if (k.dram_gbps) {
    out += fmt::format(" = {} ({} of the pins)", human(*k.dram_gbps, "GB/s"), pct(k.dram_pct));
  }
  if (k.l2_sectors) {
    out += fmt::format("; L2 {}, {} hit", human(*k.l2_sectors * 32, "bytes"), pct(k.l2_hit_pct));
  }
  if (k.memory_side_hit_pct) {
    out += fmt::format("; memory-side cache {} hit", pct(k.memory_side_hit_pct));
  }
  if (k.l1_hit_pct) { out += fmt::format("; L1 {} hit", pct(k.l1_hit_pct)); }
  if (k.sectors_per_request) {
    out += fmt::format("; {} sectors per request, {} of their bytes used",
                       human(*k.sectors_per_request, ""), pct(k.useful_sector_pct));
  }
  if (k.data_conflict_pct.value_or(0) > 0 ||
      k.tag_wavefronts_per_request > k.data_wavefronts_per_request) {
    out += fmt::format("; {} data and {} tag wavefronts in L1 per request, {} bank conflicts",
                       human(k.data_wavefronts_per_request.value_or(0), ""),
                       human(k.tag_wavefronts_per_request.value_or(0), ""),
                       pct(k.data_conflict_pct));
  }
  return out;
}

std::string shared_line(const KernelResult& k) {
  return fmt::format("{} wavefronts per request, {} of them bank conflicts; data path busy {}",
                     human(*k.bank_wavefronts_per_request, ""), pct(k.bank_conflict_pct),
                     pct(k.shared_busy_pct));
}

std::string flight_line(const KernelResult& k) {
  std::string out = fmt::format("{} under way on average", human(*k.bytes_in_flight, "bytes"));
  if (const auto sms = sms_of(k)) {
    out += fmt::format(", {} per SM", human(*k.bytes_in_flight / *sms, "bytes"));
  }
  if (k.mean_latency_ns) {
    out += fmt::format("; mean latency {}", human(*k.mean_latency_ns, "ns"));
  }
  return out;
}

std::string work_line(const KernelResult& k) {
  std::string out = fmt::format("{} warp instructions, {} of the issue slots, {} of the lanes",
                                human(*k.warp_instructions, ""), pct(k.issue_slot_pct),
                                pct(k.active_lanes_pct));
  if (k.tflops && *k.tflops > 0) { out += fmt::format("; {}", human(*k.tflops, "TFLOP/s")); }
  return out;
}

// The parts in order of what they take, idle power among them.
std::string power_line(const KernelResult& k) {
  return fmt::format("{} at {}: {}", human(*k.power_w, "W"), human(k.clock_mhz, "MHz"),
                     shares_text(k.energy_pct));
}

}  // namespace

std::string chain_text(const KernelResult& k, int indent) {
  Table table({{"closed form", Table::Align::Left},
               {"value"},
               {"simulated"},
               {"from", Table::Align::Left}});
  for (const auto& l : k.bound.chain) {
    const bool binds = l.key == k.bound.name + "_us";
    if (!binds && says_nothing(k, l)) { continue; }
    table.add({(binds ? "* " : "  ") + l.name, human(l.value, l.unit), simulated(k, l),
               fmt::format("{}: {}", l.formula, l.inputs)});
  }
  return table.rows().empty() ? "" : table.text(indent);
}

std::string kernel_text(const KernelResult& k, const result::RunResult& run) {
  std::string out = fmt::format("{}{}: {} launch{}, {} each, {} of the kernel time\n", k.name,
                                k.role.empty() || k.role == k.name ? "" : " (" + k.role + ")",
                                k.launches, k.launches == 1 ? "" : "es", human(k.time_us, "us"),
                                human(percent(k.time_total_us, run.kernel_time_us), "pct"));
  const auto d = diagnose(k);
  const auto line = [&](std::string_view label, const std::string& text) {
    if (!text.empty()) { out += fmt::format("  {:<10} {}\n", label, wrapped(text, 100, 13)); }
  };
  line("verdict", d.verdict + because(d));
  if (!k.note.empty()) { line("chosen", k.note); }
  if (k.bound.name == "stated") { return out; }
  line("launch", launch_line(k));
  if (k.theoretical_occupancy_pct) {
    line("occupancy", fmt::format("{} theoretical, {} achieved = {} of the kernel's own cap",
                                  pct(k.theoretical_occupancy_pct), pct(k.achieved_occupancy_pct),
                                  pct(k.warps_of_cap_pct)));
  }
  line("memory", memory_line(k));
  if (k.bank_wavefronts_per_request) { line("shared", shared_line(k)); }
  if (k.bytes_in_flight) { line("in flight", flight_line(k)); }
  if (k.warp_instructions) { line("work", work_line(k)); }
  line("warps", shares_text(k.stall_pct));
  line("SM slots", shares_text(k.slot_pct));
  if (k.power_w) { line("power", power_line(k)); }
  return out + chain_text(k, 2);
}

}  // namespace wavetail::report
