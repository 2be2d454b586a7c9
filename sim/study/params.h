// SPDX-License-Identifier: Apache-2.0
// Reading the parameters of a row. A protocol asks for every parameter by name; what is missing,
// not a number, or not one of the allowed words ends the mapping with the reason, and so does a
// parameter that nobody asked for: the row is skipped, never guessed.
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "study/measurement.h"

namespace wavetail::study {

// Why a row cannot be predicted, worded to stand alone in a report.
struct Unmapped : std::runtime_error {
  using std::runtime_error::runtime_error;
};

class Params {
 public:
  explicit Params(const Measurement& row) : row_(row) {}

  [[nodiscard]] bool has(std::string_view key) const { return find(key) != nullptr; }

  // A whole number of at least `least`.
  [[nodiscard]] std::int64_t count(std::string_view key, std::int64_t least = 1);
  [[nodiscard]] double number(std::string_view key);  // at least 0
  [[nodiscard]] std::string word(std::string_view key);
  // One of `allowed`, which the reason lists otherwise.
  [[nodiscard]] std::string one_of(std::string_view key, std::span<const std::string_view> allowed);

  // A parameter that must say exactly this (it names the one way that the protocol knows).
  void must_be(std::string_view key, std::string_view allowed);
  // A parameter that follows from others: if it is there, it must be what the protocol makes of
  // them.
  void agrees(std::string_view key, std::int64_t ours);
  // Parameters that say nothing about the run (a rounded percentage, the name of a version).
  void ignore(std::initializer_list<std::string_view> keys);

  // The row's metric must be one of these.
  void metric_is(std::initializer_list<std::string_view> metrics) const;

  // Every parameter has been asked for.
  void finish() const;

  [[nodiscard]] const Measurement& row() const { return row_; }

 private:
  [[nodiscard]] const std::string* find(std::string_view key) const;
  [[nodiscard]] const std::string& text(std::string_view key);

  const Measurement& row_;
  std::set<std::string, std::less<>> asked_;
};

// A grid or block as profilers write it: "40960x1x1" -> 40960; a bare number is itself. Unmapped if
// it is neither, or if a dimension behind the first is above 1.
[[nodiscard]] std::int64_t linear_extent(std::string_view key, const std::string& text);

}  // namespace wavetail::study
