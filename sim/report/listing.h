// SPDX-License-Identifier: Apache-2.0
// A plain table of words in every format, for `wavetail list`.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wavetail::report {

struct Listing {
  std::vector<std::string> columns;
  std::vector<std::vector<std::string>> rows;  // as many cells as columns
  bool grouped = false;  // for people, a first cell that the row above has too is left blank
};

[[nodiscard]] std::string listing_text(const Listing& listing);
[[nodiscard]] std::string listing_json(std::string_view name, const Listing& listing);
[[nodiscard]] std::string listing_csv(const Listing& listing);
[[nodiscard]] std::string html_of_listing(std::string_view name, const Listing& listing);

}  // namespace wavetail::report
