// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "example.h"
#include "report/csv.h"
#include "report/explain.h"
#include "report/html.h"
#include "report/json.h"
#include "report/junit.h"
#include "report/metrics.h"
#include "report/occupancy.h"
#include "report/schema.h"
#include "report/text.h"
#include "report/trace.h"
#include "support/golden.h"
#include "support/specs.h"

namespace wavetail::report {
namespace {

using namespace unit::literals;

std::vector<Checked> checked() {
  const auto run = examples::decode();
  Checked passed{.file = "a.yaml",
                 .status = CheckStatus::Passed,
                 .problem = "",
                 .expectations = {run.expect[0]}};
  Checked missed{.file = "b.yaml",
                 .status = CheckStatus::KnownMiss,
                 .problem = "",
                 .expectations = run.expect};
  Checked broken{
      .file = "c<d>.yaml",
      .status = CheckStatus::Failed,
      .problem = "c.yaml:4:1: error: unknown key 'kernals'\n1 error; nothing was simulated.\n",
      .expectations = {}};
  return {passed, missed, broken};
}

TEST(ReportGolden, Text) { golden::expect_equal("report/run.txt", to_text(examples::decode())); }

TEST(ReportGolden, Json) {
  golden::expect_equal("report/run.json", text_of(to_json(examples::decode())));
}

TEST(ReportGolden, Csv) { golden::expect_equal("report/run.csv", to_csv(examples::decode())); }

TEST(ReportGolden, Html) { golden::expect_equal("report/run.html", to_html(examples::decode())); }

TEST(ReportGolden, Trace) {
  golden::expect_equal("report/run.trace.json", to_trace(examples::decode()));
}

TEST(ReportGolden, Explain) {
  golden::expect_equal("report/explain.txt", explain_text(examples::decode(), ""));
  golden::expect_equal("report/explain.json", explain_json(examples::decode(), "gate_up"));
  golden::expect_equal("report/explain.csv", explain_csv(examples::decode(), ""));
}

TEST(ReportGolden, Check) {
  std::string lines;
  for (const auto& c : checked()) { lines += check_line(c); }
  golden::expect_equal("report/check.txt", lines + check_summary(checked()));
  golden::expect_equal("report/check.xml", to_junit(checked()));
  golden::expect_equal("report/check.json", check_json(checked()));
  golden::expect_equal("report/check.csv", check_csv(checked()));
}

TEST(ReportGolden, Occupancy) {
  const auto gpu = specs::h100();
  const occupancy::Launch launch{
      .block = 256, .registers = 128, .shared_memory = 48_KiB, .cluster = 1, .grid = 1000};
  const auto o = occupancy::occupy(gpu, launch);
  golden::expect_equal("report/occupancy.txt", occupancy_text(gpu, launch, o));
  golden::expect_equal("report/occupancy.json", occupancy_json(gpu, launch, o));
  golden::expect_equal("report/occupancy.csv", occupancy_csv(gpu, launch, o));
  const occupancy::Launch refused{.block = 608, .registers = 104};
  golden::expect_equal("report/occupancy-refused.json",
                       occupancy_json(gpu, refused, occupancy::occupy(gpu, refused)));
}

TEST(ReportGolden, ResultSchema) {
  golden::expect_equal("report/result-schema.json", result_schema());
}

}  // namespace
}  // namespace wavetail::report
