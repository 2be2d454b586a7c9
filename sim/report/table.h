// SPDX-License-Identifier: Apache-2.0
// Columns of text that line up: the first column to the left, figures to the right.
#pragma once

#include <string>
#include <vector>

namespace wavetail::report {

class Table {
 public:
  enum class Align { Left, Right };

  struct Column {
    std::string title;
    Align align = Align::Right;
  };

  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  // As many cells as there are columns.
  void add(std::vector<std::string> cells) { rows_.push_back(std::move(cells)); }

  [[nodiscard]] const std::vector<Column>& columns() const { return columns_; }

  [[nodiscard]] const std::vector<std::vector<std::string>>& rows() const { return rows_; }

  // Every line begins with `indent` spaces and ends without any; titles first unless all are empty.
  [[nodiscard]] std::string text(int indent) const;

 private:
  std::vector<Column> columns_;
  std::vector<std::vector<std::string>> rows_;
};

// Text broken at spaces into lines of at most `width`, the second and later ones indented by
// `indent`.
[[nodiscard]] std::string wrapped(const std::string& text, std::size_t width, std::size_t indent);

}  // namespace wavetail::report
