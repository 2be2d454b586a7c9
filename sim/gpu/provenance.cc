// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "gpu/keys.h"
#include "gpu/reader.h"

namespace wavetail::gpu {

namespace {

const config::KeyTable& from_keys() {
  static const config::KeyTable keys{
      {"source", "text", true, "where the values come from"},
      {"confidence", "text", true, "measured, vendor, derived or assumed"},
  };
  return keys;
}

// Walks sections with the provenance that holds where a value says nothing.
class Walker {
 public:
  Walker(config::Diagnostics& diagnostics, ProvenanceMap& found)
      : diagnostics_(diagnostics), found_(found) {}

  void section(const config::Node& node, const std::string& path, Provenance around) {
    if (const config::Node* from = node.find("from")) {
      const config::MapReader reader(*from, "gpu." + config::join(path, "from"), from_keys(),
                                     diagnostics_);
      around = statement(reader, around);
    }
    for (const config::Entry& entry : node.entries) {
      const std::string here = config::join(path, entry.key);
      if (entry.key == "from" || (path.empty() && !is_value(entry))) { continue; }
      if (entry.value.is_map() && !config::is_long(entry.value)) {
        section(entry.value, here, around);
      } else {
        found_[here] = value(entry.value, here, around);
      }
    }
  }

 private:
  // At the root: sections and the list of GPCs, not name, schema and the like.
  static bool is_value(const config::Entry& entry) {
    return entry.key == "gpcs" || entry.value.is_map();
  }

  Provenance value(const config::Node& node, const std::string& path, const Provenance& around) {
    if (!config::is_long(node)) { return around; }
    const config::MapReader reader(node, "gpu." + path, config::long_keys(), diagnostics_);
    Provenance own = statement(reader, around);
    if (reader.has("range")) {
      const bool known = own.confidence == Confidence::Measured ||
                         own.confidence == Confidence::Vendor;
      if (known) {
        reader.at("range").complain("a value that is " + std::string(name(own.confidence)) +
                                    " has no range; it says what sources leave open of an assumed "
                                    "or derived one");
      }
      range(reader.at("range"), own);
    }
    return own;
  }

  static Provenance statement(const config::MapReader& reader, Provenance around) {
    const bool has_source = reader.read_text("source", around.source);
    if (!reader.has("confidence")) { return around; }
    if (!has_source) { around.source.clear(); }
    if (const auto c = config::choice(reader.at("confidence"), config::confidence_names())) {
      around.confidence = static_cast<Confidence>(*c);
    }
    return around;
  }

  static void range(const config::At& at, Provenance& own) {
    if (!at.node.is_list() || at.node.items.size() != 2 || !at.node.items[0].is_scalar() ||
        !at.node.items[1].is_scalar()) {
      at.complain("a list of two values is needed: [lowest, highest]");
      return;
    }
    own.range_low = at.node.items[0].text;
    own.range_high = at.node.items[1].text;
  }

  config::Diagnostics& diagnostics_;
  ProvenanceMap& found_;
};

}  // namespace

ProvenanceMap read_provenance(const config::Node& root, config::Diagnostics& diagnostics) {
  ProvenanceMap found;
  Walker(diagnostics, found).section(root, "", Provenance{});
  return found;
}

}  // namespace wavetail::gpu
