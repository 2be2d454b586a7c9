// SPDX-License-Identifier: Apache-2.0
#include "run/run.h"

#include <fmt/format.h>

#include <chrono>
#include <iostream>

#include "cli/interrupt.h"
#include "cli/output.h"
#include "cli/simulate.h"
#include "report/csv.h"
#include "report/html.h"
#include "report/json.h"
#include "report/text.h"
#include "report/trace.h"

namespace wavetail::cli {

namespace {

namespace po = boost::program_options;

std::string render(const result::RunResult& result, Format format, const Timing* timing) {
  switch (format) {
    case Format::Csv: return report::to_csv(result);
    case Format::Html: return report::to_html(result);
    case Format::Text: return report::to_text(result);
    case Format::Json: break;
  }
  auto json = report::to_json(result);
  if (timing != nullptr) {
    json["simulator"] = {{"wall_s", report::number(timing->wall_s)},
                         {"events", timing->events},
                         {"events_per_s", report::number(timing->events_per_s())},
                         {"peak_rss_bytes", timing->peak_rss_bytes}};
  }
  return report::text_of(json);
}

int report_refusal(const scenario::ExpectedError& expected, const Common& common) {
  const bool as_expected = refused_as_expected(expected);
  std::string text = refusal_text(expected);
  if (common.format == Format::Json) {
    const report::Json json = {
        {"schema", "wavetail/result/1"},
        {"refused", !expected.refusal.empty()},
        {"message", expected.refusal},
        {"expect",
         {report::to_json(result::ExpectationResult{
             .path = "error",
             .wanted = expected.text,
             .got = expected.refusal.empty() ? "no error" : expected.refusal,
             .verdict = as_expected ? result::Verdict::Passed : result::Verdict::Failed,
             .known_miss = "",
             .place = expected.place})}}};
    text = report::text_of(json);
  } else if (common.format != Format::Text) {
    throw Mistake(
        fmt::format("format {} is not available for a file that is refused", name(common.format)));
  }
  write_result(common.out, text);
  return as_expected ? kOk : kMissed;
}

void say(const Timing& t) {
  std::cerr << fmt::format(
      "simulated in {:.3g} s: {} events, {:.3g} M events/s, {:.0f} MB at most\n", t.wall_s,
      t.events, t.events_per_s() * 1e-6, static_cast<double>(t.peak_rss_bytes) * 1e-6);
}

}  // namespace

int run(const Words& words) {
  Reader options("run SCENARIO [options]",
                 "Simulates a scenario and reports where its time goes and why.",
                 {.gpu = true, .set = true, .budget = true});
  options.own()("trace", po::value<std::string>()->value_name("FILE"),
                "also write a Chrome trace (Perfetto reads it)");
  options.own()("timing", "also say how fast the simulation itself was");
  options.positional("SCENARIO", 1);
  if (!options.read(words)) { return kOk; }
  const auto& scenario = options.arguments().front();
  keep_apart("--out", options.common().out, {scenario});
  check_writable("--trace", options.text("trace"));
  keep_apart("--trace", options.text("trace"), {scenario, options.common().out});
  const auto begin = std::chrono::steady_clock::now();
  const std::atomic<bool>* cancelled = catch_interrupts();
  const auto study = load(scenario, options.common(), cancelled);
  if (study.expected_error) { return report_refusal(*study.expected_error, options.common()); }
  auto control = control_of(options.common(), cancelled);
  control.trace = options.has("trace");
  const auto result = run::run_study(study, control);
  const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - begin;
  const Timing timing{wall.count(), result.events, peak_memory_bytes()};
  const bool timed = options.has("timing");
  const auto& common = options.common();
  write_result(common.out, render(result, common.format, timed ? &timing : nullptr));
  if (control.trace) { write_result(options.text("trace"), report::to_trace(result)); }
  if (timed && common.format != Format::Json) { say(timing); }
  return exit_code(result);
}

}  // namespace wavetail::cli
