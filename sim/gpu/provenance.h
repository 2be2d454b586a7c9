// SPDX-License-Identifier: Apache-2.0
// Where a value of a GPU file comes from and how far it can be trusted. A report carries the
// weakest confidence of the values that its figure rests on.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <string_view>

namespace wavetail::gpu {

// Ordered from strongest to weakest.
enum class Confidence { Measured, Vendor, Derived, Assumed };

[[nodiscard]] std::string_view name(Confidence c);

struct Provenance {
  Confidence confidence = Confidence::Assumed;
  std::string source;  // a citation; empty only where a section's `from` has none
  std::optional<std::string> range_low, range_high;  // as written, for assumed values

  bool operator==(const Provenance&) const = default;
};

// Key: the path below the file's root, e.g. "hbm.bandwidth".
using ProvenanceMap = std::map<std::string, Provenance>;

}  // namespace wavetail::gpu
