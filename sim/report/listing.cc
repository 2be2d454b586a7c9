// SPDX-License-Identifier: Apache-2.0
#include "report/listing.h"

#include "report/csv.h"
#include "report/html.h"
#include "report/json.h"
#include "report/table.h"

namespace wavetail::report {

namespace {

Table table_of(const Listing& listing) {
  std::vector<Table::Column> columns;
  for (const auto& c : listing.columns) { columns.push_back({c, Table::Align::Left}); }
  Table table(columns);
  std::string above;
  for (auto row : listing.rows) {
    const std::string first = row.front();
    if (listing.grouped && first == above) { row.front().clear(); }
    above = first;
    table.add(row);
  }
  return table;
}

}  // namespace

std::string listing_text(const Listing& listing) { return table_of(listing).text(0); }

std::string listing_json(std::string_view name, const Listing& listing) {
  Json list = Json::array();
  for (const auto& row : listing.rows) {
    Json entry = Json::object();
    for (std::size_t i = 0; i < row.size(); ++i) {
      entry[listing.columns[i]] = row[i].empty() ? Json(nullptr) : Json(row[i]);
    }
    list.push_back(entry);
  }
  return text_of(Json{{std::string(name), list}});
}

std::string listing_csv(const Listing& listing) {
  std::string out;
  const auto line = [&](const std::vector<std::string>& cells) {
    for (std::size_t i = 0; i < cells.size(); ++i) {
      out += (i == 0 ? "" : ",") + csv_cell(cells[i]);
    }
    out += "\n";
  };
  line(listing.columns);
  for (const auto& row : listing.rows) { line(row); }
  return out;
}

std::string html_of_listing(std::string_view name, const Listing& listing) {
  return html_of_table(name, table_of(listing));
}

}  // namespace wavetail::report
