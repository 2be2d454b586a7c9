// SPDX-License-Identifier: Apache-2.0
#include "study/cross_validation.h"

#include <functional>

namespace wavetail::study {

namespace {

using Rows = std::vector<std::size_t>;

// The name of the group that a row belongs to.
using Key = std::function<std::string(const RowResult&)>;

class Folds {
 public:
  Folds(RowFit& fit, const Rows& subjects, Calibration& c)
      : fit_(fit), subjects_(subjects), c_(c) {}

  // Every group in turn; `keep` leaves the predictions with the rows.
  bool leave_out_each(std::vector<FittedGroup>& groups, const Key& key, bool keep) {
    for (FittedGroup& group : groups) {
      Rows inside, outside;  // of c.rows
      for (std::size_t i = 0; i < c_.rows.size(); ++i) {
        (key(c_.rows[i].start) == group.name ? inside : outside).push_back(i);
      }
      if (outside.size() < fit_.parameters().size()) {
        group.skipped = outside.empty() ? "there are no other rows"
                                        : "there are fewer other rows than values";
      } else if (!leave_out(inside, outside, keep, group)) {
        return false;
      }
    }
    return true;
  }

 private:
  Rows subjects_of(const Rows& rows) const {
    Rows all;
    for (const std::size_t i : rows) { all.push_back(subjects_[i]); }
    return all;
  }

  bool leave_out(const Rows& inside, const Rows& outside, bool keep, FittedGroup& group) {
    const Fit fit = fit_.to(subjects_of(outside), "without " + group.name + ", ");
    const std::string step = "without " + group.name + ", its rows";
    if (fit.end == FitEnd::Stopped || !fit_.predict(fit.values, subjects_of(inside), step)) {
      return false;
    }
    Validation v;
    for (const std::size_t i : inside) {
      v.rows.push_back(fit_.predictor().result(fit_.settings(fit.values), subjects_[i]));
    }
    compare(v);
    group.left_out = statistics_of(v.rows);
    for (std::size_t k = 0; k < fit.values.size(); ++k) {
      group.values.push_back({fit.values[k], fit_.parameters()[k].text(fit.values[k])});
    }
    for (std::size_t n = 0; keep && n < inside.size(); ++n) {
      c_.rows[inside[n]].left_out = v.rows[n].predicted;
      c_.rows[inside[n]].left_out_error_pct = v.rows[n].error_pct;
    }
    return true;
  }

  RowFit& fit_;
  const Rows& subjects_;  // as c_.rows
  Calibration& c_;
};

// Over all rows, if every one has been left out once.
std::optional<Statistics> overall(const Calibration& c) {
  std::vector<RowResult> results;
  for (const FittedRow& row : c.rows) {
    if (!row.left_out) { return std::nullopt; }
    RowResult& r = results.emplace_back(row.start);
    r.predicted = row.left_out;
    r.error_pct = row.left_out_error_pct;
    r.outside_pct.reset();
  }
  return statistics_of(results);
}

}  // namespace

bool cross_validate(RowFit& fit, const std::vector<std::size_t>& subjects, Calibration& c) {
  Folds folds(fit, subjects, c);
  if (!folds.leave_out_each(c.sets, [](const RowResult& r) { return r.row.set; }, true)) {
    return false;
  }
  c.left_out = overall(c);
  return folds.leave_out_each(c.gpus, [](const RowResult& r) { return r.gpu; }, false);
}

}  // namespace wavetail::study
