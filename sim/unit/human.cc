// SPDX-License-Identifier: Apache-2.0
#include "unit/human.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

namespace wavetail::unit {

namespace {

struct Prefix {
  double scale;
  std::string_view name;
};

constexpr std::array kTimes = {Prefix{1e-12, "ps"}, Prefix{1e-9, "ns"}, Prefix{1e-6, "us"},
                               Prefix{1e-3, "ms"}, Prefix{1, "s"}};
constexpr std::array kBytes = {Prefix{1, "B"}, Prefix{1e3, "kB"}, Prefix{1e6, "MB"},
                               Prefix{1e9, "GB"}, Prefix{1e12, "TB"}};
constexpr std::array kRates = {Prefix{1, "B/s"}, Prefix{1e3, "kB/s"}, Prefix{1e6, "MB/s"},
                               Prefix{1e9, "GB/s"}, Prefix{1e12, "TB/s"}};

// With the largest prefix that leaves at least one whole unit after rounding.
std::string prefixed(double value, std::span<const Prefix> prefixes) {
  const Prefix* best = &prefixes.front();
  for (const auto& p : prefixes) {
    if (std::abs(value) >= 0.9995 * p.scale) { best = &p; }
  }
  return fmt::format("{} {}", value == 0 ? "0" : significant(value / best->scale, 3), best->name);
}

}  // namespace

std::string significant(double value, int digits) {
  if (value == 0 || !std::isfinite(value)) { return value == 0 ? "0" : "-"; }
  const int magnitude = static_cast<int>(std::floor(std::log10(std::abs(value))));
  int decimals = std::max(0, digits - 1 - magnitude);
  auto text = fmt::format("{:.{}f}", value, decimals);
  // 9.9996 becomes "10.000": one digit more than asked for.
  if (decimals > 0 && std::abs(std::stod(text)) >= std::pow(10.0, magnitude + 1)) {
    --decimals;
    text = fmt::format("{:.{}f}", value, decimals);
  }
  return text;
}

std::string human(double value, std::string_view unit) {
  if (unit == "us") { return prefixed(value * 1e-6, kTimes); }
  if (unit == "ns") { return prefixed(value * 1e-9, kTimes); }
  if (unit == "bytes") { return prefixed(value, kBytes); }
  if (unit == "GB/s") { return prefixed(value * 1e9, kRates); }
  const bool whole = value == std::floor(value) && std::abs(value) < 1e15;
  const auto number = whole ? fmt::format("{:.0f}", value) : significant(value, 3);
  if (unit == "pct") { return value > 0 && value < 0.01 ? "<0.01 %" : number + " %"; }
  if (unit == "ratio") { return number + "x"; }
  return unit.empty() ? number : fmt::format("{} {}", number, unit);
}

std::string human(Bandwidth rate) { return prefixed(static_cast<double>(rate.count()), kRates); }

std::string human(Duration time) { return prefixed(seconds(time), kTimes); }

std::string human(Bytes bytes) { return prefixed(static_cast<double>(bytes.count()), kBytes); }

}  // namespace wavetail::unit
