// SPDX-License-Identifier: Apache-2.0
#include "study/validate.h"

#include <fmt/format.h>
#include <unistd.h>

#include <iostream>

#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/share.h"
#include "cli/simulate.h"
#include "report/html.h"
#include "report/validation.h"

namespace wavetail::cli {

namespace {

std::string render(const study::Validation& v, Format format) {
  switch (format) {
    case Format::Json: return report::text_of(report::validation_json(v));
    case Format::Csv: return report::validation_csv(v);
    case Format::Html: return report::html_of_text("wavetail validate", report::validation_text(v));
    case Format::Text: break;
  }
  return report::validation_text(v);
}

// A bar on one line of the terminal, which the last call wipes.
void show_progress(std::size_t done, std::size_t total) {
  constexpr std::size_t kWidth = 40;
  const std::size_t full = kWidth * done / total;
  std::cerr << fmt::format("\r[{:<{}}] {} of {} simulations", std::string(full, '#'), kWidth, done,
                           total);
  if (done == total) { std::cerr << "\r\033[K"; }
  std::cerr.flush();
}

int exit_of(result::Outcome outcome) {
  switch (outcome) {
    case result::Outcome::Complete: return kOk;
    case result::Outcome::Hang: return kHang;
    case result::Outcome::OverBudget:
    case result::Outcome::Interrupted: break;
  }
  return kBudget;
}

}  // namespace

int validate(const Words& words) {
  Reader options("validate FILE.csv [options]",
                 "Predicts every row of a measurement file; where rows have values, says how far "
                 "the predictions\n"
                 "are off. --gpu stands for the GPU of every row.",
                 {.gpu = true, .set = true, .budget = true});
  options.positional("FILE.csv", 1);
  if (!options.read(words)) { return kOk; }
  const auto& common = options.common();
  const std::string file = found(options.arguments().front());
  keep_apart("--out", common.out, {file});
  config::Diagnostics diagnostics;
  const auto rows = study::load_measurements(file, diagnostics);
  if (!diagnostics.ok()) { refuse(diagnostics); }
  study::ValidateOptions validate{.load = common.load_options(),
                                  .control = control_of(common, catch_interrupts())};
  if (isatty(STDERR_FILENO) != 0) { validate.progress = show_progress; }
  const auto v = study::validate(rows, validate, diagnostics);
  if (!diagnostics.ok()) { refuse(diagnostics); }
  write_result(common.out, render(v, common.format));
  return exit_of(v.outcome);
}

}  // namespace wavetail::cli
