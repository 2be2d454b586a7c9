// SPDX-License-Identifier: Apache-2.0
// Predictions for the rows of a measurement file and how far they are off, as plain values.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "result/result.h"
#include "study/measurement.h"

namespace wavetail::study {

struct RowResult {
  Measurement row = {};
  std::string gpu = {};                        // name of the GPU file; empty where there is none
  std::string confidence = {};                 // the weakest value of that file
  double clock_mhz = 0;                        // of the SMs
  std::optional<double> predicted = {};        // in the row's unit
  std::optional<double> error_pct = {};        // (predicted - measured) / measured
  std::optional<double> outside_pct = {};      // distance to lo...hi, 0 inside
  std::optional<double> power_w = {};          // of the board while kernels run, mean
  std::optional<double> power_error_pct = {};  // against `power_W=` of the row's notes
  std::string skipped = {};                    // why there is no prediction
  std::string apart = {};                      // why it counts apart (study/apart.h)
};

// Over rows with a prediction; percentages over those that have a measured value, or lo and hi.
struct Statistics {
  std::int64_t n = 0;                              // rows with a prediction
  std::int64_t skipped = 0;                        // rows without
  std::int64_t compared = 0;                       // rows with both values
  std::optional<double> mape_pct, median_ape_pct;  // of the errors' magnitudes
  std::optional<double> bias_pct;                  // mean error, with its sign
  std::optional<double> outside_pct;               // mean distance to lo...hi
};

struct SetStatistics {
  std::string set;
  Statistics statistics;
};

// Rows of measured durations from 10^k to 10^(k+1) us.
struct Decade {
  double from_us = 0, to_us = 0;
  Statistics statistics;
};

struct Group {
  std::string set, gpu;  // the GPU file's name, or the row's own where there is none
  std::string confidence;
  Statistics all;
  Statistics tight;             // at least three collections that agree, not apart
  Statistics single;            // rows that a single mechanism can give
  Statistics apart;             // the others (study/apart.h)
  std::vector<Decade> decades;  // of rows that measure a time
};

struct Validation {
  std::vector<RowResult> rows;      // as in the file
  std::vector<SetStatistics> sets;  // by name
  std::vector<Group> groups;        // by set, then GPU
  std::int64_t simulations = 0;     // different ones
  std::int64_t events = 0;
  result::Outcome outcome = result::Outcome::Complete;
  std::string outcome_message;
};

// Errors of every row that has a prediction, then the statistics.
void compare(Validation& validation);

[[nodiscard]] Statistics statistics_of(const std::vector<const RowResult*>& rows);
[[nodiscard]] Statistics statistics_of(const std::vector<RowResult>& rows);

}  // namespace wavetail::study
