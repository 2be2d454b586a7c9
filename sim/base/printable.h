// SPDX-License-Identifier: Apache-2.0
// What a terminal can be given. A user's text may hold control characters that would move its
// cursor, colour it or end a line; messages that quote such text show '?' instead.
//
//   "a\x1b[31mb\x7f"  ->  "a?[31mb?"
#pragma once

#include <string>
#include <string_view>

namespace wavetail::base {

// Length of the control character at text[at]: below U+0020, or U+007F to U+009F in UTF-8; 0: none.
[[nodiscard]] std::size_t control_at(std::string_view text, std::size_t at);

[[nodiscard]] std::string printable(std::string_view text);

}  // namespace wavetail::base
