// SPDX-License-Identifier: Apache-2.0
// A GPU file on top of its base, and settings on top of both.
#include <algorithm>

#include "base/nearest.h"
#include "config/value.h"
#include "gpu/keys.h"
#include "gpu/reader.h"
#include "unit/parse.h"

namespace wavetail::gpu {

namespace {

bool is_section(const config::Node& node) { return node.is_map() && !config::is_long(node); }

// Depth is bounded by the loader's limit.
void overlay(config::Node& below, const config::Node& above) {
  for (const config::Entry& entry : above.entries) {
    config::Node* known = below.find(entry.key);
    if (known == nullptr) {
      below.entries.push_back(entry);
    } else if (is_section(*known) && is_section(entry.value)) {
      overlay(*known, entry.value);
    } else {
      *known = entry.value;
    }
  }
}

void drop(config::Node& root, std::string_view key) {
  std::erase_if(root.entries, [&](const config::Entry& e) { return e.key == key; });
}

// Moves the file's own errors to the file: a missing key is missing in the file that was asked for.
void take_places(config::Node& below, const config::Node& above) { below.place = above.place; }

// SMs spread evenly over as many GPCs as before, larger ones first. They come in pairs (TPCs),
// which stay together if their number is even: a cluster of two fits every pair.
config::Node spread(std::int64_t sms, std::int64_t gpcs, const config::Place& place) {
  config::Node list;
  list.kind = config::Node::Kind::List;
  list.place = place;
  const std::int64_t size = sms % 2 == 0 && sms >= 2 * gpcs ? 2 : 1;  // SMs that stay together
  const std::int64_t all = sms / size;
  for (std::int64_t i = 0; i < std::min(all, gpcs); ++i) {
    const std::int64_t here = (all / gpcs + (i < all % gpcs ? 1 : 0)) * size;
    list.items.push_back(config::scalar(std::to_string(here), place));
  }
  return list;
}

std::int64_t present_sms(const config::Node& gpcs) {
  std::int64_t sum = 0;
  for (const config::Node& item : gpcs.items) {
    sum += unit::parse_whole(item.text, unit::Dimension::Count).value.value_or(0);
  }
  return sum;
}

void set_sms(Document& document, const config::Setting& setting, config::Diagnostics& diagnostics) {
  config::Node* gpcs = document.root.find("gpcs");
  if (gpcs == nullptr || !config::plain(*gpcs).is_list()) {
    return;  // the reader reports the list itself
  }
  const config::Node& present = config::plain(*gpcs);
  config::Node value = setting.value;
  if (config::is_factor(value)) {
    const auto product = config::scale(std::to_string(present_sms(present)), value.text);
    if (!product) {
      diagnostics.error(value.place, "'gpu.sms' cannot be scaled: " + product.reason);
      return;
    }
    value.text = *product.value;
  }
  const auto sms = config::whole({value, "gpu.sms", diagnostics}, unit::Dimension::Count,
                                 {"1", "4096"});
  if (sms) { *gpcs = spread(*sms, static_cast<std::int64_t>(present.items.size()), value.place); }
}

bool known_path(const config::Setting& setting, config::Diagnostics& diagnostics) {
  std::vector<std::string> paths{"gpu.sms"};
  for (const std::string& path : field_paths()) { paths.push_back("gpu." + path); }
  if (std::find(paths.begin(), paths.end(), setting.path) != paths.end()) { return true; }
  diagnostics.error(setting.place,
                    "unknown path '" + setting.path + "'" + base::hint(setting.path, paths, false));
  return false;
}

}  // namespace

Document merge(Document base, Document file) {
  drop(base.root, "name");
  drop(base.root, "aliases");
  drop(base.root, "description");
  overlay(base.root, file.root);
  take_places(base.root, file.root);
  for (auto& [path, provenance] : file.provenance) {
    base.provenance[path] = std::move(provenance);
  }
  return base;
}

void apply_settings(Document& document, std::span<const config::Setting> settings,
                    config::Diagnostics& diagnostics) {
  for (const config::Setting& setting : settings) {
    if (!setting.path.starts_with("gpu.") || !known_path(setting, diagnostics)) { continue; }
    const bool sms = setting.path == "gpu.sms";
    if (sms) {
      set_sms(document, setting, diagnostics);
    } else if (!config::apply(document.root, setting, "gpu.", diagnostics)) {
      continue;
    }
    const std::string value = setting.value.is_scalar() ? " = " + setting.value.text : "";
    document.provenance[sms ? "gpcs" : setting.path.substr(4)] = {
        Confidence::Assumed, "set: " + setting.path + value, {}, {}};
  }
}

}  // namespace wavetail::gpu
