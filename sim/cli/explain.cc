// SPDX-License-Identifier: Apache-2.0
#include "report/explain.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/nearest.h"
#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/simulate.h"
#include "report/html.h"

namespace wavetail::cli {

namespace {

namespace po = boost::program_options;

void check_kernel(const scenario::Study& study, const std::string& kernel) {
  std::vector<std::string> names;
  for (const auto& k : study.base.kernels) { names.push_back(k.name); }
  if (!kernel.empty() && std::find(names.begin(), names.end(), kernel) == names.end()) {
    throw Mistake(fmt::format("no kernel '{}'{}", kernel, base::hint(kernel, names)));
  }
}

std::string render(const result::RunResult& result, const std::string& kernel, Format format) {
  switch (format) {
    case Format::Json: return report::explain_json(result, kernel);
    case Format::Csv: return report::explain_csv(result, kernel);
    case Format::Html:
      return report::html_of_text(result.scenario + ", explained",
                                  report::explain_text(result, kernel));
    case Format::Text: break;
  }
  return report::explain_text(result, kernel);
}

}  // namespace

int explain(const Words& words) {
  Reader options(
      "explain SCENARIO [options]",
      "Says what binds each kernel, by how much, the closed-form chain behind it, and what each\n"
      "remedy could give.",
      {.gpu = true, .set = true, .budget = true});
  options.own()("kernel", po::value<std::string>()->value_name("NAME"), "only this kernel");
  options.positional("SCENARIO", 1);
  if (!options.read(words)) { return kOk; }
  keep_apart("--out", options.common().out, options.arguments());
  const std::atomic<bool>* cancelled = catch_interrupts();
  const auto study = load(options.arguments().front(), options.common(), cancelled);
  if (study.expected_error) {
    throw Mistake("this file is meant to be refused; `wavetail run` shows how");
  }
  const auto kernel = options.text("kernel");
  check_kernel(study, kernel);
  const auto result = run::run_study(study, control_of(options.common(), cancelled));
  write_result(options.common().out, render(result, kernel, options.common().format));
  const int code = exit_code(result);
  return code == kMissed ? kOk : code;  // explaining is not judging
}

}  // namespace wavetail::cli
