// SPDX-License-Identifier: Apache-2.0
#include "scenario/kernels.h"

#include <algorithm>
#include <array>
#include <cctype>

#include "base/nearest.h"
#include "library/template.h"
#include "scenario/checks.h"
#include "scenario/keys.h"
#include "unit/print.h"

namespace wavetail::scenario {

namespace {

using config::At;
using config::MapReader;
using kernel::Kernel;
using library::Parameter;
using library::ParameterKind;

struct DataKind {
  std::string_view name;
  double randomness;
};

// Small whole numbers keep most bits of a floating-point number at zero: an A100's product of them
// runs at 288 TFLOP/s, of zeros at 295 and of random numbers at 257 (thonking.ai, "strangely,
// matrix multiplications"), a fifth of the way in power.
constexpr std::array kDataKinds{DataKind{"random", 1}, DataKind{"integers", 0.2},
                                DataKind{"zeros", 0}};

config::Key key_of(const Parameter& p) {
  const char* type = p.kind == ParameterKind::Size     ? "size"
                     : p.kind == ParameterKind::Count  ? "count"
                     : p.kind == ParameterKind::Counts ? "count or list of counts"
                                                       : "text";
  return {std::string(p.name), type, p.required, std::string(p.sentence)};
}

// [x, y, ...], or x alone.
void read_counts(const At& at, const Parameter& p, library::Arguments& out) {
  const std::string low = std::to_string(p.low), high = std::to_string(p.high);
  const std::vector<config::Node> one{at.node};
  const std::vector<config::Node>& items = at.node.is_list() ? at.node.items : one;
  if (items.empty() || items.size() > p.most) {
    at.complain("has 1 to " + std::to_string(p.most) + " entries; found " +
                std::to_string(items.size()));
    return;
  }
  std::vector<std::int64_t> counts;
  for (std::size_t i = 0; i < items.size(); ++i) {
    const std::string path = at.node.is_list() ? at.path + "[" + std::to_string(i) + "]" : at.path;
    const auto n = config::quantity<std::int64_t>({items[i], path, at.diagnostics}, {low, high});
    if (n) { counts.push_back(*n); }
  }
  if (counts.size() == items.size()) { out.lists[std::string(p.name)] = counts; }
}

void read_argument(const At& at, const Parameter& p, library::Arguments& out) {
  const std::string name(p.name);
  switch (p.kind) {
    case ParameterKind::Count:
    case ParameterKind::Size: {
      const bool size = p.kind == ParameterKind::Size;
      const auto dimension = size ? unit::Dimension::Size : unit::Dimension::Count;
      const std::string low = unit::print_whole(p.low, dimension),
                        high = unit::print_whole(p.high, dimension);
      if (const auto n = config::whole(at, dimension, {low, p.high > 0 ? high : ""})) {
        out.numbers[name] = *n;
      }
      break;
    }
    case ParameterKind::Flag:
      if (const auto on = config::flag(at)) { out.numbers[name] = *on ? 1 : 0; }
      break;
    case ParameterKind::Choice: {
      const std::vector<std::string> choices(p.choices.begin(), p.choices.end());
      if (const auto index = config::choice(at, choices)) { out.words[name] = choices[*index]; }
      break;
    }
    case ParameterKind::Counts: read_counts(at, p, out); break;
    case ParameterKind::Word:
      if (const auto word = config::text(at)) { out.words[name] = *word; }
      break;
  }
}

const library::Template* find_template(const At& at) {
  const auto name = config::text(at);
  if (!name) { return nullptr; }
  if (const auto* found = library::find_template(*name)) { return found; }
  std::vector<std::string> names;
  for (const auto& t : library::templates()) { names.emplace_back(t.name); }
  at.complain("there is no template '" + *name + "'" + base::hint(*name, names));
  return nullptr;
}

// A template's kernels take the scenario's name: NAME, NAME.combine; so do their private arrays.
void rename(Kernel& k, const std::string& name, const std::string& role) {
  k.name = k.name.empty() ? name : name + "." + k.name;
  k.role = role.empty() ? k.role : role;
  for (kernel::Array& array : k.arrays) {
    array.name = array.name.starts_with(".") ? name + array.name : array.name;
  }
}

std::vector<Kernel> read_template(const At& at, const std::string& name, const gpu::GpuSpec* gpu) {
  const library::Template* which = find_template(
      {*at.node.find("template"), at.path + ".template", at.diagnostics});
  if (which == nullptr) { return {}; }
  config::KeyTable keys{{"template", "text", true, "the template's name"},
                        {"role", "text", false, "what the kernel does in a model, for reports"},
                        data_key()};
  for (const Parameter& p : which->parameters) { keys.push_back(key_of(p)); }
  const std::size_t before = at.diagnostics.count();
  const MapReader map(at.node, at.path, keys, at.diagnostics);
  library::Arguments arguments;
  for (const Parameter& p : which->parameters) {
    if (map.has(p.name)) { read_argument(map.at(p.name), p, arguments); }
  }
  std::string role;
  map.read_text("role", role);
  const double randomness = read_randomness(map);
  if (gpu == nullptr || at.diagnostics.count() != before) { return {}; }
  std::vector<Kernel> made;
  for (const library::Mistake& m : library::build(*which, arguments, *gpu, made)) {
    const config::Node* node = m.parameter.empty() ? nullptr : at.node.find(m.parameter);
    const bool left_out = node == nullptr && !m.parameter.empty();
    const std::string path = m.parameter.empty() ? at.path : config::join(at.path, m.parameter);
    At{node == nullptr ? at.node : *node, path, at.diagnostics}.complain(
        m.message + (left_out ? " (it was left out)" : ""));
  }
  for (Kernel& k : made) {
    if (at.diagnostics.count() == before) { check_launch(at, k, *gpu); }
    rename(k, name, role);
    k.randomness = randomness;
  }
  return made;
}

Kernel read_stand_in(const At& at, const std::string& name) {
  Kernel k;
  k.name = name;
  const MapReader map(at.node, at.path, duration_kernel_keys(), at.diagnostics);
  unit::Duration duration;
  if (map.read("duration", duration, {"1 ps", "1000000 s"})) { k.duration = duration; }
  map.read_text("role", k.role);
  return k;
}

std::vector<Kernel> read_kernel(const At& at, const std::string& name, const gpu::GpuSpec* gpu) {
  if (at.node.find("template") != nullptr) { return read_template(at, name, gpu); }
  if (at.node.find("duration") != nullptr) { return {read_stand_in(at, name)}; }
  const bool own = at.node.find("program") != nullptr || at.node.find("roles") != nullptr ||
                   at.node.find("grid") != nullptr;
  if (!at.node.is_map() || !own) {
    const std::vector<std::string> ways{"template", "program", "roles", "duration"};
    for (const config::Entry& entry : at.node.entries) {
      if (const auto near = base::nearest_word(entry.key, ways)) {
        at.diagnostics.error(entry.place, "unknown key '" + config::join(at.path, entry.key) +
                                              "'; did you mean '" + *near + "'?");
        return {};
      }
    }
    at.complain("a kernel needs 'template', 'program', 'roles' or 'duration'");
    return {};
  }
  return {read_program_kernel(at, name, gpu)};
}

bool is_name(const std::string& text) {
  constexpr std::string_view
      kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";
  return !text.empty() && text.size() <= 64 &&
         text.find_first_not_of(kAllowed) == std::string::npos;
}

}  // namespace

double read_randomness(const MapReader& map) {
  if (!map.has("data")) { return 1; }
  const At at = map.at("data");
  const auto word = config::text(at);
  if (!word) { return 1; }
  for (const DataKind& kind : kDataKinds) {
    if (*word == kind.name) { return kind.randomness; }
  }
  if (!word->empty() && std::isdigit(static_cast<unsigned char>(word->front())) != 0) {
    return config::real(at, unit::Dimension::Fraction, {"0 %", "100 %"}).value_or(1);
  }
  std::vector<std::string> names;
  for (const DataKind& kind : kDataKinds) { names.emplace_back(kind.name); }
  at.refuse("random, integers, zeros or a percentage is needed" + base::hint(*word, names));
  return 1;
}

std::vector<std::string> KernelSet::names() const {
  std::vector<std::string> all;
  for (const auto& [name, indices] : by_name) { all.push_back(name); }
  return all;
}

KernelSet read_kernels(const At& at, const gpu::GpuSpec* gpu) {
  KernelSet set;
  std::vector<Kernel> all;
  SharedArrays arrays;
  if (!at.node.is_map() || at.node.entries.empty()) {
    at.refuse("a map of at least one kernel, by name, is needed");
    return set;
  }
  for (const config::Entry& entry : at.node.entries) {
    if (!is_name(entry.key)) {
      at.diagnostics.error(entry.place,
                           "'" + entry.key.substr(0, 70) +
                               "' is no kernel name; letters, digits, '_' and '-' are allowed");
    }
    const At here{entry.value, config::join(at.path, entry.key), at.diagnostics};
    auto& indices = set.by_name[entry.key];
    for (Kernel& k : read_kernel(here, entry.key, gpu)) {
      check_shared_arrays(here, k, arrays);
      indices.push_back(static_cast<int>(all.size()));
      all.push_back(std::move(k));
    }
  }
  set.kernels = std::move(all);
  return set;
}

}  // namespace wavetail::scenario
