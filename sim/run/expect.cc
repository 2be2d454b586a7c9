// SPDX-License-Identifier: Apache-2.0
#include "run/expect.h"

#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/nearest.h"
#include "result/lookup.h"
#include "unit/human.h"

namespace wavetail::run {

namespace {

using result::Figure;
using scenario::Expectation;

constexpr double kExact = 1e-9;  // relative: rounding of the arithmetic, not of the model

struct Scale {
  std::string_view unit, dimension;
  double factor;
};

constexpr std::array<Scale, 15> kScales = {{{"ps", "time", 1e-12},
                                            {"ns", "time", 1e-9},
                                            {"us", "time", 1e-6},
                                            {"ms", "time", 1e-3},
                                            {"s", "time", 1},
                                            {"bytes", "bytes", 1},
                                            {"B/s", "rate", 1},
                                            {"GB/s", "rate", 1e9},
                                            {"TB/s", "rate", 1e12},
                                            {"Hz", "frequency", 1},
                                            {"MHz", "frequency", 1e6},
                                            {"GHz", "frequency", 1e9},
                                            {"pct", "number", 0.01},
                                            {"ratio", "number", 1},
                                            {"FLOP/B", "intensity", 1}}};

// Factor from unit `from` to unit `to`; nothing if they measure different things. A bare number may
// stand for a ratio and for an intensity, which scenarios have no unit for.
std::optional<double> convert(std::string_view from, std::string_view to) {
  if (from == to) { return 1.0; }
  if ((from.empty() && to == "ratio") || (from == "ratio" && to.empty())) { return 1.0; }
  if (from == "FLOP/B" && to.empty()) { return 1.0; }
  const Scale* a = nullptr;
  const Scale* b = nullptr;
  for (const auto& s : kScales) {
    a = s.unit == from ? &s : a;
    b = s.unit == to ? &s : b;
  }
  const bool same = a != nullptr && b != nullptr && a->dimension == b->dimension;
  return same ? std::optional(a->factor / b->factor) : std::nullopt;
}

// A number in the expectation's unit, or why there is none.
struct Got {
  std::optional<double> value;
  std::string text;
};

// Half a unit of the last digit that the file shows, in the expectation's unit: "2.0 MB" -> 50,000
// bytes.
double tolerance_as_written(const Expectation& e) {
  const double exact = kExact * std::max(std::abs(*e.value), 1e-300);
  const auto begin = e.wanted.find_first_of("0123456789");
  if (e.unit.empty() || e.unit == "ratio" || begin == std::string::npos) { return exact; }
  const auto end = e.wanted.find_first_not_of("0123456789.", begin);
  const auto digits = e.wanted.substr(begin, end - begin);
  const auto dot = digits.find('.');
  const double decimals = dot == std::string::npos ? 0
                                                   : static_cast<double>(digits.size() - dot - 1);
  const double written = std::stod(digits);
  double scale = 1;  // of the written unit in the expectation's
  if (written != 0) {
    scale = std::abs(*e.value) / written;
  } else if (const auto word = e.wanted.find_first_not_of(' ', end); word != std::string::npos) {
    const auto unit = e.wanted.substr(word, e.wanted.find(' ', word) - word);
    scale = convert(unit, e.unit).value_or(1);
  }
  return std::max(exact, 0.5 * std::pow(10.0, -decimals) * scale * (1 + kExact));
}

std::string unknown(const result::RunResult& run, const std::string& path) {
  const auto near = result::paths_near(run, path);
  return fmt::format("no figure '{}'{}", path, base::hint(path, near, false));
}

// The figure at `path` in `unit`; where the path means several, the one that can be given in that
// unit.
Got number_at(const result::RunResult& run, const std::string& path, std::string_view unit) {
  const auto figures = result::find_figures(run, path);
  if (figures.empty()) { return {{}, unknown(run, path)}; }
  std::string units;
  for (const auto& f : figures) {
    const auto factor = convert(f.unit, unit);
    units += (units.empty() ? "" : " or ") +
             (f.unit.empty() ? std::string("a bare number") : f.unit);
    if (!factor) { continue; }
    if (const auto* v = std::get_if<double>(&f.value)) {
      return {*v * *factor, unit::human(*v, f.unit)};
    }
    return {
        {},
        std::holds_alternative<std::string>(f.value) ? "a text, not a number" : "does not apply"};
  }
  return {
      {},
      fmt::format("'{}' is in {}, not in {}", path, units, unit.empty() ? "a bare number" : unit)};
}

Got ratio(const result::RunResult& run, const Expectation& e) {
  const auto above = result::find_figures(run, e.path);
  if (above.empty()) { return {{}, unknown(run, e.path)}; }
  for (const auto& f : above) {
    const auto* numerator = std::get_if<double>(&f.value);
    const auto denominator = number_at(run, *e.ratio_to, f.unit);
    if (numerator == nullptr || !denominator.value) {
      if (&f != &above.back()) { continue; }
      return {{}, numerator == nullptr ? "does not apply" : denominator.text};
    }
    if (*denominator.value == 0) { return {{}, fmt::format("'{}' is 0", *e.ratio_to)}; }
    const double r = *numerator / *denominator.value;
    return {e.unit == "pct" ? 100 * r : r,
            fmt::format("{} ({} / {})", unit::human(r, "ratio"), unit::human(*numerator, f.unit),
                        denominator.text)};
  }
  return {};
}

bool holds(const Expectation& e, double got) {
  if (e.value) {
    const double tolerance = e.within_pct ? (*e.within_pct / 100 + kExact) * std::abs(*e.value)
                                          : tolerance_as_written(e);
    if (!(std::abs(got - *e.value) <= tolerance)) { return false; }
  }
  if (e.at_least && !(got >= *e.at_least - kExact * std::abs(*e.at_least))) { return false; }
  return !e.at_most || got <= *e.at_most + kExact * std::abs(*e.at_most);
}

// "registers,shared_memory" and "[registers, shared_memory]" are the same list.
std::string plain_list(std::string_view text) {
  std::string plain;
  for (const char c : text) {
    if (c != ' ' && c != '[' && c != ']') { plain += c; }
  }
  return plain;
}

std::pair<bool, std::string> judge_text(const Expectation& e, const result::RunResult& run) {
  const auto figures = result::find_figures(run, e.path);
  if (figures.empty()) { return {false, unknown(run, e.path)}; }
  if (const auto* text = std::get_if<std::string>(&figures.front().value)) {
    return {plain_list(*text) == plain_list(e.text), *text};
  }
  if (const auto* number = std::get_if<double>(&figures.front().value)) {
    return {false, unit::human(*number, figures.front().unit)};
  }
  return {false, "does not apply"};
}

std::pair<bool, std::string> judge_one(const Expectation& e, const result::RunResult& run) {
  if (e.kind == Expectation::Kind::Text) { return judge_text(e, run); }
  const Got got = e.ratio_to ? ratio(run, e) : number_at(run, e.path, e.unit);
  return {got.value && holds(e, *got.value), got.text};
}

}  // namespace

std::vector<result::ExpectationResult> judge(const std::vector<Expectation>& expectations,
                                             const result::RunResult& run) {
  using result::Verdict;
  std::vector<result::ExpectationResult> results;
  for (const auto& e : expectations) {
    auto [passed, got] = judge_one(e, run);
    Verdict verdict = passed ? Verdict::Passed : Verdict::Failed;
    if (e.known_miss) { verdict = passed ? Verdict::UnexpectedPass : Verdict::KnownMiss; }
    results.push_back({.path = e.path,
                       .wanted = e.wanted,
                       .got = std::move(got),
                       .verdict = verdict,
                       .known_miss = e.known_miss.value_or(""),
                       .place = e.place});
  }
  return results;
}

bool is_failure(result::Verdict verdict) {
  return verdict == result::Verdict::Failed || verdict == result::Verdict::UnexpectedPass;
}

}  // namespace wavetail::run
