// SPDX-License-Identifier: Apache-2.0
#include "study/calibrate.h"

#include <fmt/format.h>

#include <filesystem>
#include <iostream>

#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/progress.h"
#include "cli/share.h"
#include "cli/simulate.h"
#include "report/calibration.h"
#include "report/html.h"

namespace wavetail::cli {

namespace {

namespace po = boost::program_options;

constexpr std::string_view kSentence =
    "Fits values of a GPU file to the measured rows of that GPU: least squares of the "
    "relative errors of\n"
    "their predictions, with standard errors, and the errors of rows that were left "
    "out of the fit.\n\n"
    "  --fit gpu.hbm.efficiency,gpu.hbm.latency   from the GPU's values (or --set's)\n"
    "  --fit gpu.hbm.efficiency=70%:99%           between these\n"
    "  --fit gpu.hbm.efficiency=70%:85%:99%       and from the one in the middle\n\n"
    "Bounds are the range that the GPU file gives, else half and twice the start. "
    "Slopes are taken over\n"
    "4 % of a value to both sides, one unit at least.";

std::string render(const study::Calibration& c, Format format) {
  switch (format) {
    case Format::Json: return report::text_of(report::calibration_json(c));
    case Format::Csv: return report::calibration_csv(c);
    case Format::Html:
      return report::html_of_text("wavetail calibrate", report::calibration_text(c));
    case Format::Text: break;
  }
  return report::calibration_text(c);
}

// What the GPU of `--write FILE` is called: as the file. It may not be called like what it rests
// on.
std::string name_of(const std::string& file, const study::CalibrateOptions& options) {
  if (file.empty()) { return ""; }
  const std::string name = file == "-" ? "calibrated" : std::filesystem::path(file).stem().string();
  if (!gpu::is_name(name)) {
    throw Mistake(
        fmt::format("'--write {}': the GPU is called as its file, and '{}' is no name; "
                    "letters, digits, '.', '_' and '-' are allowed",
                    file, name));
  }
  config::Diagnostics later;  // the calibration reports them
  const auto gpu = scenario::load_gpu_document(*options.load.gpu, options.load, later);
  for (const auto* key : {"name", "base"}) {
    const config::Node* taken = gpu ? gpu->root.find(key) : nullptr;
    if (taken != nullptr && taken->text == name) {
      throw Mistake(
          fmt::format("'--write {}': the GPU would be called as the one that it rests on, "
                      "{}; name another file",
                      file, name));
    }
  }
  return name;
}

void write_gpu(const std::string& file, const std::string& name, const study::Calibration& c,
               const study::CalibrateOptions& options) {
  if (!c.converged) {
    std::cerr << fmt::format("wavetail calibrate: the fit is not complete; '{}' is not written\n",
                             file);
    return;
  }
  config::Diagnostics diagnostics;
  const auto text = study::calibrated_gpu(c, options, name, diagnostics);
  if (!text) { refuse(diagnostics); }
  write_result(file, *text);
}

study::CalibrateOptions options_of(const Reader& options, const std::string& file) {
  const auto& common = options.common();
  study::CalibrateOptions calibrate{.load = common.load_options(),
                                    .file = file,
                                    .fit = options.get<std::vector<std::string>>("fit"),
                                    .rows_of = options.text("rows-of"),
                                    .variants = options.has("variants"),
                                    .cross_validate = !options.has("no-cross-validation"),
                                    .control = control_of(common, catch_interrupts())};
  if (shows_progress()) {
    calibrate.progress = [](std::string_view step, std::size_t done, std::size_t total) {
      show_progress(done, total, fmt::format("simulations: {}", step));
    };
  }
  return calibrate;
}

}  // namespace

int calibrate(const Words& words) {
  Reader options("calibrate --gpu GPU FILE.csv --fit PATH[=BOUNDS][,...] [options]",
                 std::string(kSentence), {.gpu = true, .set = true, .budget = true});
  options.own()("fit", po::value<std::vector<std::string>>()->value_name("PATH[,PATH...]"),
                "the values that are fitted (repeatable)");
  options.own()("write", po::value<std::string>()->value_name("FILE.yaml"),
                "also write the GPU with the fitted values as a GPU file, called as the file");
  options.own()("rows-of", po::value<std::string>()->value_name("NAME"),
                "the GPU that was measured, where --gpu is another file for it");
  options.own()("variants",
                "also fit to rows of GPUs that have this one as their base and take the fitted "
                "values from it");
  options.own()("no-cross-validation", "do not fit again with every set left out");
  options.positional("FILE.csv", 1);
  if (!options.read(words)) { return kOk; }
  const auto& common = options.common();
  const std::string write = options.text("write");
  if (!common.gpu) { throw Mistake("'--gpu' is missing: the GPU whose values are fitted"); }
  if (!options.has("fit")) { throw Mistake("'--fit' is missing: the values that are fitted"); }
  if (options.has("write") && write.empty()) { throw Mistake("'--write' names no file"); }
  const std::string file = found(options.arguments().front());
  const auto calibrate = options_of(options, file);
  keep_apart("--out", common.out, {file, *calibrate.load.gpu});
  check_writable("--write", write);
  keep_apart("--write", write, {file, *calibrate.load.gpu, common.out});
  const std::string name = name_of(write, calibrate);
  config::Diagnostics diagnostics;
  const auto rows = study::load_measurements(file, diagnostics);
  if (!diagnostics.ok()) { refuse(diagnostics); }
  const auto c = study::calibrate(rows, calibrate, diagnostics);
  if (!diagnostics.ok()) { refuse(diagnostics); }
  write_result(common.out, render(c, common.format));
  if (!write.empty()) { write_gpu(write, name, c, calibrate); }
  return exit_code(c.outcome);
}

}  // namespace wavetail::cli
