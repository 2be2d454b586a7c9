// SPDX-License-Identifier: Apache-2.0
// The text of a GPU file that differs from another one in some values. `base:` names the other one.
// Where that one has a base itself (one level is allowed), its own values are copied and its base
// is named; where it lies outside the search path, so that nobody else finds it, all of it is
// copied.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/diagnostics.h"
#include "gpu/catalog.h"

namespace wavetail::gpu {

struct NewValue {
  std::string path;    // below the root: "hbm.efficiency"
  config::Node value;  // plain
  Confidence confidence = Confidence::Assumed;
  std::string source;
};

struct Variant {
  std::string name, description;
  std::vector<NewValue> values;
};

// `file` is the other one's; nothing where it cannot be read, which is reported then.
[[nodiscard]] std::optional<std::string> variant_text(const Catalog& catalog,
                                                      const std::string& file,
                                                      const Variant& variant,
                                                      config::Diagnostics& diagnostics);

}  // namespace wavetail::gpu
