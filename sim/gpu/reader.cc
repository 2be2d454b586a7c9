// SPDX-License-Identifier: Apache-2.0
#include "gpu/reader.h"

#include <algorithm>

#include "gpu/describe.h"
#include "gpu/keys.h"
#include "gpu/rules.h"

namespace wavetail::gpu {

namespace {

// Walks describe() beside the nodes of one section.
struct SectionReader {
  const config::MapReader& map;
  std::string path;
  config::Diagnostics& diagnostics;

  template <class S>
  void section(std::string_view key, S& part, std::string_view) {
    if (!map.has(key)) { return; }
    const std::string here = config::join(path, key);
    const auto keys = section_keys(here);
    const config::MapReader inner(*map.find(key), map.path(key), keys, diagnostics);
    describe(SectionReader{inner, here, diagnostics}, part);
  }

  template <class S>
  void optional_section(std::string_view key, S& part, std::string_view sentence) {
    section(key, part, sentence);
  }

  template <class Q>
  void operator()(std::string_view key, Q& out, config::Range range, std::string_view) {
    map.read(key, out, range);
  }

  void operator()(std::string_view key, Real out, config::Range range, std::string_view) {
    if (map.has(key)) {
      out.value = config::real(map.at(key), out.dimension, range).value_or(out.value);
    }
  }

  template <class Q>
  void operator()(std::string_view key, std::vector<Q>& out, config::Range range,
                  std::string_view) {
    if (map.has(key)) { list(map.at(key), out, range); }
  }

  void operator()(std::string_view key, ClockMode& out, config::Range, std::string_view) {
    pick(key, out);
  }

  void operator()(std::string_view key, WarpPolicy& out, config::Range, std::string_view) {
    pick(key, out);
  }

  template <class E>
  void pick(std::string_view key, E& out) {
    if (map.has(key)) {
      const auto names = choice_names(out);
      const auto index = config::choice(map.at(key), names);
      out = index ? static_cast<E>(*index) : out;
    }
  }

  template <class Q>
  void list(const config::At& at, std::vector<Q>& out, config::Range range) {
    const config::Node& node = config::plain(at.node);
    if (!node.is_list() || node.items.empty()) {
      at.refuse("a list with at least one entry is needed");
      return;
    }
    for (std::size_t i = 0; i < node.items.size(); ++i) {
      const std::string here = at.path + "[" + std::to_string(i) + "]";
      if (const auto value = config::quantity<Q>({node.items[i], here, diagnostics}, range)) {
        out.push_back(*value);
      }
    }
  }
};

void read_word(const config::MapReader& map, std::string_view key, std::string& out) {
  if (map.read_text(key, out) && !is_name(out)) {
    map.at(key).refuse("letters, digits, '.', '_' and '-' are allowed");
  }
}

void read_aliases(const config::MapReader& map, GpuSpec& spec) {
  if (!map.has("aliases")) { return; }
  const config::At at = map.at("aliases");
  if (!at.node.is_list()) {
    at.refuse("a list of names is needed");
    return;
  }
  for (const config::Node& item : at.node.items) {
    if (const auto alias = config::text({item, at.path, at.diagnostics})) {
      spec.aliases.push_back(*alias);
    }
  }
}

void read_schema(const config::MapReader& map) {
  std::string schema;
  if (map.read_text("schema", schema) && schema != "wavetail/gpu/1") {
    map.at("schema").refuse("a GPU file says wavetail/gpu/1");
  }
}

}  // namespace

bool is_name(std::string_view text) {
  constexpr std::string_view
      kAllowed = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
  return !text.empty() && text.size() <= 64 &&
         text.find_first_not_of(kAllowed) == std::string_view::npos;
}

std::optional<GpuSpec> read_gpu(const Document& document, config::Diagnostics& diagnostics) {
  const std::size_t before = diagnostics.count();
  const auto keys = root_keys();
  const config::MapReader map(document.root, "gpu", keys, diagnostics);
  GpuSpec spec;
  read_schema(map);
  read_word(map, "name", spec.name);
  read_word(map, "architecture", spec.architecture);
  read_aliases(map, spec);
  describe(SectionReader{map, "", diagnostics}, spec);
  spec.provenance = document.provenance;
  if (diagnostics.count() == before) { check_rules(spec, document.root, diagnostics); }
  return diagnostics.count() == before ? std::optional(std::move(spec)) : std::nullopt;
}

}  // namespace wavetail::gpu
