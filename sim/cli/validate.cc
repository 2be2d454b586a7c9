// SPDX-License-Identifier: Apache-2.0
#include "study/validate.h"

#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
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
  if (shows_progress()) {
    validate.progress = [](std::size_t done, std::size_t total) {
      show_progress(done, total, "simulations");
    };
  }
  const auto v = study::validate(rows, validate, diagnostics);
  if (!diagnostics.ok()) { refuse(diagnostics); }
  write_result(common.out, render(v, common.format));
  return exit_code(v.outcome);
}

}  // namespace wavetail::cli
