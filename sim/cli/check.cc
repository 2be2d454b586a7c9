// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <thread>

#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/share.h"
#include "cli/simulate.h"
#include "report/html.h"
#include "report/junit.h"

namespace wavetail::cli {

namespace {

namespace fs = std::filesystem;
namespace po = boost::program_options;
using report::Checked;

bool is_scenario(const fs::path& path) {
  return path.extension() == ".yaml" || path.extension() == ".yml";
}

// Files as given; folders as the sorted list of the scenarios below them.
std::vector<std::string> files_of(const std::vector<std::string>& paths) {
  std::vector<std::string> files;
  for (const auto& given : paths) {
    const std::string path = found(given);
    std::error_code error;
    if (path == "-" || !fs::is_directory(path, error)) {
      if (path != "-" && !fs::exists(path, error)) {
        throw Mistake(fmt::format("{}:1:1: error: there is no such file or folder", path));
      }
      files.push_back(path);
      continue;
    }
    std::vector<std::string> below;
    for (fs::recursive_directory_iterator it(path, error), end; !error && it != end;
         it.increment(error)) {
      if (it->is_regular_file(error) && is_scenario(it->path())) {
        below.push_back(it->path().string());
      }
    }
    if (error) { throw Mistake(fmt::format("cannot read folder '{}': {}", path, error.message())); }
    if (below.empty()) { throw Mistake(fmt::format("no scenario (*.yaml) below '{}'", path)); }
    std::sort(below.begin(), below.end());
    files.insert(files.end(), below.begin(), below.end());
  }
  return files;
}

struct Judged {
  Checked checked;
  int code = kOk;
};

Judged judge_refusal(const std::string& file, const scenario::ExpectedError& expected) {
  Judged j{{.file = file, .status = {}, .problem = "", .expectations = {}}};
  const bool good = refused_as_expected(expected);
  j.checked.expectations = {{.path = "error",
                             .wanted = expected.text,
                             .got = expected.refusal.empty() ? "no error" : "another refusal",
                             .verdict = good ? result::Verdict::Passed : result::Verdict::Failed,
                             .known_miss = "",
                             .place = expected.place}};
  if (!good) { j.checked.problem = expected.refusal; }
  j.checked.status = good ? report::CheckStatus::Passed : report::CheckStatus::Failed;
  j.code = good ? kOk : kMissed;
  return j;
}

Judged judge_file(const std::string& file, const Common& common,
                  const std::atomic<bool>* cancelled) {
  config::Diagnostics diagnostics;
  auto options = common.load_options();
  options.cancelled = cancelled;
  const auto study = scenario::load_study(file, options, diagnostics);
  if (cancelled->load()) {
    return {{.file = file,
             .status = report::CheckStatus::Failed,
             .problem = std::string(kInterruptedLoading),
             .expectations = {}},
            kBudget};
  }
  if (!study) {
    return {{.file = file,
             .status = report::CheckStatus::Failed,
             .problem = diagnostics.render(),
             .expectations = {}},
            kMistake};
  }
  if (study->expected_error) { return judge_refusal(file, *study->expected_error); }
  auto control = control_of(common, cancelled);
  control.jobs = 1;  // the files already run side by side
  const auto result = run::run_study(*study, control);
  Judged j{{.file = file, .status = {}, .problem = "", .expectations = result.expect},
           exit_code(result)};
  if (j.code == kHang || j.code == kBudget) {
    j.checked.problem = fmt::format("{}: {}", result::name(result.outcome), result.outcome_message);
  }
  j.checked.status = report::status_of(j.checked.problem, result.expect);
  return j;
}

// Each thread takes the next file; results keep the files' order.
std::vector<Judged> judge_all(const std::vector<std::string>& files, const Common& common,
                              const std::atomic<bool>* cancelled) {
  std::vector<Judged> results(files.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (auto i = next.fetch_add(1); i < files.size(); i = next.fetch_add(1)) {
      results[i] = judge_file(files[i], common, cancelled);
    }
  };
  std::vector<std::jthread> others;
  for (std::size_t t = 1; t < std::min(files.size(), static_cast<std::size_t>(common.jobs)); ++t) {
    others.emplace_back(work);
  }
  work();
  others.clear();
  return results;
}

std::string lines_of(const std::vector<Checked>& checked) {
  std::string lines;
  for (const auto& c : checked) { lines += report::check_line(c); }
  return lines + report::check_summary(checked);
}

std::string render(const std::vector<Checked>& checked, Format format) {
  switch (format) {
    case Format::Json: return report::check_json(checked);
    case Format::Csv: return report::check_csv(checked);
    case Format::Html: return report::html_of_text("wavetail check", lines_of(checked));
    case Format::Text: break;
  }
  return lines_of(checked);
}

}  // namespace

int check(const Words& words) {
  Reader options("check PATH... [options]",
                 "Runs scenario files, and those below folders, and judges what they expect: a "
                 "line each, the\n"
                 "missed expectations below it, the counts at the end.",
                 {.gpu = true, .set = true, .budget = true});
  options.own()("junit", po::value<std::string>()->value_name("FILE"), "also write JUnit XML");
  options.positional("PATH", -1);
  if (!options.read(words)) { return kOk; }
  check_writable("--junit", options.text("junit"));
  const auto files = files_of(options.arguments());
  keep_apart("--out", options.common().out, files);
  keep_apart("--junit", options.text("junit"), files);
  keep_apart("--junit", options.text("junit"), {options.common().out});
  const auto results = judge_all(files, options.common(), catch_interrupts());
  std::vector<Checked> checked;
  int code = kOk;
  for (const auto& r : results) {
    checked.push_back(r.checked);
    code = std::max(code, r.code);
  }
  write_result(options.common().out, render(checked, options.common().format));
  if (options.has("junit")) { write_result(options.text("junit"), report::to_junit(checked)); }
  return code;
}

}  // namespace wavetail::cli
