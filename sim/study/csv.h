// SPDX-License-Identifier: Apache-2.0
// Comma-separated values as RFC 4180 has them, with what files in the wild add: a byte order mark,
// line ends of any system, blank lines, no line end after the last record. Every cell knows its
// place.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "config/diagnostics.h"

namespace wavetail::study {

struct CsvCell {
  std::string text;     // without the quotes
  config::Place place;  // of its first byte, the quote where there is one
  bool quoted = false;
};

using CsvRecord = std::vector<CsvCell>;

// All records in order; quotes that do not close, or stand where none can, are reported and their
// record is left out.
[[nodiscard]] std::vector<CsvRecord> read_csv(const std::shared_ptr<const config::Source>& source,
                                              config::Diagnostics& diagnostics);

}  // namespace wavetail::study
