// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "report/table.h"
#include "report/validation.h"
#include "unit/human.h"

namespace wavetail::report {

namespace {

using study::RowResult;
using study::Statistics;

constexpr std::size_t kWorst = 15;
constexpr std::size_t kReasonWidth = 100;

std::string pct(const std::optional<double>& value, bool sign = false) {
  if (!value) { return "-"; }
  return fmt::format(fmt::runtime(sign ? "{:+.1f} %" : "{:.1f} %"), *value);
}

std::vector<std::string> cells(const Statistics& s) {
  return {std::to_string(s.n), std::to_string(s.skipped), std::to_string(s.compared),
          pct(s.mape_pct),     pct(s.median_ape_pct),     pct(s.bias_pct, true),
          pct(s.outside_pct)};
}

std::string groups_text(const study::Validation& v) {
  using Align = Table::Align;
  Table table({{"Set", Align::Left},
               {"GPU", Align::Left},
               {"rows"},
               {"skipped"},
               {"compared"},
               {"MAPE"},
               {"median APE"},
               {"bias"},
               {"outside"},
               {"GPU file", Align::Left}});
  const auto add = [&](const std::string& set, const std::string& gpu, const Statistics& s,
                       const std::string& confidence) {
    std::vector<std::string> row{set, gpu};
    for (std::string& cell : cells(s)) { row.push_back(std::move(cell)); }
    row.push_back(confidence);
    table.add(std::move(row));
  };
  std::size_t without = 0;
  for (const study::Group& g : v.groups) {
    if (g.all.n == 0) {
      without += static_cast<std::size_t>(g.all.skipped);
      continue;
    }
    add(g.set, g.gpu, g.all, g.confidence);
    if (g.tight.n > 0) { add("", "  tight rows", g.tight, ""); }
    if (g.apart.n > 0) {
      add("", "  single mechanism", g.single, "");
      add("", "  apart", g.apart, "");
    }
    for (const study::Decade& d : g.decades) {
      if (g.decades.size() < 2) { break; }
      add("", fmt::format("  {} to {}", unit::human(d.from_us, "us"), unit::human(d.to_us, "us")),
          d.statistics, "");
    }
  }
  std::string text = table.rows().empty() ? "" : table.text(0);
  if (without > 0) {
    text += fmt::format("{}{} rows of sets and GPUs without any prediction are left out above.\n",
                        text.empty() ? "" : "\n", without);
  }
  return text;
}

std::string value_text(double value) { return unit::significant(value, 4); }

// Predictions of rows that nobody has measured, if there are only a few.
std::string unmeasured_text(const study::Validation& v) {
  using Align = Table::Align;
  Table table({{"Not measured", Align::Left},
               {"GPU", Align::Left},
               {"kind", Align::Left},
               {"predicted"},
               {"unit", Align::Left}});
  for (const RowResult& r : v.rows) {
    if (r.predicted && !r.row.value) {
      table.add({r.row.id, r.gpu, r.row.kind, value_text(*r.predicted), r.row.unit});
    }
  }
  return table.rows().empty() ? "" : "\n" + table.text(0);
}

std::string skipped_rows_text(const study::Validation& v) {
  std::vector<std::pair<std::string, std::string>> skipped;
  for (const RowResult& r : v.rows) {
    if (!r.predicted) { skipped.emplace_back(r.row.id, r.skipped); }
  }
  return skipped_text(skipped);
}

}  // namespace

std::string worst_text(const std::vector<RowResult>& all) {
  std::vector<const RowResult*> rows;
  for (const RowResult& r : all) {
    if (r.error_pct) { rows.push_back(&r); }
  }
  std::stable_sort(rows.begin(), rows.end(), [](const RowResult* a, const RowResult* b) {
    return std::abs(*a->error_pct) > std::abs(*b->error_pct);
  });
  rows.resize(std::min(rows.size(), kWorst));
  if (rows.empty()) { return ""; }
  using Align = Table::Align;
  Table table({{"Furthest off", Align::Left},
               {"GPU", Align::Left},
               {"kind", Align::Left},
               {"predicted"},
               {"measured"},
               {"unit", Align::Left},
               {"error"},
               {"params", Align::Left}});
  for (const RowResult* r : rows) {
    std::string params;
    for (const auto& [key, value] : r->row.params) {
      params += fmt::format("{}{}={}", params.empty() ? "" : ";", key, value);
    }
    constexpr std::size_t kMostParams = 60;
    if (params.size() > kMostParams) { params = params.substr(0, kMostParams) + "..."; }
    table.add({r->row.id, r->gpu, r->row.kind, value_text(*r->predicted), value_text(*r->row.value),
               r->row.unit, pct(r->error_pct, true), params});
  }
  return "\n" + table.text(0);
}

std::string skipped_text(const std::vector<std::pair<std::string, std::string>>& skipped) {
  std::map<std::string, std::vector<std::string>> ids;
  for (const auto& [id, reason] : skipped) { ids[reason].push_back(id); }
  std::string text;
  for (const auto& [reason, some] : ids) {
    const std::string rows = some.size() == 1 ? some.front()
                                              : fmt::format("{} rows, {} to {}", some.size(),
                                                            some.front(), some.back());
    text += wrapped(fmt::format("  {}: {}", rows, reason), kReasonWidth, 4) + "\n";
  }
  return text.empty() ? "" : "\nSkipped:\n" + text;
}

std::string validation_text(const study::Validation& v) {
  std::string text = groups_text(v) + worst_text(v.rows) + unmeasured_text(v) +
                     skipped_rows_text(v);
  if (v.outcome != result::Outcome::Complete) {
    text += fmt::format("\nThis report is partial: {}\n", v.outcome_message);
  }
  return text.starts_with('\n') ? text.substr(1) : text;
}

}  // namespace wavetail::report
