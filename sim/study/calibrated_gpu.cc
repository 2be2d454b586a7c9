// SPDX-License-Identifier: Apache-2.0
// The GPU file that a calibration ends in.
#include <fmt/format.h>

#include "base/nearest.h"
#include "config/setting.h"
#include "config/value.h"
#include "study/calibrate.h"

namespace wavetail::study {

namespace {

constexpr std::string_view kPrefix = "gpu.";

// "STR 17 rows, L2S 28 rows of streams.csv": those that move with the value.
std::string rows_of(const FittedValue& v, const Calibration& c) {
  std::vector<std::string> parts;
  for (const auto& [set, n] : v.felt_by) {
    parts.push_back(fmt::format("{} {} row{}", set, n, n == 1 ? "" : "s"));
  }
  return fmt::format("{} of {}", base::joined(parts), c.file == "-" ? "standard input" : c.file);
}

std::string source_of(const FittedValue& v, const Calibration& c) {
  std::string text = "fitted to " + rows_of(v, c);
  if (v.standard_error) { text += "; standard error " + v.standard_error->text; }
  if (v.told == Told::AtBound) {
    text += fmt::format("; stopped at the bound {}", v.value.text);
  } else if (v.told == Told::WithOthers) {
    text += fmt::format("; the rows do not tell it apart from {}", base::joined(v.others));
  }
  return text;
}

// The user's settings, as they stand in the document.
std::vector<gpu::NewValue> set_values(const CalibrateOptions& options, const gpu::Document& set) {
  std::vector<gpu::NewValue> values;
  config::Diagnostics ignored;  // they have been read before
  for (const std::string& text : options.load.sets) {
    const auto setting = config::parse_setting("--set", text, ignored);
    if (!setting || !setting->path.starts_with(kPrefix)) { continue; }
    const std::string path = setting->path == "gpu.sms" ? "gpcs"
                                                        : setting->path.substr(kPrefix.size());
    if (const config::Node* node = config::find_path(set.root, path)) {
      values.push_back({path, config::plain(*node), gpu::Confidence::Assumed, "set: " + text});
    }
  }
  return values;
}

gpu::Confidence confidence_of(const FittedValue& v) {
  return v.told == Told::Yes && !v.is_vague() ? gpu::Confidence::Measured
                                              : gpu::Confidence::Assumed;
}

bool is_fitted(const FittedValue& v) { return v.told != Told::Unfelt && v.told != Told::Walled; }

}  // namespace

std::optional<std::string> calibrated_gpu(const Calibration& c, const CalibrateOptions& options,
                                          const std::string& name,
                                          config::Diagnostics& diagnostics) {
  const std::string& which = *options.load.gpu;
  const gpu::Catalog catalog(options.load.folders);
  const auto file = gpu::is_file_name(which)
                        ? std::optional(which)
                        : catalog.resolve(which, ".", config::place_of_setting("--gpu", which),
                                          diagnostics);
  const auto set = scenario::load_gpu_document(which, options.load, diagnostics);
  if (!file || !set) { return std::nullopt; }
  gpu::Variant variant{name, fmt::format("{} with values fitted to measurements", c.gpu),
                       set_values(options, *set)};
  for (const FittedValue& v : c.values) {
    const std::string path = v.path.substr(kPrefix.size());
    const config::Node* present = config::find_path(set->root, path);
    const bool moved = present == nullptr || config::plain(*present).text != v.value.text;
    if (is_fitted(v)) {
      variant.values.push_back(
          {path, config::scalar(v.value.text), confidence_of(v), source_of(v, c)});
    } else if (moved) {
      variant.values.push_back({path, config::scalar(v.value.text), gpu::Confidence::Assumed,
                                "where a fit ended whose rows do not feel it there"});
    }
  }
  return gpu::variant_text(catalog, *file, variant, diagnostics);
}

}  // namespace wavetail::study
