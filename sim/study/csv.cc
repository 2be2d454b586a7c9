// SPDX-License-Identifier: Apache-2.0
#include "study/csv.h"

#include <optional>
#include <string_view>

namespace wavetail::study {

namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

// Walks over the text and counts lines and columns.
class Cursor {
 public:
  explicit Cursor(const std::shared_ptr<const config::Source>& source) : source_(source) {
    if (source->text.starts_with(kByteOrderMark)) { at_ = kByteOrderMark.size(); }
  }

  [[nodiscard]] bool at_end() const { return at_ >= source_->text.size(); }

  [[nodiscard]] char peek() const { return at_end() ? '\0' : source_->text[at_]; }

  [[nodiscard]] bool at_line_end() const { return peek() == '\n' || peek() == '\r'; }

  [[nodiscard]] config::Place place() const { return {source_, line_, column_}; }

  // One byte; CR LF, LF and a lone CR are one line end, which comes back as '\n'.
  char take() {
    const char c = source_->text[at_++];
    if (c == '\r' && peek() == '\n') { ++at_; }
    const bool new_line = c == '\n' || c == '\r';
    line_ += new_line ? 1 : 0;
    column_ = new_line ? 1 : column_ + 1;
    return new_line ? '\n' : c;
  }

 private:
  std::shared_ptr<const config::Source> source_;
  std::size_t at_ = 0;
  int line_ = 1, column_ = 1;
};

// The rest of a quoted cell, whose first quote is behind the cursor.
bool take_quoted(Cursor& cursor, CsvCell& cell, config::Diagnostics& diagnostics) {
  while (!cursor.at_end()) {
    const char c = cursor.take();
    if (c != '"') {
      cell.text += c;
    } else if (cursor.peek() == '"') {
      cell.text += cursor.take();
    } else if (cursor.at_end() || cursor.at_line_end() || cursor.peek() == ',') {
      return true;
    } else {
      diagnostics.error(cursor.place(),
                        "text behind a closing quote; a comma or the line's end is needed (a quote "
                        "inside a quoted cell is written twice)");
      return false;
    }
  }
  diagnostics.error(cell.place, "this quote is never closed");
  return false;
}

bool take_cell(Cursor& cursor, CsvCell& cell, config::Diagnostics& diagnostics) {
  cell.place = cursor.place();
  if (cursor.peek() == '"') {
    cursor.take();
    cell.quoted = true;
    return take_quoted(cursor, cell, diagnostics);
  }
  while (!cursor.at_end() && !cursor.at_line_end() && cursor.peek() != ',') {
    if (cursor.peek() == '"') {
      diagnostics.error(cursor.place(),
                        "a quote inside a cell that does not begin with one; quote the whole cell");
      return false;
    }
    cell.text += cursor.take();
  }
  return true;
}

// One record; nothing after a mistake, with the cursor on the next line.
std::optional<CsvRecord> take_record(Cursor& cursor, config::Diagnostics& diagnostics) {
  CsvRecord record;
  while (true) {
    CsvCell cell;
    if (!take_cell(cursor, cell, diagnostics)) {
      while (!cursor.at_end() && cursor.take() != '\n') {}
      return std::nullopt;
    }
    record.push_back(std::move(cell));
    if (cursor.at_end() || cursor.take() == '\n') { return record; }
  }
}

}  // namespace

std::vector<CsvRecord> read_csv(const std::shared_ptr<const config::Source>& source,
                                config::Diagnostics& diagnostics) {
  std::vector<CsvRecord> records;
  Cursor cursor(source);
  while (!cursor.at_end()) {
    if (cursor.at_line_end()) {  // a blank line
      cursor.take();
      continue;
    }
    if (auto record = take_record(cursor, diagnostics)) { records.push_back(std::move(*record)); }
  }
  return records;
}

}  // namespace wavetail::study
