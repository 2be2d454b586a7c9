// SPDX-License-Identifier: Apache-2.0
// One row of a measurement file, as plain values:
//
//   id,gpu,kind,params,metric,value,unit,lo,hi,source,confidence,notes
//   STR-1,H200-SXM,stream_bw_vs_occupancy,kernel=init;block=512;...,bandwidth,3670,GB/s,,,...
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "config/diagnostics.h"

namespace wavetail::study {

struct Measurement {
  std::string id;
  std::string set;  // the id up to its first '-'
  std::string gpu;  // as written: a name or alias, with hints in brackets
  std::string kind;
  std::vector<std::pair<std::string, std::string>> params;  // in the order of the file
  std::string metric;
  std::optional<double> value, lo, hi;  // in `unit`
  std::string unit;
  std::string source, confidence, notes;
  config::Place place;  // of the row

  // `collections=N` of the notes: independent collections behind the value; 0 if not stated.
  [[nodiscard]] int collections() const;
  // `power_W=N` of the notes: the board's mean power while it was measured.
  [[nodiscard]] std::optional<double> board_watts() const;
  // At least three collections that differ by at most a quarter of the value.
  [[nodiscard]] bool is_tight() const;
};

// All rows; a wrong header, cells too few or too many, an id given twice, a number or a parameter
// that is none are reported, all in one go. "-" is standard input.
[[nodiscard]] std::vector<Measurement> load_measurements(const std::string& path,
                                                         config::Diagnostics& diagnostics);

// The same from text that is already here.
[[nodiscard]] std::vector<Measurement> read_measurements(
    const std::shared_ptr<const config::Source>& source, config::Diagnostics& diagnostics);

}  // namespace wavetail::study
