// SPDX-License-Identifier: Apache-2.0
// Counted things in messages.
#pragma once

#include <concepts>
#include <string>
#include <string_view>

namespace wavetail::base {

// "1 block", "2 blocks".
template <std::integral N>
[[nodiscard]] std::string count_of(N n, std::string_view noun) {
  return std::to_string(n) + " " + std::string(noun) + (n == 1 ? "" : "s");
}

}  // namespace wavetail::base
