// SPDX-License-Identifier: Apache-2.0
// The commands of `wavetail`, one file each. A command gets its words, prints through cli/output.h
// and returns the exit code; a mistake of the user is thrown as Mistake and ends in exit code 2.
#pragma once

#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace wavetail::cli {

// Exit codes, fixed by the interface.
enum Exit : int { kOk = 0, kMissed = 1, kMistake = 2, kHang = 3, kBudget = 4 };

// The user's mistake, worded to follow "wavetail COMMAND: "; an empty text has been said already.
struct Mistake : std::runtime_error {
  using std::runtime_error::runtime_error;
};

// A signal asked for an end while a file was being read; ends in exit code 4.
struct Interrupted : std::runtime_error {
  using std::runtime_error::runtime_error;
};

using Words = std::vector<std::string>;

struct Command {
  std::string_view name;
  std::string_view arguments;  // for the list of commands
  std::string_view sentence;
  int (*run)(const Words& words);
};

[[nodiscard]] int run(const Words& words);
[[nodiscard]] int check(const Words& words);
[[nodiscard]] int explain(const Words& words);
[[nodiscard]] int occupancy(const Words& words);
[[nodiscard]] int validate(const Words& words);
[[nodiscard]] int calibrate(const Words& words);
[[nodiscard]] int list(const Words& words);
[[nodiscard]] int schema(const Words& words);

[[nodiscard]] std::span<const Command> commands();

// The program: dispatches argv[1] and returns the exit code.
[[nodiscard]] int main(int argc, const char* const* argv, std::string_view version);

}  // namespace wavetail::cli
