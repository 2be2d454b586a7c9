// SPDX-License-Identifier: Apache-2.0
#include "unit/parse.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "unit/table.h"

namespace wavetail::unit {

namespace {

__extension__ using Wide = __int128;

constexpr int kMostDigits = 18;  // 10^18 fits in 64 bits

bool is_digit(char c) { return c >= '0' && c <= '9'; }

std::string quoted(std::string_view text) { return "'" + std::string(text.substr(0, 40)) + "'"; }

std::string one_of(Dimension dimension) {
  std::string text;
  for (const std::string& name : unit_names(dimension)) {
    text += (text.empty() ? "" : ", ") + name;
  }
  return "(one of: " + text + ")";
}

std::int64_t power_of_ten(int n) {
  std::int64_t p = 1;
  for (int i = 0; i < n; ++i) { p *= 10; }
  return p;
}

bool optional_unit(Dimension d) { return d == Dimension::Fraction || d == Dimension::FlopPerCycle; }

bool must_be_whole(Dimension d) {
  return d == Dimension::Count || d == Dimension::Size || d == Dimension::CycleCount;
}

// The run of characters that looks like a number, judged before anything is computed.
std::string number_mistake(std::string_view text, std::string_view whole, std::string_view rest) {
  if (whole.empty()) { return quoted(text) + " is not a number"; }
  if (whole == "0" && !rest.empty() && (rest[0] == 'x' || rest[0] == 'o' || rest[0] == 'b') &&
      rest.size() > 1 && std::isxdigit(static_cast<unsigned char>(rest[1])) != 0) {
    return quoted(text) + ": only decimal numbers are read";
  }
  if (whole.size() > 1 && whole[0] == '0') {
    const auto first = std::min(whole.find_first_not_of('0'), whole.size() - 1);
    return quoted(text) + " starts with a zero; write " + std::string(whole.substr(first)) +
           std::string(rest);
  }
  return {};
}

bool has_exponent(std::string_view rest) {
  if (rest.size() < 2 || (rest[0] != 'e' && rest[0] != 'E')) { return false; }
  return is_digit(rest[1]) ||
         (rest.size() > 2 && (rest[1] == '+' || rest[1] == '-') && is_digit(rest[2]));
}

std::size_t digits_at(std::string_view text, std::size_t from) {
  std::size_t n = from;
  while (n < text.size() && is_digit(text[n])) { ++n; }
  return n - from;
}

struct Scaled {
  Decimal number;
  std::int64_t base_units = 1;
  bool bare = false;
};

Parsed<Scaled> scaled(std::string_view text, Dimension dimension) {
  const auto parts = split(text);
  if (!parts) { return {std::nullopt, parts.reason}; }
  const auto table = units(dimension);
  const std::string& unit = parts.value->unit;
  if (unit.empty()) {
    if (!table.empty() && !optional_unit(dimension) && parts.value->number.digits != 0) {
      return {std::nullopt, "a unit is needed " + one_of(dimension) + "; found " + quoted(text)};
    }
    if (!table.empty() && !optional_unit(dimension)) {
      return {std::nullopt, "a unit is needed, for zero too " + one_of(dimension)};
    }
    return {Scaled{parts.value->number, 1, true}, {}};
  }
  if (table.empty()) { return {std::nullopt, "a bare number is needed; found " + quoted(text)}; }
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const Unit& u) { return u.name == unit; });
  if (found == table.end()) {
    return {std::nullopt, "the unit " + quoted(unit) + " does not fit here " + one_of(dimension)};
  }
  return {Scaled{parts.value->number, found->base_units, false}, {}};
}

}  // namespace

Parsed<Written> split(std::string_view text) {
  std::size_t at = 0;
  const bool negative = !text.empty() && text[0] == '-';
  if (!text.empty() && (text[0] == '-' || text[0] == '+')) { at = 1; }
  const std::string_view whole = text.substr(at, digits_at(text, at));
  at += whole.size();
  if (auto mistake = number_mistake(text, whole, text.substr(at)); !mistake.empty()) {
    return {std::nullopt, mistake};
  }
  std::string_view fraction;
  if (at < text.size() && text[at] == '.') {
    fraction = text.substr(at + 1, digits_at(text, at + 1));
    if (fraction.empty()) {
      return {std::nullopt, quoted(text) + ": digits are needed after the point"};
    }
    at += 1 + fraction.size();
  }
  if (has_exponent(text.substr(at))) {
    return {std::nullopt, quoted(text) + ": exponents are not read; write the number out"};
  }
  while (!fraction.empty() && fraction.back() == '0') { fraction.remove_suffix(1); }
  if ((whole == "0" ? 0 : whole.size()) + fraction.size() > kMostDigits) {
    return {std::nullopt, quoted(text) + " has more than 18 digits"};
  }
  Written w;
  for (const char c : std::string(whole) + std::string(fraction)) {
    w.number.digits = w.number.digits * 10 + (c - '0');
  }
  w.number.digits = negative ? -w.number.digits : w.number.digits;
  w.number.scale = static_cast<int>(fraction.size());
  std::string_view unit = text.substr(at);
  unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
  w.unit = std::string(unit);
  if (!unit.empty() && (is_digit(unit[0]) || unit[0] == '.' || unit[0] == ',' || unit[0] == '_')) {
    return {std::nullopt, quoted(text) + " is not one number"};
  }
  return {w, {}};
}

Parsed<std::int64_t> parse_whole(std::string_view text, Dimension dimension) {
  const auto s = scaled(text, dimension);
  if (!s) { return {std::nullopt, s.reason}; }
  const Wide product = static_cast<Wide>(s.value->number.digits) * s.value->base_units;
  const Wide divisor = power_of_ten(s.value->number.scale);
  Wide whole = product / divisor;
  if (const Wide rest = product % divisor; rest != 0) {
    if (must_be_whole(dimension)) {
      const std::string what = dimension == Dimension::Size
                                   ? "a whole number of bytes is needed; found "
                               : dimension == Dimension::CycleCount
                                   ? "a whole number of cycles is needed; found "
                                   : "a whole number is needed; found ";
      return {std::nullopt, what + quoted(text)};
    }
    if (2 * (rest < 0 ? -rest : rest) >= divisor) { whole += rest < 0 ? -1 : 1; }
  }
  constexpr Wide kMost = std::numeric_limits<std::int64_t>::max();
  if (whole > kMost || whole < -kMost) { return {std::nullopt, quoted(text) + " is too large"}; }
  return {static_cast<std::int64_t>(whole), {}};
}

Parsed<double> parse_real(std::string_view text, Dimension dimension) {
  const auto s = scaled(text, dimension);
  if (!s) { return {std::nullopt, s.reason}; }
  double divisor = static_cast<double>(power_of_ten(s.value->number.scale));
  if (dimension == Dimension::Fraction && !s.value->bare) { divisor *= 100; }
  const double units_written = static_cast<double>(s.value->number.digits) *
                               static_cast<double>(s.value->base_units);
  return {units_written / divisor, {}};
}

std::vector<std::string> unit_names(Dimension dimension) {
  std::vector<std::string> names;
  for (const Unit& u : units(dimension)) {
    if (u.printed) { names.emplace_back(u.name); }
  }
  return names;
}

}  // namespace wavetail::unit
