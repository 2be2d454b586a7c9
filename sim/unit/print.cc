// SPDX-License-Identifier: Apache-2.0
#include "unit/print.h"

#include <cmath>
#include <cstdio>

#include "unit/table.h"

namespace wavetail::unit {

namespace {

__extension__ using Wide = __int128;

// count / base_units as exact decimal text of at most 12 places; empty where it would need more.
std::string exact(std::int64_t count, std::int64_t base_units) {
  const bool negative = count < 0;
  const Wide magnitude = negative ? -static_cast<Wide>(count) : static_cast<Wide>(count);
  std::string text = std::to_string(static_cast<std::int64_t>(magnitude / base_units));
  Wide rest = magnitude % base_units;
  for (int places = 0; rest != 0; ++places) {
    if (places == 12) { return {}; }
    text += places == 0 ? "." : "";
    rest *= 10;
    text += static_cast<char>('0' + static_cast<int>(rest / base_units));
    rest %= base_units;
  }
  return (negative ? "-" : "") + text;
}

}  // namespace

std::string print_whole(std::int64_t count, Dimension dimension) {
  if (units(dimension).empty()) { return std::to_string(count); }
  std::string best;
  for (const Unit& unit : units(dimension)) {
    const bool below_one = count != 0 && std::abs(count) < unit.base_units && !best.empty();
    const std::string number = unit.printed && !below_one ? exact(count, unit.base_units) : "";
    const std::string text = number + " " + std::string(unit.name);
    const bool shorter = best.empty() || text.size() < best.size();
    if (!number.empty() && shorter) { best = text; }
  }
  if (best.ends_with(" cycles") && (count == 1 || count == -1)) { best.pop_back(); }
  return best;
}

std::string print_real(double value, int digits) {
  char buffer[64];
  const double magnitude = std::fabs(value);
  const int before_point = magnitude >= 1 ? static_cast<int>(std::floor(std::log10(magnitude))) + 1
                                          : 1;
  const int leading_zeros = magnitude > 0 && magnitude < 1
                                ? static_cast<int>(-std::floor(std::log10(magnitude))) - 1
                                : 0;
  const int places = std::max(
      0, std::min(digits - (magnitude >= 1 ? before_point : 0) + leading_zeros, 20));
  std::snprintf(buffer, sizeof buffer, "%.*f", places, value);
  std::string text = buffer;
  if (text.find('.') != std::string::npos) {
    text.erase(text.find_last_not_of('0') + 1);
    if (text.back() == '.') { text.pop_back(); }
  }
  return text;
}

std::string print(Decimal number) {
  std::int64_t divisor = 1;
  for (int i = 0; i < number.scale; ++i) { divisor *= 10; }
  const bool negative = number.digits < 0;
  const std::int64_t magnitude = negative ? -number.digits : number.digits;
  std::string text = std::to_string(magnitude / divisor);
  if (number.scale > 0) {
    std::string rest = std::to_string(magnitude % divisor);
    text += "." + std::string(static_cast<std::size_t>(number.scale) - rest.size(), '0') + rest;
  }
  return (negative ? "-" : "") + text;
}

}  // namespace wavetail::unit
