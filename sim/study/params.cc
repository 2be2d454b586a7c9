// SPDX-License-Identifier: Apache-2.0
#include "study/params.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "base/nearest.h"

namespace wavetail::study {

namespace {

template <class T>
std::optional<T> parse(std::string_view text) {
  T value{};
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && rest == text.data() + text.size() ? std::optional(value)
                                                                   : std::nullopt;
}

}  // namespace

const std::string* Params::find(std::string_view key) const {
  const auto it = std::find_if(row_.params.begin(), row_.params.end(),
                               [&](const auto& p) { return p.first == key; });
  return it == row_.params.end() ? nullptr : &it->second;
}

const std::string& Params::text(std::string_view key) {
  asked_.emplace(key);
  const std::string* found = find(key);
  if (found == nullptr) { throw Unmapped(fmt::format("parameter '{}' is missing", key)); }
  return *found;
}

std::int64_t Params::count(std::string_view key, std::int64_t least) {
  constexpr std::int64_t kMost = std::int64_t{1} << 46;  // products of two stay in 64 bits
  const std::string& found = text(key);
  const auto value = parse<std::int64_t>(found);
  if (!value || *value < least || *value > kMost) {
    throw Unmapped(
        fmt::format("{}={}: a whole number of at least {} is needed", key, found, least));
  }
  return *value;
}

double Params::number(std::string_view key) {
  const std::string& found = text(key);
  const auto value = parse<double>(found);
  if (!value || !std::isfinite(*value) || *value < 0) {
    throw Unmapped(fmt::format("{}={}: a number of at least 0 is needed", key, found));
  }
  return *value;
}

std::string Params::word(std::string_view key) { return text(key); }

std::string Params::one_of(std::string_view key, std::span<const std::string_view> allowed) {
  const std::string& found = text(key);
  if (std::find(allowed.begin(), allowed.end(), found) == allowed.end()) {
    throw Unmapped(fmt::format("{}={}: there is {}", key, found, fmt::join(allowed, ", ")));
  }
  return found;
}

void Params::must_be(std::string_view key, std::string_view allowed) {
  (void)one_of(key, std::array{allowed});
}

void Params::agrees(std::string_view key, std::int64_t ours) {
  if (has(key) && count(key, 0) != ours) {
    throw Unmapped(fmt::format("{}={}, but the other parameters give {}", key, text(key), ours));
  }
}

void Params::ignore(std::initializer_list<std::string_view> keys) {
  for (const std::string_view key : keys) { asked_.emplace(key); }
}

void Params::metric_is(std::initializer_list<std::string_view> metrics) const {
  if (std::find(metrics.begin(), metrics.end(), row_.metric) == metrics.end()) {
    throw Unmapped(
        fmt::format("metric '{}': {} has {}", row_.metric, row_.kind, fmt::join(metrics, ", ")));
  }
}

void Params::finish() const {
  for (const auto& [key, value] : row_.params) {
    if (!asked_.contains(key)) {
      const std::vector<std::string> known(asked_.begin(), asked_.end());
      throw Unmapped(
          fmt::format("parameter '{}' is unknown to {}{}", key, row_.kind, base::hint(key, known)));
    }
  }
}

std::int64_t linear_extent(std::string_view key, const std::string& text) {
  std::string_view rest = text;
  std::int64_t first = 0;
  for (int dimension = 0; dimension < 3 && !rest.empty(); ++dimension) {
    const std::size_t end = std::min(rest.find('x'), rest.size());
    const auto value = parse<std::int64_t>(rest.substr(0, end));
    if (!value || *value < 1 || (dimension > 0 && *value != 1)) { break; }
    if (dimension == 0) { first = *value; }
    rest = rest.substr(std::min(end + 1, rest.size()));
  }
  if (first == 0 || !rest.empty()) {
    throw Unmapped(fmt::format("{}={}: one dimension is needed", key, text));
  }
  return first;
}

}  // namespace wavetail::study
