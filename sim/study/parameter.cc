// SPDX-License-Identifier: Apache-2.0
#include "study/parameter.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/nearest.h"
#include "config/setting.h"
#include "config/value.h"
#include "gpu/keys.h"
#include "unit/table.h"

namespace wavetail::study {

namespace {

constexpr int kSignificant = 4;
constexpr std::size_t kMostParameters = 16;

bool is_whole(unit::Dimension d) {
  return d == unit::Dimension::Count || d == unit::Dimension::CycleCount ||
         d == unit::Dimension::Size;
}

// Kept as whole base units, so that finer values are the same value.
bool has_base_units(unit::Dimension d) {
  return d == unit::Dimension::TimeSpan || d == unit::Dimension::Frequency ||
         d == unit::Dimension::DataRate || d == unit::Dimension::PortRate;
}

std::vector<std::string> split_at(const std::string& text, char mark) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= text.size();) {
    const std::size_t end = std::min(text.find(mark, from), text.size());
    parts.push_back(text.substr(from, end - from));
    from = end + 1;
  }
  return parts;
}

// Sizes go in steps of the next smaller unit: a cache of 50 MiB in KiB.
std::string fitted_unit(const std::string& written, unit::Dimension dimension) {
  if (written == "cycle") { return "cycles"; }
  if (dimension != unit::Dimension::Size) { return written; }
  const auto table = unit::units(dimension);
  const auto size_of = [&](const std::string& name) {
    const auto at = std::find_if(table.begin(), table.end(),
                                 [&](const auto& u) { return u.name == name; });
    return at->base_units;
  };
  const std::int64_t step = written.find('i') != std::string::npos ? 1024 : 1000;
  for (const unit::Unit& u : table) {
    if (u.base_units * step == size_of(written)) { return std::string(u.name); }
  }
  return written;
}

// One word of --fit.
class Reader {
 public:
  Reader(const std::string& word, const gpu::Document& plain, const gpu::Document& set,
         config::Diagnostics& diagnostics)
      : plain_(plain), set_(set), diagnostics_(diagnostics) {
    parameter_.place = config::place_of_setting("--fit", word);
    const std::size_t sign = word.find('=');
    const std::string path = word.substr(0, sign);
    parameter_.path = path.starts_with("gpu.") ? path : "gpu." + path;
    if (sign != std::string::npos) { values_ = split_at(word.substr(sign + 1), ':'); }
  }

  // Nothing where there is a mistake.
  std::optional<Parameter> read() {
    if (!find_field() || !take_start() || !take_bounds() || !check_bounds()) {
      return std::nullopt;
    }
    set_grid();
    return std::move(parameter_);
  }

 private:
  bool complain(const std::string& message) {
    diagnostics_.error(parameter_.place, message);
    return false;
  }

  bool find_field() {
    if (values_.size() > 3) {
      return complain(
          fmt::format("'{}' has {} values; PATH, PATH=START, PATH=LOWEST:HIGHEST or "
                      "PATH=LOWEST:START:HIGHEST is needed",
                      parameter_.path, values_.size()));
    }
    std::vector<std::string> paths;
    for (gpu::Field& field : gpu::fields()) {
      paths.push_back("gpu." + field.path);
      if (paths.back() == parameter_.path) { field_ = std::move(field); }
    }
    if (field_.path.empty() && parameter_.path != "gpu.sms") {
      return complain(fmt::format("unknown path '{}'{}", parameter_.path,
                                  base::hint(parameter_.path, paths, false)));
    }
    if (field_.path.empty() || field_.kind == gpu::ValueKind::NumberList) {
      return complain(fmt::format("'{}' is a layout of several numbers; one number can be fitted",
                                  parameter_.path));
    }
    if (field_.kind == gpu::ValueKind::Choice) {
      return complain(fmt::format("'{}' is a choice ({}); only numbers can be fitted",
                                  parameter_.path, base::joined(field_.choices)));
    }
    if (field_.path == "clock.sm" || field_.path == "clock.sm_max") {
      return complain(
          fmt::format("'{}' is not fitted: a row says at which SM clock it was "
                      "measured, or the boost clock holds; --set can set it",
                      parameter_.path));
    }
    return true;
  }

  // `text` in the parameter's unit; the first one decides on it.
  std::optional<double> number(const std::string& text) {
    const bool whole_only = is_whole(field_.dimension);
    const auto real = unit::parse_real(text, field_.dimension);
    const auto whole = whole_only ? unit::parse_whole(text, field_.dimension)
                                  : unit::Parsed<std::int64_t>{0, {}};
    if (!real || !whole) {
      complain(fmt::format("'{}': {}", parameter_.path, real ? whole.reason : real.reason));
      return std::nullopt;
    }
    return *real.value / per_unit_;
  }

  bool take_start() {
    const config::Node* present = config::find_path(set_.root, field_.path);
    const bool given = values_.size() == 1 || values_.size() == 3;
    if (!given && present == nullptr) {
      return complain(
          fmt::format("'{}' is not given by this GPU; say where the fit starts: {}=VALUE",
                      parameter_.path, parameter_.path));
    }
    parameter_.start = given ? values_[values_.size() / 2] : config::plain(*present).text;
    const auto parts = unit::split(parameter_.start);
    if (parts && number(parameter_.start)) {
      parameter_.unit = fitted_unit(parts.value->unit, field_.dimension);
      const std::string one = parameter_.unit.empty() ? "1" : "1 " + parameter_.unit;
      per_unit_ = *unit::parse_real(one, field_.dimension).value;
      parameter_.variable.start = *number(parameter_.start);
      return true;
    }
    if (!parts) { complain(fmt::format("'{}': {}", parameter_.path, parts.reason)); }
    return false;
  }

  bool take_bounds() {
    Variable& v = parameter_.variable;
    const auto known = plain_.provenance.find(field_.path);
    if (values_.size() < 2 && known != plain_.provenance.end() && known->second.range_low) {
      values_ = {*known->second.range_low, *known->second.range_high};
      from_ = "its range";
    }
    const auto lowest = number(field_.low), highest = number(field_.high);
    if (*lowest == *highest) {
      return complain(fmt::format("'{}' cannot move: allowed is {}", parameter_.path, field_.low));
    }
    if (values_.size() < 2) {
      from_ = fmt::format("a factor of {:g}", kBoundFactor);
      v.low = std::max(v.start / kBoundFactor, *lowest);
      v.high = std::min(v.start * kBoundFactor, *highest);
      if (is_whole(field_.dimension)) {
        v.low = std::ceil(v.low);
        v.high = std::floor(v.high);
      }
      return true;
    }
    const auto low = number(values_.front()), high = number(values_.back());
    if (!low || !high) { return false; }
    v.low = *low;
    v.high = *high;
    if (v.low < *lowest || v.high > *highest) {
      return complain(fmt::format("'{}' may go from {} to {}; allowed {} to {}", parameter_.path,
                                  values_.front(), values_.back(), field_.low, field_.high));
    }
    return true;
  }

  bool check_bounds() {
    const Variable& v = parameter_.variable;
    const std::string advice = fmt::format("; give bounds: --fit {}=LOWEST:HIGHEST",
                                           parameter_.path);
    if (v.low > v.high) {
      return complain(fmt::format("'{}': the lowest value comes first; found {}:{}",
                                  parameter_.path, values_.front(), values_.back()));
    }
    if (v.low == v.high) {
      return complain(from_.empty()
                          ? fmt::format("'{}': between {} and {} there is nothing to fit",
                                        parameter_.path, values_.front(), values_.back())
                          : fmt::format("'{}' cannot move from {} by {}{}", parameter_.path,
                                        parameter_.start, from_, advice));
    }
    if (v.start < v.low || v.start > v.high) {
      return complain(fmt::format("'{}' starts at {}, outside {}{} to {}{}", parameter_.path,
                                  parameter_.start, from_.empty() ? "" : from_ + ", ",
                                  values_.front(), values_.back(), from_.empty() ? "" : advice));
    }
    return true;
  }

  void set_grid() {
    Variable& v = parameter_.variable;
    int places = kSignificant - 1 - static_cast<int>(std::floor(std::log10(v.scale())));
    if (is_whole(field_.dimension)) { places = 0; }
    if (has_base_units(field_.dimension)) {
      places = std::min(places, static_cast<int>(std::lround(std::log10(per_unit_))));
    }
    parameter_.places = std::max(places, 0);
    v.grid = std::pow(10.0, -parameter_.places);
    // bounds that are written more finely give way inwards
    v.low = std::min(v.start, std::ceil(v.low / v.grid - kRounding) * v.grid);
    v.high = std::max(v.start, std::floor(v.high / v.grid + kRounding) * v.grid);
  }

  static constexpr double kRounding = 1e-6;  // of a step of the grid

  const gpu::Document& plain_;
  const gpu::Document& set_;
  config::Diagnostics& diagnostics_;
  std::vector<std::string> values_;
  std::string from_;  // where bounds come from that the user has not given
  gpu::Field field_;
  double per_unit_ = 1;
  Parameter parameter_;
};

}  // namespace

std::string Parameter::text(double value) const {
  if (value == variable.start) { return start; }
  std::string number = fmt::format("{:.{}f}", value, places);
  if (places > 0) {
    number.erase(number.find_last_not_of('0') + 1);
    if (number.back() == '.') { number.pop_back(); }
  }
  return unit.empty() ? number : number + " " + unit;
}

std::string Parameter::setting(double value) const { return path + "=" + text(value); }

std::vector<Parameter> read_parameters(const std::vector<std::string>& words,
                                       const gpu::Document& plain, const gpu::Document& set,
                                       config::Diagnostics& diagnostics) {
  std::vector<Parameter> parameters;
  for (const std::string& list : words) {
    for (const std::string& word : split_at(list, ',')) {
      auto parameter = Reader(word, plain, set, diagnostics).read();
      if (!parameter) { continue; }
      const bool twice = std::any_of(parameters.begin(), parameters.end(),
                                     [&](const auto& p) { return p.path == parameter->path; });
      if (twice) {
        diagnostics.error(parameter->place, fmt::format("'{}' is given twice", parameter->path));
      } else if (parameters.size() == kMostParameters) {
        diagnostics.error(parameter->place,
                          fmt::format("at most {} values are fitted at once", kMostParameters));
        return parameters;
      } else {
        parameters.push_back(std::move(*parameter));
      }
    }
  }
  return parameters;
}

}  // namespace wavetail::study
