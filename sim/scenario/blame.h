// SPDX-License-Identifier: Apache-2.0
// Which `--set` brings a mistake about. A setting can break a rule between values, or a kernel that
// fitted before; the mistake is then found at the line of a file that is sound without it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "config/diagnostics.h"

namespace wavetail::scenario {

// Reads everything with these settings of the command line and collects the mistakes.
using Reread = std::function<void(const std::vector<std::string>& sets, config::Diagnostics&)>;

// The same mistakes; one that appears with the n-th setting and not with those before it gets that
// setting as its place, and the place where it was found in front of its message.
[[nodiscard]] config::Diagnostics blamed(const config::Diagnostics& found,
                                         const std::vector<std::string>& sets,
                                         const Reread& reread);

}  // namespace wavetail::scenario
