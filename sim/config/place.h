// SPDX-License-Identifier: Apache-2.0
// Where in the user's input something stands. A source is a file, standard input or a command-line
// setting; its text is kept so that a message can show the line.
#pragma once

#include <memory>
#include <string>

namespace wavetail::config {

struct Source {
  std::string name;  // as the user gave it
  std::string text;
  bool option = false;  // an option of the command line: `name` is the option, `text` its value
};

struct Place {
  std::shared_ptr<const Source> source;
  int line = 1;    // from 1
  int column = 1;  // from 1, in bytes
};

// "file.yaml:3:10", "--set gpu.sms=0"
[[nodiscard]] std::string to_string(const Place& place);

}  // namespace wavetail::config
