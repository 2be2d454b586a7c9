// SPDX-License-Identifier: Apache-2.0
// The program, run from the root of the sources as a script would.
#pragma once

#include <sys/wait.h>

#include <array>
#include <cstdio>
#include <string>

namespace wavetail::tests {

struct Outcome {
  int code = -1;    // -1: it did not exit by itself
  std::string out;  // both streams
};

// `words` are shell; nothing is on standard input unless they say so.
inline Outcome run_program(const std::string& words) {
  const std::string line = "cd '" WAVETAIL_SOURCE_DIR "' && </dev/null '" WAVETAIL_BINARY "' " +
                           words + " 2>&1";
  Outcome outcome;
  std::FILE* pipe = ::popen(line.c_str(), "r");
  if (pipe == nullptr) { return outcome; }
  std::array<char, 4096> piece{};
  while (const std::size_t n = std::fread(piece.data(), 1, piece.size(), pipe)) {
    outcome.out.append(piece.data(), n);
  }
  const int status = ::pclose(pipe);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;
  return outcome;
}

}  // namespace wavetail::tests
