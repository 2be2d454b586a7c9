// SPDX-License-Identifier: Apache-2.0
#include "report/verdict.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/figures.h"
#include "unit/human.h"

namespace wavetail::report {

namespace {

using result::KernelResult;
using unit::human;

constexpr double kNear = 70;          // per cent of a ceiling
constexpr double kWorthAWord = 1.03;  // bytes beyond this ratio are explained

std::string pct(double v) { return human(v, "pct"); }

double moved_bytes(const KernelResult& k) {
  return k.dram_read_bytes.value_or(0) + k.dram_write_bytes.value_or(0);
}

// Why the bytes that moved are more than those that the bound counts.
std::string beyond_the_bound(const KernelResult& k) {
  const double moved = moved_bytes(k);
  const double compulsory = link(k.bound.chain, "compulsory_bytes").value_or(0);
  // Bytes that the DRAM ceiling counts: its time at the pins' rate.
  const double counted = link(k.bound.chain, "dram_us").value_or(0) * *k.dram_gbps * 1e3 /
                         (*k.dram_pct / 100);
  std::string why;
  if (moved > kWorthAWord * compulsory && compulsory > 0) {
    why = fmt::format("{} moved, of which {} are compulsory", human(moved, "bytes"),
                      human(compulsory, "bytes"));
  }
  const double granted = std::min(moved, compulsory) - counted;
  if (granted > (kWorthAWord - 1) * moved) {
    why += fmt::format("{}the bound is lower as it grants L2 what it may keep ({})",
                       why.empty() ? "" : "; ", human(granted, "bytes"));
  }
  return why;
}

}  // namespace

bool pins_bind(const KernelResult& k) { return k.dram_pct.value_or(0) >= kNear; }

std::string verdict_of(const KernelResult& k) {
  if (k.bound.name == "stated") { return "a stated duration: nothing is simulated inside"; }
  const double ceiling = percent(k.bound.time_us, k.time_us);
  if (pins_bind(k) && *k.dram_pct > kWorthAWord * ceiling) {
    const std::string why = beyond_the_bound(k);
    return fmt::format("{} of the pins' rate: DRAM binds{}{}", pct(*k.dram_pct),
                       why.empty() ? "" : "; ", why);
  }
  const auto figure = fmt::format("{} of the {} ceiling", pct(ceiling), k.bound.name);
  if (ceiling >= kNear) { return figure + ": near the best that this way of doing it can give"; }
  if (ceiling < 30) {
    return figure + ": far below; suspect parallelism, coalescing or bank conflicts";
  }
  return figure + ": something besides the ceiling costs time";
}

std::string occupancy_of(const KernelResult& k) {
  if (!k.theoretical_occupancy_pct) { return {}; }
  const double o = *k.theoretical_occupancy_pct;
  const auto figure = fmt::format("{} occupancy", pct(o));
  if (o >= 50) { return figure + ": enough"; }
  if (o < 25) { return figure + ": worth a look, unless few warps carry much work each"; }
  return figure + ": enough if every warp has several independent loads or instructions under way";
}

std::vector<std::string> checklist_of(const KernelResult& k) {
  std::vector<std::string> list;
  const double moved = moved_bytes(k);
  if (const auto least = link(k.bound.chain, "compulsory_bytes")) {
    list.push_back(fmt::format("bytes moved: {} through DRAM, {} compulsory", human(moved, "bytes"),
                               human(*least, "bytes")));
  }
  if (k.useful_sector_pct) {
    list.push_back(fmt::format("coalescing: {} sectors per request, {} of their bytes useful",
                               human(k.sectors_per_request.value_or(0), ""),
                               pct(*k.useful_sector_pct)));
  }
  list.push_back(k.bank_wavefronts_per_request
                     ? fmt::format("bank conflicts: {} wavefronts per shared-memory request, {} "
                                   "of them conflicts",
                                   human(*k.bank_wavefronts_per_request, ""),
                                   pct(k.bank_conflict_pct.value_or(0)))
                     : "bank conflicts: no shared-memory access");
  if (const auto intensity = link(k.bound.chain, "intensity_flop_per_byte")) {
    list.push_back(
        fmt::format("dtype: {} FLOP per byte; half the bytes per element would double it",
                    human(*intensity, "")));
  }
  if (k.l2_hit_pct) {
    list.push_back(fmt::format("L2 reuse: {} of sectors hit{}", pct(*k.l2_hit_pct),
                               k.l2_fit_ratio ? fmt::format("; compulsory bytes are {} of L2",
                                                            human(*k.l2_fit_ratio, "ratio"))
                                              : ""));
  }
  return list;
}

}  // namespace wavetail::report
