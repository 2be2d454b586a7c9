// SPDX-License-Identifier: Apache-2.0
#include "study/validation.h"

#include <algorithm>
#include <cmath>
#include <map>

namespace wavetail::study {

namespace {

using Rows = std::vector<const RowResult*>;

std::optional<double> mean(const std::vector<double>& values) {
  if (values.empty()) { return std::nullopt; }
  double sum = 0;
  for (const double v : values) { sum += v; }
  return sum / static_cast<double>(values.size());
}

std::optional<double> median(std::vector<double> values) {
  if (values.empty()) { return std::nullopt; }
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

void compare_row(RowResult& r) {
  if (!r.predicted) { return; }
  const Measurement& m = r.row;
  if (m.value && *m.value != 0) {
    r.error_pct = 100 * (*r.predicted - *m.value) / std::abs(*m.value);
  }
  if (const auto watts = m.board_watts(); watts && r.power_w && *watts > 0) {
    r.power_error_pct = 100 * (*r.power_w - *watts) / *watts;
  }
  if (!m.lo || !m.hi) { return; }
  const double edge = *r.predicted < *m.lo ? *m.lo : *m.hi;
  const bool inside = *r.predicted >= *m.lo && *r.predicted <= *m.hi;
  if (inside || edge != 0) {
    r.outside_pct = inside ? 0 : 100 * std::abs(*r.predicted - edge) / std::abs(edge);
  }
}

// The measured duration in us, of rows that measure one.
std::optional<double> duration_us(const Measurement& m) {
  const double scale = m.unit == "us"   ? 1
                       : m.unit == "ms" ? 1e3
                       : m.unit == "ns" ? 1e-3
                       : m.unit == "s"  ? 1e6
                                        : 0;
  return m.value && *m.value > 0 && scale > 0 ? std::optional(*m.value * scale) : std::nullopt;
}

std::vector<Decade> decades_of(const Rows& rows) {
  std::map<int, Rows> by_power;
  for (const RowResult* r : rows) {
    if (const auto us = duration_us(r->row)) {
      // a duration of exactly 10^k us belongs to the decade that begins there
      by_power[static_cast<int>(std::floor(std::log10(*us) + 1e-12))].push_back(r);
    }
  }
  std::vector<Decade> decades;
  for (const auto& [power, some] : by_power) {
    decades.push_back({std::pow(10.0, power), std::pow(10.0, power + 1), statistics_of(some)});
  }
  return decades;
}

}  // namespace

Statistics statistics_of(const Rows& rows) {
  Statistics s;
  std::vector<double> errors, magnitudes, outside;
  for (const RowResult* r : rows) {
    ++(r->predicted ? s.n : s.skipped);
    if (r->error_pct) {
      errors.push_back(*r->error_pct);
      magnitudes.push_back(std::abs(*r->error_pct));
    }
    if (r->outside_pct) { outside.push_back(*r->outside_pct); }
  }
  s.compared = static_cast<std::int64_t>(errors.size());
  s.mape_pct = mean(magnitudes);
  s.median_ape_pct = median(magnitudes);
  s.bias_pct = mean(errors);
  s.outside_pct = mean(outside);
  return s;
}

Statistics statistics_of(const std::vector<RowResult>& rows) {
  Rows pointers;
  for (const RowResult& r : rows) { pointers.push_back(&r); }
  return statistics_of(pointers);
}

void compare(Validation& v) {
  std::map<std::string, Rows> sets;
  std::map<std::pair<std::string, std::string>, Rows> groups;
  for (RowResult& r : v.rows) {
    compare_row(r);
    sets[r.row.set].push_back(&r);
    groups[{r.row.set, r.gpu.empty() ? r.row.gpu : r.gpu}].push_back(&r);
  }
  v.sets.clear();
  v.groups.clear();
  for (const auto& [set, rows] : sets) { v.sets.push_back({set, statistics_of(rows)}); }
  for (const auto& [key, rows] : groups) {
    Rows tight, single, apart;
    for (const RowResult* r : rows) {
      (r->apart.empty() ? single : apart).push_back(r);
      if (r->apart.empty() && r->row.is_tight()) { tight.push_back(r); }
    }
    v.groups.push_back({.set = key.first,
                        .gpu = key.second,
                        .confidence = rows.front()->confidence,
                        .all = statistics_of(rows),
                        .tight = statistics_of(tight),
                        .single = statistics_of(single),
                        .apart = statistics_of(apart),
                        .decades = decades_of(rows)});
  }
}

}  // namespace wavetail::study
