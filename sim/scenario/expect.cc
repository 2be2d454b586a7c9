// SPDX-License-Identifier: Apache-2.0
#include "scenario/expect.h"

#include <algorithm>
#include <array>
#include <initializer_list>
#include <map>

#include "base/nearest.h"
#include "config/reader.h"
#include "result/describe.h"
#include "result/lookup.h"
#include "scenario/keys.h"
#include "scenario/words.h"

namespace wavetail::scenario {

namespace {

using config::At;
using config::MapReader;
using result::RunResult;
using unit::Dimension;

// A unit that results use, how it is written in a file, and its size in the dimension's base unit.
struct ResultUnit {
  std::string_view name;
  Dimension dimension;
  double base_units;
};

constexpr std::array kUnits{
    ResultUnit{"us", Dimension::TimeSpan, 1e6},    ResultUnit{"ns", Dimension::TimeSpan, 1e3},
    ResultUnit{"bytes", Dimension::Size, 1},       ResultUnit{"pct", Dimension::Percent, 1},
    ResultUnit{"GB/s", Dimension::DataRate, 1e9},  ResultUnit{"MHz", Dimension::Frequency, 1e6},
    ResultUnit{"W", Dimension::Power, 1},          ResultUnit{"cycles", Dimension::CycleCount, 1},
    ResultUnit{"TFLOP/s", Dimension::FlopRate, 1}, ResultUnit{"mJ", Dimension::Energy, 1e12}};

// What the result of a scenario will hold, without values: for looking up paths.
RunResult skeleton(const Scenario& scenario) {
  RunResult run;
  for (const kernel::Kernel& k : scenario.kernels) {
    result::KernelResult r;
    r.name = k.name;
    const auto stall = [&](std::string_view key, auto&&, std::string_view, std::string_view) {
      r.stall_pct[std::string(key)] = 0;
    };
    const auto slot = [&](std::string_view key, auto&&, std::string_view, std::string_view) {
      r.slot_pct[std::string(key)] = 0;
    };
    const auto energy = [&](std::string_view key, auto&&, std::string_view, std::string_view) {
      r.energy_pct[std::string(key)] = 0;
    };
    describe(energy, result::Energy{});
    describe(stall, r.counters.stalls);
    describe(slot, r.counters.slots);
    run.kernels.push_back(std::move(r));
  }
  return run;
}

RunResult skeleton(const Study& study) {
  RunResult run = skeleton(study.base);
  for (const Variant& v : study.variants) {
    run.variants.push_back(skeleton(v.scenario));
    run.variants.back().variant = v.name;
  }
  return run;
}

// Variants by their names without spaces.
class CloseNames {
 public:
  explicit CloseNames(const RunResult& run) {
    for (const RunResult& variant : run.variants) {
      std::string close = variant.variant;
      std::erase(close, ' ');
      full_.emplace(std::move(close), variant.variant);
    }
  }

  // "variants.4KiB.time" -> "variants.4 KiB.time" where that is the variant's name. A name may hold
  // dots: the longest that fits is meant.
  [[nodiscard]] std::string spelled_out(const std::string& path) const {
    constexpr std::string_view kSection = "variants.";
    if (!path.starts_with(kSection)) { return path; }
    for (auto dot = path.rfind('.'); dot >= kSection.size(); dot = path.rfind('.', dot - 1)) {
      const auto known = full_.find(path.substr(kSection.size(), dot - kSection.size()));
      if (known != full_.end()) { return std::string(kSection) + known->second + path.substr(dot); }
    }
    return path;
  }

 private:
  std::map<std::string, std::string> full_;
};

// Takes the words off the front of the path; false, and nothing taken, if it begins otherwise.
bool take(std::string_view& path, std::initializer_list<std::string_view> words) {
  std::string_view rest = path;
  for (const std::string_view word : words) {
    if (!rest.starts_with(word)) { return false; }
    rest.remove_prefix(word.size());
  }
  path = rest;
  return true;
}

// Links of a closed-form chain are named by the chain itself.
bool names_a_chain(const RunResult& run, std::string_view path) {
  for (const RunResult& variant : run.variants) {
    if (take(path, {"variants.", variant.variant, "."})) { return names_a_chain(variant, path); }
  }
  const auto of_kernel = [&](const auto& k) { return take(path, {"kernels.", k.name, ".bound."}); };
  return std::any_of(run.kernels.begin(), run.kernels.end(), of_kernel) ||
         path.starts_with("closed_form.");
}

// Whether some kernel or variant could have such a figure, whatever its name.
bool may_exist(std::string_view path) {
  std::string_view rest = path;
  const bool variant = take(rest, {"variants."});
  if (!variant && !take(rest, {"kernels."})) {
    return !result::find_figures(RunResult{}, path).empty() || path.starts_with("closed_form.");
  }
  Scenario any;
  kernel::Kernel one;
  for (auto dot = rest.find('.'); dot != std::string_view::npos; dot = rest.find('.', dot + 1)) {
    const std::string_view below = rest.substr(dot + 1);
    one.name = std::string(rest.substr(0, dot));
    any.kernels = {one};
    if (variant
            ? may_exist(below)
            : below.starts_with("bound.") || !result::find_figures(skeleton(any), path).empty()) {
      return true;
    }
  }
  return false;
}

class ExpectReader {
 public:
  ExpectReader(RunResult run, config::Diagnostics& diagnostics)
      : run_(std::move(run)),
        names_(run_),
        complete_(diagnostics.ok()),
        diagnostics_(diagnostics) {}

  std::optional<Expectation> read(const config::Entry& entry, const At& at) {
    Expectation e;
    e.path = names_.spelled_out(entry.key);
    e.place = config::to_string(entry.place);
    if (!known(e.path, entry.place)) { return std::nullopt; }
    if (is_text(e.path)) {
      text(at, e);
    } else if (at.node.is_map()) {
      map(at, e);
    } else {
      e.value = number(at, e);
      e.wanted = config::plain(at.node).text;
    }
    return e;
  }

 private:
  bool known(const std::string& path, const config::Place& place) {
    if (!result::find_figures(run_, path).empty() || names_a_chain(run_, path)) { return true; }
    // Kernels with mistakes are not there: being of one of them is no mistake of the expectation's.
    if (!complete_ && may_exist(path)) { return false; }
    const auto near = result::paths_near(run_, path);
    diagnostics_.error(place, "unknown figure '" + path + "'" + base::hint(path, near, false));
    return false;
  }

  bool is_text(const std::string& path) {
    const auto figures = result::find_figures(run_, path);
    return !figures.empty() && std::holds_alternative<std::string>(figures.front().value);
  }

  // A number in the unit of the result's key; of several that the path may mean, the one whose unit
  // fits.
  std::optional<double> number(const At& at, Expectation& e) {
    const config::Node& node = config::plain(at.node);
    if (e.ratio_to) { return bare_or_percent(at, e); }
    std::vector<std::string> units;
    for (const auto& figure : result::find_figures(run_, e.path)) { units.push_back(figure.unit); }
    if (units.empty() && node.is_scalar()) {
      units.push_back(
          unit_as_written(node.text));  // a chain's link has the unit that the file gives it
    }
    if (units.empty() || !node.is_scalar()) {
      at.refuse("a number is needed");
      return std::nullopt;
    }
    for (const std::string& unit : units) {
      config::Diagnostics attempt;
      if (const auto value = in_unit({at.node, at.path, attempt}, unit)) {
        e.unit = unit;
        return value;
      }
    }
    return in_unit(at, units.front());
  }

  static std::optional<double> bare_or_percent(const At& at, Expectation& e) {
    const config::Node& node = config::plain(at.node);
    const bool percent = node.is_scalar() && node.text.ends_with("%");
    e.unit = percent ? "pct" : "";
    return config::real(at, percent ? Dimension::Percent : Dimension::Number);
  }

  static std::optional<double> in_unit(const At& at, std::string_view unit) {
    const auto it = std::find_if(kUnits.begin(), kUnits.end(),
                                 [&](const auto& u) { return u.name == unit; });
    if (it == kUnits.end()) { return config::real(at, Dimension::Number); }
    const auto value = config::real(at, it->dimension);
    return value ? std::optional(*value / it->base_units) : std::nullopt;
  }

  static std::string unit_as_written(std::string_view text) {
    for (const ResultUnit& u : kUnits) {
      if (unit::parse_real(text, u.dimension) && !unit::parse_real(text, Dimension::Number)) {
        return std::string(u.name);
      }
    }
    return "";
  }

  void text(const At& at, Expectation& e) {
    e.kind = Expectation::Kind::Text;
    if (at.node.is_map()) {
      const MapReader map(at.node, at.path, expectation_keys(), diagnostics_);
      known_miss(map, e);
      if (!map.has("value")) {
        at.complain("the figure is a text; 'value' is needed");
        return;
      }
    }
    const config::Node& node = config::plain(at.node);
    for (const config::Node& item : node.items) {
      e.text += (e.text.empty() ? "" : ", ") + word({item, at.path, diagnostics_}, e.path);
    }
    if (!node.is_list()) { e.text = word({node, at.path, diagnostics_}, e.path); }
    e.wanted = e.text;
  }

  // One of the words that the figure can be; a text may join several of them as results do.
  static std::string word(const At& at, const std::string& path) {
    const auto all = words_of(path);
    const auto text = config::text(at);
    if (!text || all.empty()) { return text.value_or(""); }
    for (std::string_view rest = *text; !rest.empty();) {
      const auto end = std::min(rest.find(", "), rest.size());
      config::Node one = at.node;
      one.text = std::string(rest.substr(0, end));
      if (!config::choice({one, at.path, at.diagnostics}, all)) { return {}; }
      rest.remove_prefix(std::min(end + 2, rest.size()));
    }
    return *text;
  }

  void known_miss(const MapReader& map, Expectation& e) {
    std::string id;
    if (!map.read_text("known_miss", id)) { return; }
    const auto ids = deviation_ids();
    if (std::find(ids.begin(), ids.end(), id) == ids.end()) {
      map.at("known_miss")
          .complain("'" + id + "' is no id of docs/deviations.md" + base::hint(id, ids, false));
      return;
    }
    e.known_miss = id;
  }

  void map(const At& at, Expectation& e) {
    const std::size_t before = diagnostics_.count();
    const MapReader map(at.node, at.path, expectation_keys(), diagnostics_);
    known_miss(map, e);
    std::string denominator;
    const bool given = map.read_text("ratio_to", denominator);
    denominator = names_.spelled_out(denominator);
    if (given && known(denominator, map.find("ratio_to")->place)) { e.ratio_to = denominator; }
    if (map.has("ratio_to") && !e.ratio_to) { return; }
    bound(map, "value", "", e, e.value);
    if (map.has("within")) {
      e.within_pct = config::real(map.at("within"), Dimension::Percent, {"0 %", "1000 %"});
      e.wanted += " within " + map.find("within")->text;
    }
    bound(map, "at_least", "at least ", e, e.at_least);
    bound(map, "at_most", "at most ", e, e.at_most);
    if (e.at_least && e.at_most && *e.at_least > *e.at_most) {
      map.at("at_most").complain("'at_most' lies below 'at_least'; nothing can be both");
    }
    if (diagnostics_.count() == before) { check_form(map, at); }
  }

  static void check_form(const MapReader& map, const At& at) {
    const bool range = map.has("at_least") || map.has("at_most");
    if (!map.has("value") && map.has("within")) {
      map.at("within").complain("'within' is a tolerance of 'value', which is missing");
    } else if (!map.has("value") && !range) {
      at.complain("one of 'value', 'at_least', 'at_most' is needed");
    } else if (map.has("value") && range) {
      at.complain("'value' stands alone or with 'within'; 'at_least' and 'at_most' are a range");
    }
  }

  void bound(const MapReader& map, std::string_view key, std::string_view words, Expectation& e,
             std::optional<double>& out) {
    if (!map.has(key)) { return; }
    out = number(map.at(key), e);
    e.wanted += (e.wanted.empty() ? "" : ", ") + std::string(words) +
                config::plain(*map.find(key)).text + (e.ratio_to ? " x " + *e.ratio_to : "");
  }

  RunResult run_;
  CloseNames names_;
  bool complete_;  // every kernel could be read
  config::Diagnostics& diagnostics_;
};

}  // namespace

const config::Node* expected_error(const config::Node& root) {
  const config::Node* expect = root.find("expect");
  return expect == nullptr ? nullptr : expect->find("error");
}

std::vector<Expectation> read_expectations(const At& at, const Study& study) {
  std::vector<Expectation> all;
  if (!at.node.is_map()) {
    at.refuse("a map of figures, by path, is needed");
    return all;
  }
  ExpectReader reader(skeleton(study), at.diagnostics);
  for (const config::Entry& entry : at.node.entries) {
    const At here{entry.value, config::join(at.path, entry.key), at.diagnostics};
    if (auto e = reader.read(entry, here)) { all.push_back(std::move(*e)); }
  }
  return all;
}

}  // namespace wavetail::scenario
