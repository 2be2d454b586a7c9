// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"

#include <cstdio>
#include <cstdlib>

namespace wavetail::base {

void fail(std::string_view what, std::source_location where) {
  std::fprintf(stderr, "wavetail: internal error: %.*s\n  at %s:%u in %s\n",
               static_cast<int>(what.size()), what.data(), where.file_name(),
               static_cast<unsigned>(where.line()), where.function_name());
  std::abort();
}

}  // namespace wavetail::base
