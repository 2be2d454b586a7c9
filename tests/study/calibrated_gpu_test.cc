// SPDX-License-Identifier: Apache-2.0
// The GPU file of a calibration says what was simulated, and where it comes from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "study/calibrate.h"
#include "study/rows.h"

namespace wavetail::study {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

class CalibratedGpu : public testing::Test {
 protected:
  void SetUp() override {
    folder_ = fs::temp_directory_path() / ("wavetail-calibrated-" + std::to_string(::getpid()));
    fs::create_directories(folder_);
  }

  void TearDown() override { fs::remove_all(folder_); }

  static FittedValue value(const std::string& path, const std::string& text,
                           Told told = Told::Yes) {
    FittedValue v{.path = path, .unit = "", .start = {}, .low = {}, .high = {}, .value = {0, text}};
    v.told = told;
    v.felt_by = {{"LAU", 1}, {"STR", 12}};
    if (told == Told::Yes) { v.standard_error = Amount{0, "0.1 us"}; }
    return v;
  }

  std::string text_of(const std::string& gpu, const std::vector<FittedValue>& values,
                      const std::vector<std::string>& sets = {}) {
    CalibrateOptions options{.load = shipped(), .file = "rows.csv", .fit = {}, .control = {}};
    options.load.gpu = gpu;
    options.load.sets = sets;
    Calibration c;
    c.gpu = gpu;
    c.file = "rows.csv";
    c.values = values;
    config::Diagnostics diagnostics;
    const auto text = calibrated_gpu(c, options, "mine", diagnostics);
    EXPECT_TRUE(diagnostics.ok()) << diagnostics.render();
    return text.value_or("");
  }

  gpu::GpuSpec read(const std::string& text) {
    const std::string file = (folder_ / "mine.yaml").string();
    std::ofstream(file) << text;
    config::Diagnostics diagnostics;
    const auto spec = scenario::load_gpu(file, shipped(), diagnostics);
    EXPECT_TRUE(diagnostics.ok()) << diagnostics.render() << text;
    return spec.value_or(gpu::GpuSpec{});
  }

  static gpu::GpuSpec set(const std::string& gpu, const std::vector<std::string>& sets) {
    config::Diagnostics diagnostics;
    scenario::LoadOptions load = shipped();
    load.sets = sets;
    return scenario::load_gpu(gpu, load, diagnostics).value_or(gpu::GpuSpec{});
  }

  // The same machine, whatever it is called and rests on.
  static void expect_same(gpu::GpuSpec a, gpu::GpuSpec b) {
    for (gpu::GpuSpec* spec : {&a, &b}) {
      spec->name.clear();
      spec->aliases.clear();
      spec->provenance.clear();
    }
    EXPECT_EQ(a, b);
  }

  fs::path folder_;
};

TEST_F(CalibratedGpu, IsTheGivenOneWithOtherValues) {
  const std::string text = text_of("h100-sxm", {value("gpu.launch.host_launch", "3.1 us"),
                                                value("gpu.hbm.efficiency", "93.5 %")});
  EXPECT_THAT(text, HasSubstr("name: mine\n"));
  EXPECT_THAT(text, HasSubstr("base: h100-sxm\n"));
  EXPECT_THAT(text,
              HasSubstr("  host_launch: {value: 3.1 us, source: \"fitted to LAU 1 row, STR 12 "
                        "rows of rows.csv; standard error 0.1 us\", confidence: measured}\n"));
  const auto spec = read(text);
  expect_same(spec,
              set("h100-sxm", {"gpu.launch.host_launch=3.1 us", "gpu.hbm.efficiency=93.5 %"}));
  EXPECT_EQ(spec.provenance.at("hbm.efficiency").confidence, gpu::Confidence::Measured);
  EXPECT_EQ(spec.provenance.at("hbm.latency").confidence, gpu::Confidence::Measured);  // the base's
}

// One level of `base` is allowed, so the values of a GPU that has one are copied.
TEST_F(CalibratedGpu, TakesOverTheValuesOfAGpuWithABase) {
  const std::string text = text_of("h200-sxm", {value("gpu.hbm.efficiency", "83.1 %")});
  EXPECT_THAT(text, HasSubstr("base: h100-sxm\n"));
  EXPECT_THAT(text, HasSubstr("stacks: {value: 6, source: \"NVIDIA H200 data sheet\""));
  EXPECT_THAT(text, Not(HasSubstr("82 %")));
  expect_same(read(text), set("h200-sxm", {"gpu.hbm.efficiency=83.1 %"}));
}

TEST_F(CalibratedGpu, OfAFileElsewhereIsWhole) {
  const std::string other = (folder_ / "other.yaml").string();
  std::ofstream(other) << "schema: wavetail/gpu/1\nname: other\nbase: h100-sxm\n"
                          "hbm: {latency: 400 ns}\n";
  const std::string of_other = text_of(other, {value("gpu.hbm.efficiency", "90 %")});
  EXPECT_THAT(of_other, HasSubstr("base: h100-sxm\n"));
  expect_same(read(of_other), set(other, {"gpu.hbm.efficiency=90 %"}));
  const std::string alone = (folder_ / "alone.yaml").string();
  fs::copy_file(WAVETAIL_SOURCE_DIR "/configs/gpu/h100-sxm.yaml", alone);
  const std::string of_alone = text_of(alone, {value("gpu.hbm.efficiency", "90 %")});
  // it has the name of a shipped one but is another file
  EXPECT_THAT(of_alone, Not(HasSubstr("base:")));
  expect_same(read(of_alone), set("h100-sxm", {"gpu.hbm.efficiency=90 %"}));
}

TEST_F(CalibratedGpu, HasSettingsTooAndSaysWhatIsNotKnown) {
  FittedValue mixed = value("gpu.launch.host_sync", "5 us", Told::WithOthers);
  mixed.others = {"gpu.launch.submit"};
  FittedValue vague = value("gpu.l1.queue", "50 cycles");
  vague.value.number = 50;
  vague.standard_error = Amount{11, "11 cycles"};
  const std::string text = text_of("h100-sxm",
                                   {mixed, vague, value("gpu.hbm.latency", "333 ns", Told::Unfelt),
                                    value("gpu.hbm.efficiency", "100 %", Told::AtBound)},
                                   {"gpu.sms=140", "gpu.hbm.bandwidth=x2"});
  EXPECT_THAT(text,
              HasSubstr("do not tell it apart from gpu.launch.submit\", confidence: assumed"));
  EXPECT_THAT(text, HasSubstr("stopped at the bound 100 %\", confidence: assumed"));
  EXPECT_THAT(text, HasSubstr("\"set: gpu.hbm.bandwidth=x2\", confidence: assumed"));
  EXPECT_THAT(text, HasSubstr("standard error 11 cycles\", confidence: assumed"));
  EXPECT_THAT(text, Not(HasSubstr("latency")));
  expect_same(read(text),
              set("h100-sxm", {"gpu.sms=140", "gpu.hbm.bandwidth=x2", "gpu.launch.host_sync=5 us",
                               "gpu.l1.queue=50 cycles", "gpu.hbm.efficiency=100 %"}));
}

}  // namespace
}  // namespace wavetail::study
