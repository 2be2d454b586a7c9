// SPDX-License-Identifier: Apache-2.0
#include "report/explain.h"

#include <fmt/format.h>

#include "report/csv.h"
#include "report/diagnose.h"
#include "report/figures.h"
#include "report/json.h"
#include "report/text.h"
#include "unit/human.h"

namespace wavetail::report {

namespace {

using result::KernelResult;
using unit::human;

std::string findings_text(const std::vector<Finding>& findings, double now_us) {
  std::string out;
  int number = 0;
  for (const auto& f : findings) {
    out += fmt::format("  {}. {}: {}\n", ++number, f.mechanism, wrapped(f.evidence, 100, 5));
    out += fmt::format("     what helps: {}\n", wrapped(f.remedy, 100, 5));
    if (!f.estimate_us) { continue; }
    if (*f.estimate_us < now_us) {
      out += fmt::format(
          "     could give: about {} instead of {}, {} (an estimate: all else as it is)\n",
          human(*f.estimate_us, "us"), human(now_us, "us"),
          human(now_us / *f.estimate_us, "ratio"));
    }
  }
  return out;
}

std::string kernel_section(const KernelResult& k, const result::RunResult& run) {
  const auto d = diagnose(k);
  std::string out = fmt::format("{}: {}, {} of the kernel time\n", k.name, human(k.time_us, "us"),
                                human(percent(k.time_total_us, run.kernel_time_us), "pct"));
  out += fmt::format("  binds: {}\n  {}\n", d.binds, d.verdict);
  if (!d.occupancy.empty()) { out += fmt::format("  {}\n", d.occupancy); }
  out += findings_text(d.findings, k.time_us);
  if (k.bound.name == "stated") { return out; }
  for (const auto& line : d.checklist) { out += "  - " + line + "\n"; }
  return out + "\n" + chain_text(k, 2);
}

Json findings_json(const std::vector<Finding>& findings) {
  Json list = Json::array();
  for (const auto& f : findings) {
    list.push_back({{"mechanism", f.mechanism},
                    {"evidence", f.evidence},
                    {"remedy", f.remedy},
                    {"estimate_us", f.estimate_us ? number(*f.estimate_us) : Json(nullptr)}});
  }
  return list;
}

bool wanted(const KernelResult& k, const std::string& kernel) {
  return kernel.empty() || k.name == kernel;
}

}  // namespace

std::string explain_text(const result::RunResult& run, const std::string& kernel) {
  std::string out = header_text(run);
  if (kernel.empty()) {
    out += "\n" + time_text(run);
    const auto timeline = diagnose_timeline(run);
    out += timeline.empty() ? "No class of gaps takes 5 % of the time.\n"
                            : findings_text(timeline, run.time_us);
  }
  for (const auto& k : run.kernels) {
    if (wanted(k, kernel)) { out += "\n" + kernel_section(k, run); }
  }
  return out;
}

std::string explain_json(const result::RunResult& run, const std::string& kernel) {
  Json json = {{"schema", "wavetail/explain/1"},
               {"scenario", run.scenario},
               {"gpu", run.gpu},
               {"clock_mhz", number(run.clock_mhz)},
               {"time_us", number(run.time_us)},
               {"timeline", findings_json(diagnose_timeline(run))},
               {"kernels", Json::array()}};
  for (const auto& k : run.kernels) {
    if (!wanted(k, kernel)) { continue; }
    const auto d = diagnose(k);
    Json chain = Json::array();
    for (const auto& l : k.bound.chain) { chain.push_back(to_json(l)); }
    json["kernels"].push_back(
        {{"name", k.name},
         {"time_us", number(k.time_us)},
         {"binds", d.binds},
         {"ceiling_pct", number(d.ceiling_pct)},
         {"verdict", d.verdict},
         {"occupancy", d.occupancy.empty() ? Json(nullptr) : Json(d.occupancy)},
         {"findings", findings_json(d.findings)},
         {"checklist", d.checklist},
         {"bound",
          {{"name", k.bound.name}, {"time_us", number(k.bound.time_us)}, {"chain", chain}}}});
  }
  return text_of(json);
}

std::string explain_csv(const result::RunResult& run, const std::string& kernel) {
  std::string out = "kernel,mechanism,estimate_us,evidence,remedy\n";
  const auto add = [&](const std::string& name, const std::vector<Finding>& findings) {
    for (const auto& f : findings) {
      out += fmt::format("{},{},{},{},{}\n", csv_cell(name), f.mechanism,
                         f.estimate_us ? number(*f.estimate_us).dump() : "", csv_cell(f.evidence),
                         csv_cell(f.remedy));
    }
  };
  if (kernel.empty()) { add("", diagnose_timeline(run)); }
  for (const auto& k : run.kernels) {
    if (wanted(k, kernel)) { add(k.name, diagnose(k).findings); }
  }
  return out;
}

}  // namespace wavetail::report
