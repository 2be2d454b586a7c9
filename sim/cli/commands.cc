// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <array>
#include <csignal>
#include <iostream>
#include <new>

#include "base/nearest.h"
#include "base/printable.h"
#include "cli/command.h"
#include "cli/output.h"

namespace wavetail::cli {

namespace {

constexpr std::array kCommands = {
    Command{"run", "SCENARIO", "simulate a scenario and report", run},
    Command{"check", "PATH...", "run scenarios and judge what they expect", check},
    Command{"explain", "SCENARIO", "what binds each kernel, by how much, what would help", explain},
    Command{"occupancy", "--gpu G --block N ...", "blocks and warps per SM, and what limits them",
            occupancy},
    Command{"validate", "FILE.csv", "predict every row of a measurement file, and the error",
            validate},
    Command{"calibrate", "--gpu G FILE.csv ...",
            "fit values of a GPU to measurements, with uncertainty", calibrate},
    Command{"list", "WHAT",
            "gpus, architectures, workloads, templates, metrics, instructions, mechanisms, "
            "protocols",
            list},
    Command{"schema", "WHAT", "JSON Schema of a gpu or scenario file or of a result", schema},
};

std::string help() {
  std::string
      text = "A cycle-approximate simulator of GPU performance.\n\nUsage: wavetail COMMAND ...\n\n";
  for (const auto& c : kCommands) {
    text += fmt::format("  {:<10} {:<22} {}\n", c.name, c.arguments, c.sentence);
  }
  return text +
         "\n`wavetail COMMAND --help` lists a command's options; `wavetail --version` the "
         "version.\n"
         "Exit codes: 0 ok; 1 an expectation missed; 2 a mistake in what was given; 3 a hang;\n"
         "4 a budget was used up or the run was interrupted.\n";
}

int unknown(const std::string& word) {
  std::vector<std::string> names;
  for (const auto& c : kCommands) { names.emplace_back(c.name); }
  std::cerr << fmt::format("wavetail: unknown command '{}'{}\nCommands: {}\n",
                           base::printable(word), base::hint(word, names, false),
                           base::joined(names));
  return kMistake;
}

int dispatch(const Command& command, const Words& words) {
  try {
    return command.run(words);
  } catch (const Mistake& m) {
    if (*m.what() != '\0') {
      std::cerr << fmt::format("wavetail {}: {}\n", command.name, base::printable(m.what()));
    }
    return kMistake;
  } catch (const Interrupted& i) {
    std::cerr << fmt::format("wavetail {}: {}\n", command.name, i.what());
    return kBudget;
  } catch (const std::bad_alloc&) {
    std::cerr << fmt::format("wavetail {}: out of memory\n", command.name);
    return kBudget;
  }
}

}  // namespace

std::span<const Command> commands() { return kCommands; }

int main(int argc, const char* const* argv, std::string_view version) {
  std::signal(SIGPIPE, SIG_IGN);  // a reader that goes away shows as a failed write
  const Words words(argv + 1, argv + argc);
  try {
    if (words.empty()) {
      std::cerr << help();
      return kMistake;
    }
    const auto& word = words.front();
    if (word == "--help" || word == "-h" || word == "help") {
      print(help());
      return kOk;
    }
    if (word == "--version") {
      print(fmt::format("wavetail {}\n", version));
      return kOk;
    }
    for (const auto& c : kCommands) {
      if (c.name == word) { return dispatch(c, {words.begin() + 1, words.end()}); }
    }
    return unknown(word);
  } catch (const Mistake& m) {
    std::cerr << fmt::format("wavetail: {}\n", m.what());
    return kMistake;
  }
}

}  // namespace wavetail::cli
