// SPDX-License-Identifier: Apache-2.0
#include "report/text.h"

#include <fmt/format.h>

#include <algorithm>

#include "report/advice.h"
#include "report/figures.h"
#include "unit/human.h"

namespace wavetail::report {

namespace {

using result::KernelResult;
using result::RunResult;
using unit::human;

std::string or_dash(const std::optional<double>& v, std::string_view unit) {
  return v ? human(*v, unit) : "-";
}

std::string one_decimal(double pct) { return fmt::format("{:.1f} %", pct); }

std::string plural(std::int64_t n, std::string_view noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

std::int64_t launches(const RunResult& run) {
  std::int64_t n = 0;
  for (const auto& k : run.kernels) { n += k.launches; }
  return n;
}

std::string gap_note(const GapClass& gap) {
  if (gap.count < 2) { return gap.count == 0 ? "" : "1 gap"; }
  return fmt::format("{}, {} each", plural(gap.count, "gap"),
                     human(gap.time_us / static_cast<double>(gap.count), "us"));
}

// What a launch had done when the run was cut short.
std::string progress(const result::Unfinished& u) {
  if (u.blocks == 0) { return "still running: a stated duration"; }
  return fmt::format(
      "still running: {} of {} blocks done, {} warp instructions, DRAM {} read, {} "
      "written",
      u.blocks_done, u.blocks, human(u.warp_instructions, ""), human(u.dram_read_bytes, "bytes"),
      human(u.dram_write_bytes, "bytes"));
}

// The kernels worth a section of their own: the largest, at most four, each at least 5 % of the
// kernel time.
std::vector<const KernelResult*> large_kernels(const RunResult& run) {
  constexpr std::size_t kMost = 4;
  std::vector<const KernelResult*> large;
  for (const auto& k : run.kernels) {
    if (percent(k.time_total_us, run.kernel_time_us) >= 5) { large.push_back(&k); }
  }
  std::stable_sort(large.begin(), large.end(), [](const auto* a, const auto* b) {
    return a->time_total_us > b->time_total_us;
  });
  if (large.size() > kMost) { large.resize(kMost); }
  return large;
}

std::string variants_text(const RunResult& run) {
  if (run.variants.empty()) { return {}; }
  Table table({{"Variant", Table::Align::Left}, {"time"}, {"of base"}, {"kernels"}, {"of base"}});
  const auto ratio = [](double a, double b) { return b > 0 ? human(a / b, "ratio") : "-"; };
  for (const auto& v : run.variants) {
    table.add({v.variant, human(v.time_us, "us"), ratio(v.time_us, run.time_us),
               human(v.kernel_time_us, "us"), ratio(v.kernel_time_us, run.kernel_time_us)});
  }
  return "\n" + table.text(0);
}

std::string closed_form_text(const std::vector<result::ChainLink>& chain) {
  if (chain.empty()) { return {}; }
  Table table({{"Closed form", Table::Align::Left}, {""}, {"", Table::Align::Left}});
  for (const auto& l : chain) {
    table.add({l.name, human(l.value, l.unit), fmt::format("= {}: {}", l.formula, l.inputs)});
  }
  return "\n" + table.text(0);
}

}  // namespace

std::string header_text(const RunResult& run) {
  std::string out = fmt::format("{} on {}\n", run.scenario, run.gpu);
  out += fmt::format("SM clock {} ({})", human(run.clock_mhz, "MHz"), run.regime);
  if (!run.confidence.empty()) {
    out += fmt::format("; weakest value used: {}", run.confidence);
    if (!run.weakest_values.empty()) {
      out += fmt::format(" ({})", fmt::join(run.weakest_values, ", "));
    }
  }
  out += "\n";
  if (run.outcome != result::Outcome::Complete) {
    out += fmt::format("PARTIAL: {}: {}\n", result::name(run.outcome), run.outcome_message);
  }
  for (const auto& w : run.warnings) { out += fmt::format("warning: {}\n", w); }
  return out;
}

std::string time_text(const RunResult& run) {
  Table table(
      {{"", Table::Align::Left}, {""}, {""}, {"", Table::Align::Left}, {"", Table::Align::Left}});
  table.add({"Time", human(run.time_us, "us"), "", "from the start to the last completion", ""});
  table.add({"  kernels", human(run.kernel_time_us, "us"),
             one_decimal(percent(run.kernel_time_us, run.time_us)),
             fmt::format("{} launch{} of {}", launches(run), launches(run) == 1 ? "" : "es",
                         plural(static_cast<std::int64_t>(run.kernels.size()), "kernel")),
             ""});
  for (const auto& u : run.unfinished) {
    table.add({"  cut off", human(u.ran_us, "us"), one_decimal(percent(u.ran_us, run.time_us)),
               u.kernel, progress(u)});
  }
  const bool nothing_ran = run.kernels.empty() && run.unfinished.empty();
  for (const auto& gap : gap_classes(run.gaps)) {
    if (gap.time_us <= 0) { continue; }
    table.add({"  " + gap.name, human(gap.time_us, "us"),
               one_decimal(percent(gap.time_us, run.time_us)), gap_note(gap),
               nothing_ran ? "no kernel has begun" : gap.meaning});
  }
  std::string out = table.text(0);
  for (const auto& gap : gap_classes(run.gaps)) {
    if (gap.name == "tail" || percent(gap.avoidable_us, run.time_us) < 1) { continue; }
    out += fmt::format("What to do about {} gaps: {}.\n", gap.name, gap.remedy);
  }
  if (run.mbu_pct) { out += fmt::format("MBU {}", one_decimal(*run.mbu_pct)); }
  if (run.mfu_pct) {
    out += fmt::format("{}MFU {}", run.mbu_pct ? ", " : "", one_decimal(*run.mfu_pct));
  }
  return out + (run.mbu_pct || run.mfu_pct ? "\n" : "");
}

Table kernel_table(const RunResult& run) {
  Table table({{"Kernel", Table::Align::Left},
               {"launches"},
               {"each"},
               {"all"},
               {"share"},
               {"DRAM"},
               {"of pins"},
               {"bound", Table::Align::Left},
               {"time/bound"},
               {"warps"},
               {"of cap"},
               {"limited by", Table::Align::Left},
               {"waves"}});
  for (const auto& k : run.kernels) {
    table.add(
        {k.name, std::to_string(k.launches), human(k.time_us, "us"), human(k.time_total_us, "us"),
         one_decimal(percent(k.time_total_us, run.kernel_time_us)), or_dash(k.dram_gbps, "GB/s"),
         or_dash(k.dram_pct, "pct"), k.bound.name, or_dash(k.time_over_bound, "ratio"),
         or_dash(k.achieved_occupancy_pct, "pct"), or_dash(k.warps_of_cap_pct, "pct"),
         k.limiters.empty() ? "-" : fmt::format("{}", fmt::join(k.limiters, "+")),
         k.waves ? std::to_string(*k.waves) : "-"});
  }
  return table;
}

std::string expect_text(const std::vector<result::ExpectationResult>& expectations) {
  if (expectations.empty()) { return {}; }
  Table table({{"Expectation", Table::Align::Left},
               {"wanted", Table::Align::Left},
               {"got", Table::Align::Left},
               {"verdict", Table::Align::Left}});
  for (const auto& e : expectations) {
    std::string verdict(result::name(e.verdict));
    if (!e.known_miss.empty()) { verdict += fmt::format(" ({})", e.known_miss); }
    table.add({e.path, e.wanted, e.got, verdict});
  }
  return "\n" + table.text(0);
}

std::string shares_text(const std::map<std::string, double>& shares) {
  struct Part {
    std::string name;
    double pct;
    int tenths;
  };

  std::vector<Part> parts;
  double sum = 0;
  int tenths = 0;
  for (const auto& [name, pct] : shares) {
    parts.push_back({name, pct, static_cast<int>(pct * 10)});
    sum += pct;
    tenths += parts.back().tenths;
  }
  std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return a.pct * 10 - a.tenths > b.pct * 10 - b.tenths;
  });
  // Only shares of one whole are made to sum to it.
  for (auto& p : parts) {
    if (sum < 99.9 || tenths >= 1000) { break; }
    ++p.tenths;
    ++tenths;
  }
  std::stable_sort(parts.begin(), parts.end(), [](const Part& a, const Part& b) {
    return a.tenths != b.tenths ? a.tenths > b.tenths : a.name < b.name;
  });
  std::string out;
  for (const auto& p : parts) {
    if (p.tenths == 0) { continue; }
    out += fmt::format("{}{} {}.{} %", out.empty() ? "" : ", ", p.name, p.tenths / 10,
                       p.tenths % 10);
  }
  return out;
}

std::string to_text(const RunResult& run) {
  std::string out = header_text(run) + "\n" + time_text(run) + "\n" + kernel_table(run).text(0);
  const auto large = large_kernels(run);
  for (const auto* k : large) { out += "\n" + kernel_text(*k, run); }
  if (large.size() < run.kernels.size()) {
    out += fmt::format(
        "\n{} without details here: `wavetail explain` has them.\n",
        plural(static_cast<std::int64_t>(run.kernels.size() - large.size()), "smaller kernel"));
  }
  return out + closed_form_text(run.closed_form) + variants_text(run) + expect_text(run.expect);
}

}  // namespace wavetail::report
