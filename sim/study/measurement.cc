// SPDX-License-Identifier: Apache-2.0
#include "study/measurement.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <map>
#include <string_view>

#include "config/file.h"
#include "study/csv.h"

namespace wavetail::study {

namespace {

constexpr std::size_t kMostBytes = std::size_t{64} << 20;
constexpr int kTightCollections = 3;
constexpr double kTightSpread = 0.25;

enum Column { Id, Gpu, Kind, Params, Metric, Value, Unit, Lo, Hi, Source, Confidence, Notes };

constexpr std::array<std::string_view, 12> kColumns = {"id",     "gpu",    "kind",       "params",
                                                       "metric", "value",  "unit",       "lo",
                                                       "hi",     "source", "confidence", "notes"};

// The place of the byte `ahead` of a cell's first.
config::Place behind(const CsvCell& cell, std::size_t ahead) {
  config::Place place = cell.place;
  place.column += static_cast<int>(ahead) + (cell.quoted ? 1 : 0);
  return place;
}

// The header says the columns in their order. Whatever differs is named.
bool is_header(const CsvRecord& record, config::Diagnostics& diagnostics) {
  const std::vector<std::string> names(kColumns.begin(), kColumns.end());
  for (std::size_t i = 0; i < std::max(record.size(), kColumns.size()); ++i) {
    if (i >= record.size()) {
      diagnostics.error(record.front().place,
                        fmt::format("the header lacks column {}, '{}'; it is {}", i + 1,
                                    kColumns[i], fmt::join(kColumns, ",")));
      return false;
    }
    if (i >= kColumns.size() || record[i].text != kColumns[i]) {
      const std::string wanted = i < kColumns.size() ? fmt::format("'{}' is needed", kColumns[i])
                                                     : "there are 12 columns";
      diagnostics.error(record[i].place,
                        fmt::format("column {} of the header is '{}'; {}; the header is {}", i + 1,
                                    record[i].text, wanted, fmt::join(kColumns, ",")));
      return false;
    }
  }
  return true;
}

std::optional<double> number_of(const CsvCell& cell, std::string_view column,
                                config::Diagnostics& diagnostics) {
  if (cell.text.empty()) { return std::nullopt; }
  double value = 0;
  const char* end = cell.text.data() + cell.text.size();
  const auto [rest, error] = std::from_chars(cell.text.data(), end, value);
  if (error != std::errc() || rest != end || !std::isfinite(value)) {
    diagnostics.error(
        cell.place, fmt::format("'{}' is '{}'; a number is needed, or nothing", column, cell.text));
    return std::nullopt;
  }
  return value;
}

void read_params(const CsvCell& cell, Measurement& row, config::Diagnostics& diagnostics) {
  const std::string_view text = cell.text;
  for (std::size_t from = 0; from < text.size();) {
    const std::size_t end = std::min(text.find(';', from), text.size());
    const std::string_view item = text.substr(from, end - from);
    const std::size_t sign = item.find('=');
    if (sign == std::string_view::npos || sign == 0) {
      diagnostics.error(behind(cell, from), fmt::format("'params' has '{}'; key=value is needed, "
                                                        "with ';' between them",
                                                        item));
    } else {
      const std::string key(item.substr(0, sign));
      const bool known = std::any_of(row.params.begin(), row.params.end(),
                                     [&](const auto& p) { return p.first == key; });
      if (known) {
        diagnostics.error(behind(cell, from), fmt::format("'params' has '{}' twice", key));
      } else {
        row.params.emplace_back(key, item.substr(sign + 1));
      }
    }
    from = end + 1;
  }
}

void check_present(const CsvRecord& record, config::Diagnostics& diagnostics) {
  for (const Column c : {Id, Gpu, Kind, Metric, Unit}) {
    if (record[c].text.empty()) {
      diagnostics.error(record[c].place, fmt::format("'{}' is empty", kColumns[c]));
    }
  }
}

Measurement row_of(const CsvRecord& record, config::Diagnostics& diagnostics) {
  check_present(record, diagnostics);
  Measurement row;
  row.id = record[Id].text;
  row.set = row.id.substr(0, row.id.find('-'));
  row.gpu = record[Gpu].text;
  row.kind = record[Kind].text;
  row.metric = record[Metric].text;
  row.unit = record[Unit].text;
  row.source = record[Source].text;
  row.confidence = record[Confidence].text;
  row.notes = record[Notes].text;
  row.place = record[Id].place;
  row.value = number_of(record[Value], "value", diagnostics);
  row.lo = number_of(record[Lo], "lo", diagnostics);
  row.hi = number_of(record[Hi], "hi", diagnostics);
  if (row.lo && row.hi && *row.lo > *row.hi) {
    diagnostics.error(record[Lo].place, fmt::format("'lo' is {}, above 'hi', which is {}",
                                                    record[Lo].text, record[Hi].text));
  }
  read_params(record[Params], row, diagnostics);
  return row;
}

// The whole number behind a key in the notes.
std::optional<int> noted(const std::string& notes, std::string_view key) {
  const std::size_t at = notes.find(key);
  int n = 0;
  if (at == std::string::npos ||
      std::from_chars(notes.data() + at + key.size(), notes.data() + notes.size(), n).ec !=
          std::errc()) {
    return std::nullopt;
  }
  return n;
}

}  // namespace

int Measurement::collections() const { return noted(notes, "collections=").value_or(0); }

std::optional<double> Measurement::board_watts() const {
  const auto watts = noted(notes, "power_W=");
  return watts ? std::optional<double>(*watts) : std::nullopt;
}

bool Measurement::is_tight() const {
  return collections() >= kTightCollections && value && lo && hi && *value > 0 &&
         *hi - *lo <= kTightSpread * *value;
}

std::vector<Measurement> read_measurements(const std::shared_ptr<const config::Source>& source,
                                           config::Diagnostics& diagnostics) {
  std::vector<Measurement> rows;
  const auto records = read_csv(source, diagnostics);
  if (records.empty()) {
    if (diagnostics.ok()) {
      diagnostics.error({source, 1, 1}, fmt::format("the file is empty; its header is {}",
                                                    fmt::join(kColumns, ",")));
    }
    return rows;
  }
  if (!is_header(records.front(), diagnostics)) { return rows; }
  std::map<std::string, int> lines;
  for (std::size_t i = 1; i < records.size(); ++i) {
    const CsvRecord& record = records[i];
    if (record.size() != kColumns.size()) {
      diagnostics.error(record.front().place, fmt::format("the row has {} cells; {} are needed",
                                                          record.size(), kColumns.size()));
      continue;
    }
    rows.push_back(row_of(record, diagnostics));
    const auto [known, fresh] = lines.emplace(rows.back().id, record.front().place.line);
    if (!fresh && !rows.back().id.empty()) {
      diagnostics.error(record.front().place,
                        fmt::format("the id '{}' is given twice; first at line {}", rows.back().id,
                                    known->second));
    }
  }
  return rows;
}

std::vector<Measurement> load_measurements(const std::string& path,
                                           config::Diagnostics& diagnostics) {
  const auto source = config::read_file(path, "CSV", kMostBytes, diagnostics);
  if (!source || !config::is_text(source, diagnostics)) { return {}; }
  return read_measurements(source, diagnostics);
}

}  // namespace wavetail::study
