// SPDX-License-Identifier: Apache-2.0
#include "device/steady.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace wavetail::device {

namespace {

constexpr std::size_t kBatches = 4;

struct Line {
  double slope = 0, error = 0;
};

// Through the marks [from, to), at 0, 1, 2...
Line line_through(const std::vector<Mark>& marks, std::size_t from, std::size_t to) {
  const auto n = static_cast<double>(to - from);
  const auto time = [&](std::size_t i) {
    return static_cast<double>((marks[i].at - marks[from].at).count());
  };
  double mean = 0;
  for (std::size_t i = from; i < to; ++i) { mean += time(i) / n; }
  const double middle = (n - 1) / 2, spread = n * (n * n - 1) / 12;
  Line line;
  for (std::size_t i = from; i < to; ++i) {
    line.slope += (static_cast<double>(i - from) - middle) * (time(i) - mean) / spread;
  }
  double squares = 0;
  for (std::size_t i = from; i < to; ++i) {
    const double off = time(i) - mean - line.slope * (static_cast<double>(i - from) - middle);
    squares += off * off;
  }
  line.error = std::sqrt(squares / (n - 2) / spread);
  return line;
}

}  // namespace

std::optional<Rhythm> rhythm_of(const std::vector<Mark>& marks, std::size_t fewest,
                                double tolerance) {
  const std::size_t n = marks.size(), first = n / 3;
  if (n - first < fewest) { return std::nullopt; }
  const Line all = line_through(marks, first, n);
  const std::size_t half = first + (n - first) / 2;
  const Line early = line_through(marks, first, half), late = line_through(marks, half, n);
  const double drift = std::abs(late.slope - early.slope);
  const bool even = drift <= 2 * tolerance * all.slope + std::hypot(early.error, late.error);
  if (!even || all.error > tolerance / 2 * all.slope) { return std::nullopt; }
  return Rhythm{first, all.slope};
}

std::optional<std::size_t> first_compared(const std::vector<Mark>& marks) {
  const std::size_t passed = marks.size() - 1;
  const std::size_t compared = std::max(kBatches, passed / 2 / kBatches * kBatches);
  if (marks.empty() || passed < compared) { return std::nullopt; }
  return passed - compared;
}

// The error of the mean of all is taken from the means of four batches: what one takes longer the
// next one often makes good.
bool steady(const std::vector<Mark>& marks, std::size_t first, double tolerance) {
  const std::size_t batch = (marks.size() - 1 - first) / kBatches;
  std::array<double, kBatches> times{};
  double mean = 0;
  for (std::size_t i = 0; i < kBatches; ++i) {
    const std::size_t from = first + i * batch;
    times[i] = static_cast<double>((marks[from + batch].at - marks[from].at).count());
    mean += times[i] / kBatches;
  }
  double squares = 0;
  for (const double t : times) { squares += (t - mean) * (t - mean); }
  const double error = std::sqrt(squares / (kBatches - 1) / kBatches);
  const double trend = (times[2] + times[3] - times[0] - times[1]) / 2;
  return error <= tolerance / 2 * mean && std::abs(trend) <= tolerance * mean;
}

}  // namespace wavetail::device
