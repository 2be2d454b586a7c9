// SPDX-License-Identifier: Apache-2.0
// The options that commands share, and the reading of a command's words. A command says which of
// them it takes; any other option is refused.
#pragma once

#include <boost/program_options.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "cli/command.h"
#include "config/diagnostics.h"
#include "run/run.h"
#include "scenario/load.h"

namespace wavetail::cli {

enum class Format { Text, Json, Csv, Html };

struct Common {
  Format format = Format::Text;
  std::string out;  // empty: standard output
  std::optional<std::string> gpu;
  std::vector<std::string> sets;
  run::Budget budget;
  int jobs = 1;

  [[nodiscard]] scenario::LoadOptions load_options() const;
};

// Which groups of common options a command takes.
struct Takes {
  bool gpu = false;     // --gpu
  bool set = false;     // --set
  bool budget = false;  // --max-time, --max-events, --max-memory, --jobs
  std::vector<Format> formats = {Format::Text, Format::Json, Format::Csv, Format::Html};
};

class Reader {
 public:
  // `usage` is the line behind "Usage: wavetail "; its first word is the command's name.
  Reader(std::string usage, std::string sentence, Takes takes);

  // For options of the command's own.
  boost::program_options::options_description_easy_init own() { return own_.add_options(); }

  // Positional arguments: `most` of them, -1 for any number; at least one is needed.
  void positional(const std::string& what, int most);

  // Reads the words. False if help was asked for and printed. Throws Mistake.
  [[nodiscard]] bool read(const Words& words);

  [[nodiscard]] bool has(const std::string& name) const { return values_.count(name) != 0; }

  template <class T>
  [[nodiscard]] const T& get(const std::string& name) const {
    return values_[name].as<T>();
  }

  [[nodiscard]] std::string text(const std::string& name) const {
    return has(name) ? get<std::string>(name) : std::string();
  }

  [[nodiscard]] const std::vector<std::string>& arguments() const { return arguments_; }

  [[nodiscard]] const Common& common() const { return common_; }

 private:
  void add_common();
  void store(const Words& words);
  void fill_common();
  [[nodiscard]] std::string help() const;

  std::string usage_, sentence_;
  Takes takes_;
  std::string positional_;
  int most_ = 0;
  boost::program_options::options_description own_, common_options_;
  boost::program_options::variables_map values_;
  std::vector<std::string> arguments_;
  Common common_;
};

// Prints the collected mistakes; always throws (an empty) Mistake.
[[noreturn]] void refuse(const config::Diagnostics& diagnostics);

// The report in the format asked for goes where the options say.
[[nodiscard]] std::string_view name(Format format);

}  // namespace wavetail::cli
