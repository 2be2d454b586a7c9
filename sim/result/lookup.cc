// SPDX-License-Identifier: Apache-2.0
#include "result/lookup.h"

#include <array>
#include <concepts>
#include <functional>
#include <optional>
#include <utility>

#include "result/describe.h"

namespace wavetail::result {

namespace {

constexpr std::array<std::pair<std::string_view, std::string_view>, 10> kSuffixes = {{
    {"us", "_us"},
    {"ns", "_ns"},
    {"bytes", "_bytes"},
    {"pct", "_pct"},
    {"GB/s", "_gbps"},
    {"MHz", "_mhz"},
    {"W", "_w"},
    {"ratio", "_ratio"},
    {"FLOP/B", "_flop_per_byte"},
    {"cycles", "_cycles"},
}};

Figure figure(double value, std::string_view unit) { return {value, std::string(unit)}; }

Figure figure(std::int64_t value, std::string_view unit) {
  return {static_cast<double>(value), std::string(unit)};
}

Figure figure(const std::string& value, std::string_view unit) {
  return {value, std::string(unit)};
}

Figure figure(const std::vector<std::string>& words, std::string_view unit) {
  std::string text;
  for (const auto& word : words) { text += (text.empty() ? "" : ", ") + word; }
  return {text, std::string(unit)};
}

template <class T>
Figure figure(const std::optional<T>& value, std::string_view unit) {
  return value ? figure(*value, unit) : Figure{{}, std::string(unit)};
}

// Walks every path of a run, depth first; `visit` gets path (suffixes included), suffix-free path,
// figure. With `only`, kernels and variants that this path does not lead into are passed by: a
// study has thousands of either, and asks as often.
class Walk {
 public:
  using Visit = std::function<void(const std::string&, const std::string&, Figure)>;

  explicit Walk(Visit visit, std::optional<std::string_view> only = {})
      : visit_(std::move(visit)), only_(only) {}

  void run(const RunResult& r, const std::string& prefix) {
    fields(r, prefix);
    fields(r.gaps, prefix + "gaps.");
    links(r.closed_form, prefix + "closed_form.");
    named(r.kernels, &KernelResult::name, prefix + "kernels.",
          [&](const KernelResult& k, const std::string& below) { kernel(k, below); });
    named(r.variants, &RunResult::variant, prefix + "variants.",
          [&](const RunResult& v, const std::string& below) { run(v, below); });
  }

 private:
  // Calls `visit` with the items that are wanted, and the prefix of what is below each.
  template <class T, class F>
  void named(const std::vector<T>& items, std::string T::* name, const std::string& prefix,
             F&& visit) {
    if (only_ && !only_->starts_with(prefix)) { return; }
    const std::string_view rest = only_.value_or(prefix).substr(prefix.size());
    for (const T& item : items) {
      const std::string& word = item.*name;
      const bool leads = rest.size() > word.size() && rest[word.size()] == '.' &&
                         rest.starts_with(word);
      if (!only_ || leads) { visit(item, prefix + word + "."); }
    }
  }

  template <class T>
  void fields(const T& object, const std::string& prefix) {
    describe([&](std::string_view key, const auto& value, std::string_view unit,
                 std::string_view) { leaf(prefix, key, figure(value, unit)); },
             object);
  }

  void links(const std::vector<ChainLink>& chain, const std::string& prefix) {
    for (const auto& link : chain) { leaf(prefix, link.key, figure(link.value, link.unit)); }
  }

  void shares(const std::map<std::string, double>& of, const std::string& prefix) {
    for (const auto& [name, value] : of) { leaf(prefix, name, figure(value, "pct")); }
  }

  void kernel(const KernelResult& k, const std::string& prefix) {
    fields(k, prefix);
    shares(k.stall_pct, prefix + "stall.");
    shares(k.slot_pct, prefix + "slot.");
    shares(k.energy_pct, prefix + "energy.");
    leaf(prefix + "bound.", "name", figure(k.bound.name, ""));
    leaf(prefix + "bound.", "time_us", figure(k.bound.time_us, "us"));
    links(k.bound.chain, prefix + "bound.");
  }

  void leaf(const std::string& prefix, std::string_view key, Figure f) {
    const std::string bare = prefix + std::string(without_suffix(key, f.unit));
    visit_(prefix + std::string(key), bare, std::move(f));
  }

  Visit visit_;
  std::optional<std::string_view> only_;
};

}  // namespace

std::string_view without_suffix(std::string_view key, std::string_view unit) {
  for (const auto& [name, suffix] : kSuffixes) {
    if (name == unit && key.ends_with(suffix)) { return key.substr(0, key.size() - suffix.size()); }
  }
  return key;
}

std::vector<Figure> find_figures(const RunResult& run, std::string_view path) {
  std::vector<Figure> exact;
  std::vector<Figure> bare;
  const auto compare = [&](const std::string& whole, const std::string& without, Figure f) {
    if (whole == path) {
      exact.push_back(std::move(f));
    } else if (without == path) {
      bare.push_back(std::move(f));
    }
  };
  Walk(compare, path).run(run, "");
  return exact.empty() ? bare : exact;
}

std::vector<std::string> paths_near(const RunResult& run, std::string_view path) {
  std::vector<std::string> all;
  Walk([&](const std::string&, const std::string& without, const Figure&) {
    all.push_back(without);
  }).run(run, "");
  for (auto dot = path.rfind('.'); dot != std::string_view::npos; dot = path.rfind('.', dot - 1)) {
    std::vector<std::string> below;
    for (const auto& p : all) {
      if (p.starts_with(path.substr(0, dot + 1))) { below.push_back(p); }
    }
    if (!below.empty()) { return below; }
    if (dot == 0) { break; }
  }
  return all;
}

}  // namespace wavetail::result
