// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>
#include <string>

namespace wavetail::cli {

bool shows_progress() { return isatty(STDERR_FILENO) != 0; }

void show_progress(std::size_t done, std::size_t total, std::string_view what) {
  constexpr std::size_t kWidth = 40;
  const std::size_t full = kWidth * done / total;
  std::cerr << fmt::format("\r\033[K[{:<{}}] {} of {} {}", std::string(full, '#'), kWidth, done,
                           total, what);
  if (done == total) { std::cerr << "\r\033[K"; }
  std::cerr.flush();
}

}  // namespace wavetail::cli
