// SPDX-License-Identifier: Apache-2.0
// Values recovered from rows that were made with them, and what is said of values that the rows do
// not tell. The rows are empty launches and chases in shared memory, which take milliseconds.
#include "study/calibrate.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <atomic>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "study/rows.h"

namespace wavetail::study {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

// A machine that is built in no time.
const std::vector<std::string> kSmall = {"gpu.sms=4", "gpu.l2.capacity=1 MiB"};

std::vector<Measurement> launches(const std::string& gpu = "H100") {
  std::vector<Measurement> rows;
  for (const int n : {1, 2, 3, 5, 10, 20}) {
    rows.push_back(row(gpu, "launch_overhead",
                       "case=" + std::to_string(n) + " plain launches;kernel=empty", "time", "us"));
    rows.back().set = "LAU";
  }
  return rows;
}

std::vector<Measurement> chases() {
  std::vector<Measurement> rows;
  for (const int mhz : {1100, 1300, 1500, 1700}) {
    rows.push_back(row("H100", "mem_latency", "level=shared;clock_mhz=" + std::to_string(mhz),
                       "latency", "ns"));
    rows.back().set = "SHM";
  }
  return rows;
}

std::vector<Measurement> both() {
  auto rows = launches();
  for (Measurement& r : chases()) { rows.push_back(std::move(r)); }
  return rows;
}

// The rows as a GPU with these settings would have measured them, give or take `noise`.
std::vector<Measurement> measured(std::vector<Measurement> rows,
                                  const std::vector<std::string>& truth, double noise) {
  config::Diagnostics diagnostics;
  scenario::LoadOptions load = shipped();
  load.sets = kSmall;
  load.sets.insert(load.sets.end(), truth.begin(), truth.end());
  const Validation v = validate(rows, {.load = load, .control = {.budget = {}}}, diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.render();
  constexpr std::array kPattern = {0.7, -1.0, 0.2, 0.9, -0.5, -0.3, 1.0, -0.8};
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i].id = rows[i].set + "-" + std::to_string(i);
    rows[i].value = *v.rows[i].predicted * (1 + noise * kPattern[i % kPattern.size()]);
  }
  return rows;
}

CalibrateOptions options(const std::vector<std::string>& fit, const std::string& gpu = "h100-sxm") {
  CalibrateOptions o{.load = shipped(), .file = "rows.csv", .fit = fit, .control = {.budget = {}}};
  o.load.gpu = gpu;
  o.load.sets = kSmall;
  return o;
}

Calibration calibrated(const std::vector<Measurement>& rows, const CalibrateOptions& o) {
  config::Diagnostics diagnostics;
  const Calibration c = calibrate(rows, o, diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.render();
  return c;
}

TEST(Calibrate, RecoversValuesWithinTheirErrors) {
  const auto rows = measured(both(),
                             {"gpu.launch.host_launch=3.1 us", "gpu.launch.host_sync=5.5 us",
                              "gpu.shared_memory.latency=33 cycles"},
                             0.01);
  const Calibration c = calibrated(
      rows, options({"launch.host_launch,launch.host_sync", "shared_memory.latency"}));
  EXPECT_TRUE(c.converged);
  EXPECT_EQ(c.rows.size(), rows.size());
  const std::vector<double> truth = {3.1, 5.5, 33};
  for (std::size_t k = 0; k < truth.size(); ++k) {
    ASSERT_EQ(c.values[k].told, Told::Yes);
    const double error = c.values[k].standard_error->number;
    EXPECT_NEAR(c.values[k].value.number, truth[k], 2 * error) << c.values[k].path;
    EXPECT_LT(error, 0.03 * truth[k]) << c.values[k].path;
  }
  EXPECT_EQ(c.values[2].value.text, "33 cycles");
  EXPECT_LT(*c.fitted_rms_pct, 1);
  EXPECT_GT(*c.start_rms_pct, 10);
  EXPECT_THAT(c.values[0].felt_by, ElementsAre(testing::Pair("LAU", 6)));
  EXPECT_THAT(c.values[2].felt_by, ElementsAre(testing::Pair("SHM", 4)));
  EXPECT_NEAR(*c.correlation[0][2], 0, 1e-3);
}

// What is reported at both ends is what `validate` says with those values, to the last digit.
TEST(Calibrate, ErrorsAreThoseOfValidate) {
  const auto rows = measured(both(), {"gpu.launch.host_launch=2.9 us"}, 0.02);
  CalibrateOptions o = options({"launch.host_launch=2us:2.2us:4us", "shared_memory.latency"});
  o.load.sets.push_back("gpu.launch.host_sync=4.5 us");
  const Calibration c = calibrated(rows, o);
  const auto validated = [&](const std::function<std::string(const FittedValue&)>& text) {
    config::Diagnostics diagnostics;
    scenario::LoadOptions load = o.load;
    for (const FittedValue& v : c.values) { load.sets.push_back(v.path + "=" + text(v)); }
    return validate(rows, {.load = load, .control = {.budget = {}}}, diagnostics);
  };
  const Validation start = validated([](const FittedValue& v) { return v.start.text; });
  const Validation end = validated([](const FittedValue& v) { return v.value.text; });
  ASSERT_EQ(c.rows.size(), rows.size());
  for (std::size_t i = 0; i < rows.size(); ++i) {
    EXPECT_EQ(c.rows[i].start.error_pct, start.rows[i].error_pct);
    EXPECT_EQ(c.rows[i].fitted.error_pct, end.rows[i].error_pct);
  }
  EXPECT_EQ(c.fitted.mape_pct, statistics_of(end.rows).mape_pct);
  EXPECT_EQ(c.sets.at(0).fitted.mape_pct, end.sets.at(0).statistics.mape_pct);
  EXPECT_NE(c.values[0].start.text, c.values[0].value.text);
}

TEST(Calibrate, SaysWhatNoRowFeelsAndWhatRowsDoNotTellApart) {
  const auto rows = measured(launches(), {"gpu.launch.host_sync=6 us"}, 0.005);
  const Calibration c = calibrated(
      rows, options({"launch.host_sync", "hbm.latency", "launch.submit", "launch.host_launch"}));
  EXPECT_EQ(c.values[0].told, Told::WithOthers);
  EXPECT_THAT(c.values[0].others, ElementsAre("gpu.launch.submit"));
  EXPECT_EQ(c.values[1].told, Told::Unfelt);
  EXPECT_EQ(c.values[1].value.text, "333 ns");
  EXPECT_THAT(c.values[1].felt_by, IsEmpty());
  EXPECT_EQ(c.values[2].told, Told::WithOthers);
  EXPECT_EQ(c.values[3].told, Told::Yes);
  // their sum is known: 6 us and the 2 us of h100-sxm
  EXPECT_NEAR(c.values[0].value.number + c.values[2].value.number, 8, 0.2);
}

TEST(Calibrate, StopsAtBounds) {
  const auto rows = measured(launches(), {"gpu.launch.host_launch=3.1 us"}, 0.005);
  const Calibration c = calibrated(rows, options({"launch.host_launch=2us:3us"}));
  EXPECT_EQ(c.values[0].told, Told::AtBound);
  EXPECT_EQ(c.values[0].value.text, "3 us");
  EXPECT_FALSE(c.values[0].standard_error);
}

// A set is predicted by values that it has no part in: what only it feels is back at the start.
TEST(Calibrate, LeavesEverySetOut) {
  const auto rows = measured(
      both(), {"gpu.launch.host_launch=3.1 us", "gpu.shared_memory.latency=33 cycles"}, 0.01);
  const Calibration c = calibrated(rows, options({"launch.host_launch", "shared_memory.latency"}));
  ASSERT_EQ(c.sets.size(), 2U);
  const FittedGroup& launch = c.sets[0];
  EXPECT_EQ(launch.name, "LAU");
  EXPECT_EQ(launch.values[0].text, "2.5 us");
  EXPECT_EQ(launch.values[1].text, "33 cycles");
  EXPECT_NEAR(*launch.left_out->mape_pct, *launch.start.mape_pct, 0.01);
  EXPECT_LT(*launch.fitted.mape_pct, 1);
  EXPECT_EQ(c.left_out->n, 10);
  for (const FittedRow& r : c.rows) {  // as at the start, but for picoseconds
    EXPECT_NEAR(*r.left_out, *r.start.predicted, 1e-4 * *r.start.predicted);
  }
  EXPECT_EQ(c.gpus.size(), 1U);
  EXPECT_EQ(c.gpus[0].skipped, "there are no other rows");
}

TEST(Calibrate, TakesInRowsOfGpusThatShareTheValue) {
  auto rows = launches();
  for (Measurement& r : launches("H200")) { rows.push_back(std::move(r)); }
  for (Measurement& r : launches("A100")) { rows.push_back(std::move(r)); }
  rows = measured(std::move(rows), {"gpu.launch.host_launch=3.1 us"}, 0.01);
  CalibrateOptions o = options({"launch.host_launch"});
  const Calibration alone = calibrated(rows, o);
  EXPECT_EQ(alone.rows.size(), 6U);
  EXPECT_EQ(alone.rows_of_other_gpus, 12);
  EXPECT_EQ(alone.rows_of_variants, 6);
  o.variants = true;
  const Calibration c = calibrated(rows, o);
  EXPECT_EQ(c.rows.size(), 12U);
  ASSERT_EQ(c.gpus.size(), 2U);
  EXPECT_EQ(c.gpus[1].name, "h200-sxm");
  EXPECT_NEAR(c.gpus[1].values[0].number, 3.1, 0.1);
  EXPECT_LT(*c.gpus[1].left_out->mape_pct, 2);
  // the H200 has an efficiency of its own
  o.fit = {"hbm.efficiency", "launch.host_launch"};
  EXPECT_EQ(calibrated(rows, o).rows.size(), 6U);
}

// Rows of an H200 can be rows of a file that was written for it.
TEST(Calibrate, GoesOnFromAGpuThatItHasWritten) {
  const auto rows = measured(launches("H200"), {"gpu.launch.host_launch=3.1 us"}, 0.01);
  CalibrateOptions o = options({"launch.host_launch"}, "h200-sxm");
  const Calibration first = calibrated(rows, o);
  config::Diagnostics diagnostics;
  const auto text = calibrated_gpu(first, o, "mine", diagnostics);
  const auto file = std::filesystem::temp_directory_path() /
                    ("wavetail-mine-" + std::to_string(::getpid()) + ".yaml");
  std::ofstream(file) << *text;
  CalibrateOptions next = options({"launch.host_launch"}, file.string());
  (void)calibrate(rows, next, diagnostics);
  EXPECT_THAT(diagnostics.render(), HasSubstr("there are rows of H200; --rows-of NAME says which"));
  next.rows_of = "H200-SXM (141 GB)";
  const Calibration second = calibrated(rows, next);
  std::filesystem::remove(file);
  EXPECT_EQ(second.gpu, "mine");
  EXPECT_EQ(second.rows.size(), 6U);
  EXPECT_EQ(second.start.mape_pct, first.fitted.mape_pct);
}

TEST(Calibrate, ResultsDoNotDependOnThreads) {
  const auto rows = measured(both(), {"gpu.launch.host_launch=3.1 us"}, 0.02);
  CalibrateOptions o = options({"launch.host_launch", "shared_memory.latency"});
  const Calibration one = calibrated(rows, o);
  o.control.jobs = 4;
  const Calibration four = calibrated(rows, o);
  EXPECT_EQ(one.simulations, four.simulations);
  EXPECT_EQ(one.rounds, four.rounds);
  for (std::size_t k = 0; k < one.values.size(); ++k) {
    EXPECT_EQ(one.values[k].value.text, four.values[k].value.text);
    EXPECT_EQ(one.values[k].standard_error->number, four.values[k].standard_error->number);
  }
  EXPECT_EQ(one.correlation, four.correlation);
  EXPECT_EQ(one.left_out->mape_pct, four.left_out->mape_pct);
}

// An interrupt at any time leaves what was known by then.
TEST(Calibrate, AnInterruptLeavesTheBestSoFar) {
  const auto rows = measured(launches(), {"gpu.launch.host_launch=3.1 us"}, 0.01);
  const auto stopped_at = [&](const std::string& step) {
    std::atomic<bool> cancelled{false};
    CalibrateOptions o = options({"launch.host_launch"});
    o.control.cancelled = &cancelled;
    o.progress = [&](std::string_view now, std::size_t done, std::size_t) {
      if (now == step && done == 1) { cancelled = true; }
    };
    const Calibration c = calibrated(rows, o);
    EXPECT_EQ(c.outcome, result::Outcome::Interrupted) << step;
    EXPECT_FALSE(c.converged);
    return c;
  };
  const Calibration start = stopped_at("start");
  EXPECT_THAT(start.rows, IsEmpty());
  EXPECT_EQ(start.values[0].value.text, "2.5 us");
  const Calibration first = stopped_at("round 1");
  EXPECT_EQ(first.rows.size(), 6U);
  EXPECT_EQ(first.values[0].value.text, "2.5 us");
  EXPECT_FALSE(first.determined);
  const Calibration second = stopped_at("round 2");
  EXPECT_LT(*second.fitted.mape_pct, *second.start.mape_pct);
  EXPECT_NE(second.values[0].value.text, "2.5 us");
}

TEST(Calibrate, ABudgetServesAllSimulations) {
  const auto rows = measured(launches(), {"gpu.launch.host_launch=3.1 us"}, 0.01);
  CalibrateOptions o = options({"launch.host_launch"});
  const std::int64_t all = calibrated(rows, o).events;
  o.control.budget.max_events = all / 2;
  const Calibration c = calibrated(rows, o);
  EXPECT_EQ(c.outcome, result::Outcome::OverBudget);
  EXPECT_THAT(c.outcome_message, HasSubstr("--max-events"));
  EXPECT_FALSE(c.converged);
  EXPECT_GT(c.events, all / 2);
}

TEST(Calibrate, RowsWithoutAPartSayWhy) {
  auto rows = measured(launches(), {}, 0.01);
  rows[0].value.reset();
  rows[1].value = 0;
  rows[2].kind = "launch_overhaed";
  const Calibration c = calibrated(rows, options({"launch.host_launch"}));
  EXPECT_EQ(c.rows.size(), 3U);
  ASSERT_EQ(c.others.size(), 3U);
  EXPECT_EQ(c.others[0].reason, "no measured value");
  EXPECT_THAT(c.others[1].reason, HasSubstr("measured as 0"));
  EXPECT_THAT(c.others[2].reason, HasSubstr("launch_overhead"));
}

}  // namespace
}  // namespace wavetail::study
