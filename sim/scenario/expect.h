// SPDX-License-Identifier: Apache-2.0
// The `expect` section: which figures a run must show. Paths are checked when the file is read,
// against the figures that a result of this scenario will have.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "config/value.h"
#include "scenario/scenario.h"

namespace wavetail::scenario {

// `expect: {error: "part of the message"}`: a file that must be refused. Null if `expect` says
// nothing of the kind.
[[nodiscard]] const config::Node* expected_error(const config::Node& root);

// Every expectation of the file; `study` has its base and variants already, whose kernels and names
// say which figures there will be. In a path a variant's name may be written without its spaces
// (4KiB).
[[nodiscard]] std::vector<Expectation> read_expectations(const config::At& at, const Study& study);

}  // namespace wavetail::scenario
