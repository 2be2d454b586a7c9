// SPDX-License-Identifier: Apache-2.0
// What --fit says: starts, bounds and the steps that values go in. Mistakes are golden
// (tests/golden/cli/calibrate-*.txt).
#include "study/parameter.h"

#include <gtest/gtest.h>

#include "study/rows.h"

namespace wavetail::study {
namespace {

std::vector<Parameter> read(const std::vector<std::string>& words,
                            const std::vector<std::string>& sets = {}) {
  config::Diagnostics diagnostics;
  scenario::LoadOptions options = shipped();
  const auto plain = scenario::load_gpu_document("h100-sxm", options, diagnostics);
  options.sets = sets;
  const auto set = scenario::load_gpu_document("h100-sxm", options, diagnostics);
  auto parameters = read_parameters(words, *plain, *set, diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.render();
  return parameters;
}

TEST(Parameter, BeginsAtTheFilesValueWithinItsRange) {
  const Parameter p = read({"hbm.read_to_write"}).at(0);
  EXPECT_EQ(p.path, "gpu.hbm.read_to_write");
  EXPECT_EQ(p.unit, "ns");
  EXPECT_EQ(p.start, "22 ns");
  EXPECT_EQ(p.variable.start, 22);
  EXPECT_EQ(p.variable.low, 12);
  EXPECT_EQ(p.variable.high, 40);
}

TEST(Parameter, WithoutARangeItMayHalveAndDoubleAsFarAsIsAllowed) {
  const Parameter p = read({"gpu.hbm.efficiency"}).at(0);  // 96.5 %
  EXPECT_DOUBLE_EQ(p.variable.low, 48.25);
  EXPECT_EQ(p.variable.high, 100);
}

TEST(Parameter, BoundsAndStartAreTakenInAnyUnit) {
  const auto all = read(
      {"gpu.hbm.latency=0.2us:300ns:500 ns,hbm.efficiency=0.7:0.99", "launch.host_sync=3500 ns"});
  ASSERT_EQ(all.size(), 3U);
  EXPECT_EQ(all[0].variable.low, 200);
  EXPECT_EQ(all[0].variable.start, 300);
  EXPECT_EQ(all[0].variable.high, 500);
  EXPECT_DOUBLE_EQ(all[1].variable.low, 70);
  EXPECT_DOUBLE_EQ(all[1].variable.start, 96.5);
  EXPECT_DOUBLE_EQ(all[1].variable.high, 99);
  EXPECT_EQ(all[2].start, "3500 ns");
  EXPECT_EQ(all[2].variable.low, 2000);  // of the file's range
}

TEST(Parameter, SettingsMoveTheStart) {
  const Parameter p = read({"hbm.efficiency"}, {"gpu.hbm.efficiency=80 %"}).at(0);
  EXPECT_EQ(p.variable.start, 80);
  EXPECT_EQ(p.variable.low, 40);
}

// A value is written in four digits of the start, as the file writes it, and reads back as it was.
TEST(Parameter, TextIsShortAndWhatIsSimulated) {
  const Parameter efficiency = read({"hbm.efficiency"}).at(0);
  EXPECT_EQ(efficiency.variable.grid, 0.01);
  EXPECT_EQ(efficiency.text(efficiency.variable.nearest(83.14159)), "83.14 %");
  EXPECT_EQ(efficiency.text(96.5), "96.5 %");
  EXPECT_EQ(efficiency.text(90), "90 %");
  const Parameter row = read({"hbm.row_access"}).at(0);  // 4.65 ns
  EXPECT_EQ(row.setting(row.variable.nearest(5.00049)), "gpu.hbm.row_access=5 ns");
  const Parameter bandwidth = read({"hbm.bandwidth"}).at(0);  // 3.352 TB/s
  EXPECT_EQ(bandwidth.text(bandwidth.variable.nearest(3.12345)), "3.123 TB/s");
}

TEST(Parameter, CyclesCountsAndSizesGoInWholeSteps) {
  const Parameter cycles = read({"l1.latency"}).at(0);  // 33 cycles
  EXPECT_EQ(cycles.variable.grid, 1);
  EXPECT_EQ(cycles.text(34), "34 cycles");
  EXPECT_EQ(cycles.variable.low, 17);
  const Parameter lines = read({"hbm.write_drain"}).at(0);  // 44
  EXPECT_EQ(lines.text(40), "40");
  const Parameter size = read({"l2.capacity"}).at(0);  // 50 MiB, in KiB
  EXPECT_EQ(size.text(size.variable.start), "50 MiB");
  EXPECT_EQ(size.text(size.variable.nearest(48123.4)), "48123 KiB");
}

}  // namespace
}  // namespace wavetail::study
