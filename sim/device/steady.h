// SPDX-License-Identifier: Apache-2.0
// Whether what repeats itself has become steady. Marks are made behind each repetition; of those so
// far the later half, in four batches, is compared.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "result/result.h"
#include "unit/quantity.h"

namespace wavetail::device {

// The end of a repetition, and the counters of the launch until then.
struct Mark {
  unit::Time at;
  result::Counters counters;
};

// The mark from which on repetitions are compared, if there are enough of them.
[[nodiscard]] std::optional<std::size_t> first_compared(const std::vector<Mark>& marks);

// Of the repetitions from `first` on the error of the mean, as their scatter shows it, is at most
// half of the tolerance, and the trend within them at most the tolerance.
[[nodiscard]] bool steady(const std::vector<Mark>& marks, std::size_t first, double tolerance);

// What a repetition takes by the straight line through the marks.
struct Rhythm {
  std::size_t first = 0;  // mark from which on they lie on it
  double period = 0;      // picoseconds
};

// For many short repetitions, which pass in step on the average only: by least squares through the
// later two thirds of the marks, if they are at least `fewest`, the slope's standard error is at
// most half of the tolerance, and the slopes of both halves differ by no more than twice the
// tolerance and their own error.
[[nodiscard]] std::optional<Rhythm> rhythm_of(const std::vector<Mark>& marks, std::size_t fewest,
                                              double tolerance);

}  // namespace wavetail::device
