// SPDX-License-Identifier: Apache-2.0
// Invariants of the program itself. A broken one is our mistake, never the user's: it stops the
// program with the place and the reason.
#pragma once

#include <source_location>
#include <string_view>

namespace wavetail::base {

// Prints `what` with its place on stderr and aborts.
[[noreturn]] void fail(std::string_view what,
                       std::source_location where = std::source_location::current());

// Aborts unless `holds`; `what` says what should have been true.
inline void check(bool holds, std::string_view what,
                  std::source_location where = std::source_location::current()) {
  if (!holds) [[unlikely]] { fail(what, where); }
}

}  // namespace wavetail::base
