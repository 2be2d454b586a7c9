// SPDX-License-Identifier: Apache-2.0
// Values of a GPU file fitted to measurements, and how far they can be trusted, as plain values.
#pragma once

#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "result/result.h"
#include "study/uncertainty.h"
#include "study/validation.h"

namespace wavetail::study {

// A value in its unit, and as a GPU file writes it.
struct Amount {
  double number = 0;
  std::string text;  // "83.1 %"
};

// A standard error beyond this share of its value says that the rows hardly determine it.
inline constexpr double kVagueShare = 0.2;

struct FittedValue {
  std::string path;  // "gpu.hbm.efficiency"
  std::string unit;  // of every number here; empty: none
  Amount start, low, high, value;
  Told told = Told::Yes;
  std::map<std::string, std::int64_t> felt_by = {};  // rows that move with it, by set
  std::vector<std::string> others = {};              // paths that it is not told apart from
  std::optional<Amount> standard_error = {};         // only of values that the rows tell

  [[nodiscard]] bool is_vague() const {
    return standard_error && standard_error->number > kVagueShare * std::abs(value.number);
  }

  // All rows that move with it.
  [[nodiscard]] std::int64_t rows() const {
    std::int64_t all = 0;
    for (const auto& [set, n] : felt_by) { all += n; }
    return all;
  }
};

// One row that took part.
struct FittedRow {
  RowResult start, fitted;
  // By the values that were fitted without its set; nothing where that was not done.
  std::optional<double> left_out, left_out_error_pct;
};

// The rows of one set, or of one GPU.
struct FittedGroup {
  std::string name;
  Statistics start, fitted;  // errors by the first values and by the fitted ones
  // By values that were fitted to all other rows, and these values; nothing where that was not
  // done.
  std::optional<Statistics> left_out = {};
  std::vector<Amount> values = {};
  std::string skipped = {};  // why it could not be done
};

struct OtherRow {
  Measurement row;
  std::string reason;  // why it took no part
};

struct Calibration {
  std::string gpu, file;
  std::vector<FittedValue> values;
  std::vector<std::vector<std::optional<double>>> correlation;  // as values
  std::optional<double> residual_pct;  // standard deviation of a row's error around the fit
  std::vector<FittedRow> rows;         // empty where not even the start is known
  std::vector<OtherRow> others;        // of the GPU, but without a part
  std::int64_t rows_of_other_gpus = 0;
  std::int64_t rows_of_variants = 0;  // among these: those that --variants would take in
  Statistics start, fitted;
  std::optional<double> start_rms_pct, fitted_rms_pct;
  std::vector<FittedGroup> sets, gpus;  // by name
  std::optional<Statistics> left_out;   // of all rows, each by the fit without its set
  bool converged = false;
  bool determined = false;  // the slopes at the end are known: errors, correlation, `told`
  int rounds = 0;
  std::int64_t simulations = 0, events = 0;
  result::Outcome outcome = result::Outcome::Complete;
  std::string outcome_message;
};

}  // namespace wavetail::study
