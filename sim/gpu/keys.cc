// SPDX-License-Identifier: Apache-2.0
#include "gpu/keys.h"

#include <algorithm>

#include "base/nearest.h"
#include "gpu/describe.h"

namespace wavetail::gpu {

namespace {

struct Section {
  std::string path;
  std::string sentence;
  bool required = true;
};

// Walks describe() and notes every field and section.
struct Collector {
  std::vector<Field>& fields;
  std::vector<Section>& sections;
  std::string path;
  bool optional = false;  // the section may be left out

  template <class S>
  void section(std::string_view key, S& part, std::string_view sentence) {
    const std::string here = config::join(path, key);
    sections.push_back({here, std::string(sentence), true});
    describe(Collector{fields, sections, here, optional}, part);
  }

  template <class S>
  void optional_section(std::string_view key, S& part, std::string_view sentence) {
    const std::string here = config::join(path, key);
    sections.push_back({here, std::string(sentence), false});
    describe(Collector{fields, sections, here, true}, part);
  }

  template <class Q>
  void operator()(std::string_view key, Q&, config::Range range, std::string_view sentence) {
    add(key, ValueKind::Number, unit::DimensionOf<Q>::value, range, sentence);
  }

  void operator()(std::string_view key, Real real, config::Range range, std::string_view sentence) {
    add(key, ValueKind::Number, real.dimension, range, sentence);
  }

  template <class Q>
  void operator()(std::string_view key, std::vector<Q>&, config::Range range,
                  std::string_view sentence) {
    add(key, ValueKind::NumberList, unit::DimensionOf<Q>::value, range, sentence);
  }

  void operator()(std::string_view key, ClockMode& mode, config::Range range,
                  std::string_view sentence) {
    add(key, ValueKind::Choice, unit::Dimension::Count, range, sentence).choices = choice_names(
        mode);
    fields.back().required = false;  // says how to run, nothing about the chip
  }

  void operator()(std::string_view key, WarpPolicy& policy, config::Range range,
                  std::string_view sentence) {
    add(key, ValueKind::Choice, unit::Dimension::Count, range, sentence).choices = choice_names(
        policy);
  }

  Field& add(std::string_view key, ValueKind kind, unit::Dimension dimension, config::Range range,
             std::string_view sentence) {
    fields.push_back({config::join(path, key),
                      kind,
                      dimension,
                      std::string(range.low),
                      std::string(range.high),
                      {},
                      true,
                      optional,
                      std::string(sentence)});
    return fields.back();
  }
};

struct Walk {
  std::vector<Field> fields;
  std::vector<Section> sections;
};

Walk walk() {
  Walk all;
  GpuSpec spec;
  describe(Collector{all.fields, all.sections, ""}, spec);
  return all;
}

config::Key from_key() {
  return {"from", "map", false,
          "source and confidence of the values here that say nothing themselves"};
}

// The direct children of a section, in the file's order.
config::KeyTable children(std::string_view path) {
  const Walk all = walk();
  config::KeyTable keys;
  const std::string prefix = path.empty() ? "" : std::string(path) + ".";
  const auto direct = [&](const std::string& p) {
    return p.starts_with(prefix) && p.find('.', prefix.size()) == std::string::npos;
  };
  for (const Field& f : all.fields) {
    if (direct(f.path)) {
      keys.push_back({f.path.substr(prefix.size()), type_name(f), f.required, f.sentence});
    }
  }
  for (const Section& s : all.sections) {
    if (direct(s.path)) {
      keys.push_back({s.path.substr(prefix.size()), "map", s.required, s.sentence});
    }
  }
  return keys;
}

}  // namespace

std::vector<Field> fields() { return walk().fields; }

std::vector<std::string> field_paths() {
  std::vector<std::string> paths;
  for (const Field& f : walk().fields) { paths.push_back(f.path); }
  return paths;
}

config::KeyTable root_keys() {
  config::KeyTable keys{
      {"schema", "text", true, "wavetail/gpu/1"},
      {"name", "text", true, "the name that scenarios use"},
      {"description", "text", false, "one line for lists"},
      {"base", "text", false, "a GPU file whose values hold where this file says nothing"},
      {"aliases", "list of texts", false, "further names, as data files use them"},
      {"architecture", "text", true, "decides which instructions exist: sm_90"},
  };
  const auto rest = children("");
  keys.insert(keys.end(), rest.begin(), rest.end());
  keys.push_back(from_key());
  return keys;
}

config::KeyTable section_keys(std::string_view path) {
  auto keys = children(path);
  keys.push_back(from_key());
  return keys;
}

std::vector<std::string> choice_names(ClockMode) { return {"spec", "boost"}; }

std::vector<std::string> choice_names(WarpPolicy) {
  return {"greedy_then_oldest", "loose_round_robin"};
}

std::string type_name(const Field& field) {
  if (field.kind == ValueKind::Choice) { return "one of " + base::joined(field.choices); }
  const auto names = unit::unit_names(field.dimension);
  std::string text = field.dimension == unit::Dimension::Count ? "count"
                     : field.dimension == unit::Dimension::Number
                         ? "number"
                         : "number in " + base::joined(names);
  return field.kind == ValueKind::NumberList ? "list: " + text : text;
}

}  // namespace wavetail::gpu
