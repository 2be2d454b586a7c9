// SPDX-License-Identifier: Apache-2.0
#include "cli/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>
#include <thread>

#include "base/nearest.h"
#include "cli/output.h"
#include "cli/share.h"
#include "gpu/catalog.h"
#include "unit/parse.h"

namespace wavetail::cli {

namespace po = boost::program_options;

namespace {

constexpr Format kFormats[] = {Format::Text, Format::Json, Format::Csv, Format::Html};

Format parse_format(const std::string& text, const std::vector<Format>& available,
                    std::string_view command) {
  std::vector<std::string> names;
  for (const auto f : available) { names.emplace_back(name(f)); }
  for (const auto f : kFormats) {
    if (name(f) != text) { continue; }
    if (std::find(available.begin(), available.end(), f) != available.end()) { return f; }
    throw Mistake(fmt::format("format {} is not available for {}; there is {}", text, command,
                              base::joined(names)));
  }
  throw Mistake(fmt::format("unknown format '{}'{}; there is {}", text,
                            base::hint(text, names, false), base::joined(names)));
}

// A whole number of base units; a bare number, "2" or "0.5", counts `bare` of them. `form` says how
// a value may look.
std::int64_t positive(const std::string& option, const std::string& text, unit::Dimension dimension,
                      std::int64_t bare, std::string_view form = "") {
  auto value = unit::parse_whole(text, dimension);
  if (!value && dimension != unit::Dimension::Count) {
    if (const auto count = unit::parse_real(text, unit::Dimension::Number)) {
      const double units = *count.value * static_cast<double>(bare);
      value.value = units < 9e18 ? static_cast<std::int64_t>(units) : INT64_MAX;
    }
  }
  if (!value.value) { throw Mistake(fmt::format("'{}': {}{}", option, value.reason, form)); }
  if (*value.value <= 0) {
    throw Mistake(fmt::format("'{}' is {}; it must be above 0", option, text));
  }
  return *value.value;
}

// What people also call an option.
constexpr std::pair<std::string_view, std::string_view> kOtherNames[] = {
    {"--smem", "--shared-memory"}, {"--shmem", "--shared-memory"}, {"--shared", "--shared-memory"},
    {"--regs", "--registers"},     {"--threads", "--block"},       {"--blocks", "--grid"},
    {"--output", "--out"},         {"--timeout", "--max-time"},    {"--arch", "--gpu"},
};

std::string hint_of(const std::string& given, const std::vector<std::string>& known) {
  for (const auto& [other, ours] : kOtherNames) {
    if (other == given && std::find(known.begin(), known.end(), ours) != known.end()) {
      return fmt::format("; did you mean '{}'?", ours);
    }
  }
  return base::hint(given, known);
}

std::string dashed(const std::string& name) { return name.starts_with('-') ? name : "--" + name; }

}  // namespace

std::string_view name(Format format) {
  switch (format) {
    case Format::Text: return "text";
    case Format::Json: return "json";
    case Format::Csv: return "csv";
    case Format::Html: return "html";
  }
  return "text";
}

scenario::LoadOptions Common::load_options() const {
  scenario::LoadOptions options{.sets = sets, .gpu = gpu, .folders = gpu::default_folders()};
  if (gpu && gpu::is_file_name(*gpu)) { options.gpu = found(*gpu); }
  return options;
}

Reader::Reader(std::string usage, std::string sentence, Takes takes)
    : usage_(std::move(usage)),
      sentence_(std::move(sentence)),
      takes_(std::move(takes)),
      own_("Options"),
      common_options_("Common options") {}

void Reader::positional(const std::string& what, int most) {
  positional_ = what;
  most_ = most;
}

void Reader::add_common() {
  std::string formats;
  for (const auto f : takes_.formats) {
    formats += fmt::format("{}{}", formats.empty() ? "" : " | ", name(f));
  }
  auto add = common_options_.add_options();
  add("format", po::value<std::string>()->value_name("FORMAT"), formats.c_str());
  add("out", po::value<std::string>()->value_name("FILE"),
      "write the result there, whole or not at all");
  if (takes_.gpu) {
    add("gpu", po::value<std::string>()->value_name("NAME|FILE"),
        "a GPU of `wavetail list gpus`, or a file");
  }
  if (takes_.set) {
    add("set", po::value<std::vector<std::string>>()->value_name("PATH=VALUE"),
        "set a value, or multiply it: --set gpu.hbm.bandwidth=x2 (repeatable)");
  }
  if (takes_.budget) {
    add("max-time", po::value<std::string>()->value_name("TIME"),
        "wall time, as 90 s (a bare number: seconds)");
    add("max-events", po::value<std::string>()->value_name("N"), "simulated events");
    add("max-memory", po::value<std::string>()->value_name("SIZE"),
        "memory, as 2 GiB (a bare number: bytes)");
    add("jobs", po::value<std::string>()->value_name("N"),
        "threads; the result does not depend on it");
  }
  add("help,h", "this text");
}

void Reader::store(const Words& words) {
  po::options_description hidden;
  hidden.add_options()("argument", po::value<std::vector<std::string>>());
  po::options_description all;
  all.add(own_).add(common_options_).add(hidden);
  po::positional_options_description positions;
  if (most_ != 0) { positions.add("argument", most_); }
  const int style = po::command_line_style::unix_style & ~po::command_line_style::allow_guessing;
  const auto
      parsed = po::command_line_parser(words).options(all).positional(positions).style(style).run();
  for (const auto& option : parsed.options) {  // the hidden name is not for the user
    if (option.string_key == "argument" && option.position_key < 0) {
      throw po::unknown_option("argument");
    }
  }
  po::store(parsed, values_);
  if (has("argument")) { arguments_ = get<std::vector<std::string>>("argument"); }
}

bool Reader::read(const Words& words) {
  add_common();
  try {
    store(words);
  } catch (const po::unknown_option& e) {
    std::vector<std::string> known;
    for (const auto* group : {&own_, &common_options_}) {
      for (const auto& option : group->options()) { known.push_back("--" + option->long_name()); }
    }
    const auto given = dashed(e.get_option_name());
    throw Mistake(fmt::format("unknown option '{}'{}", given, hint_of(given, known)));
  } catch (const po::too_many_positional_options_error&) {
    throw Mistake(most_ == 0 ? "takes no arguments, only options; see --help"
                             : fmt::format("takes one {}; see --help", positional_));
  } catch (const po::multiple_occurrences& e) {
    throw Mistake(fmt::format("option '{}' is given more than once", dashed(e.get_option_name())));
  } catch (const po::invalid_command_line_syntax& e) {
    throw Mistake(
        fmt::format("option '{}': a value is {}", dashed(e.get_option_name()),
                    e.kind() == po::invalid_syntax::extra_parameter ? "not taken" : "missing"));
  } catch (const po::error& e) { throw Mistake(e.what()); }
  if (has("help")) {
    print(help());
    return false;
  }
  if (most_ != 0 && arguments_.empty()) {
    throw Mistake(fmt::format("{} is missing; see --help", positional_));
  }
  fill_common();
  return true;
}

void Reader::fill_common() {
  const auto command = usage_.substr(0, usage_.find(' '));
  common_.format = has("format") ? parse_format(text("format"), takes_.formats, command)
                                 : takes_.formats.front();
  common_.out = text("out");
  if (has("out") && common_.out.empty()) { throw Mistake("'--out' names no file"); }
  check_writable("--out", common_.out);
  if (takes_.gpu && has("gpu")) { common_.gpu = text("gpu"); }
  if (takes_.set && has("set")) { common_.sets = get<std::vector<std::string>>("set"); }
  if (!takes_.budget) { return; }
  if (has("max-time")) {
    constexpr std::int64_t kSecond = 1'000'000'000'000;
    common_.budget.max_time_s = unit::seconds(unit::Duration{
        positive("--max-time", text("max-time"), unit::DimensionOf<unit::Duration>::value, kSecond,
                 "; write 90 s, 500 ms, or a bare number of seconds")});
  }
  if (has("max-events")) {
    common_.budget.max_events = positive("--max-events", text("max-events"), unit::Dimension::Count,
                                         1);
  }
  if (has("max-memory")) {
    common_.budget.max_memory_bytes = positive("--max-memory", text("max-memory"),
                                               unit::DimensionOf<unit::Bytes>::value, 1,
                                               "; write 2 GiB, 500 MB, or a bare number of bytes");
  }
  common_.jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  if (has("jobs")) {
    const auto jobs = positive("--jobs", text("jobs"), unit::Dimension::Count, 1);
    if (jobs > 1024) { throw Mistake(fmt::format("'--jobs' is {}; allowed 1 to 1024", jobs)); }
    common_.jobs = static_cast<int>(jobs);
  }
}

std::string Reader::help() const {
  std::ostringstream text;
  text << "Usage: wavetail " << usage_ << "\n\n" << sentence_ << "\n\n";
  if (!own_.options().empty()) { text << own_ << "\n"; }
  text << common_options_;
  return text.str();
}

void refuse(const config::Diagnostics& diagnostics) {
  std::cerr << diagnostics.render();
  throw Mistake("");
}

}  // namespace wavetail::cli
