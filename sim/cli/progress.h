// SPDX-License-Identifier: Apache-2.0
// A bar on one line of the terminal while simulations run: on standard error, and only there.
#pragma once

#include <cstddef>
#include <string_view>

namespace wavetail::cli {

// Whether anybody would see it.
[[nodiscard]] bool shows_progress();

// `what` is being done; all `total` of it done wipes the line.
void show_progress(std::size_t done, std::size_t total, std::string_view what);

}  // namespace wavetail::cli
