// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "support.h"
#include "support/cpu_time.h"
#include "unit/literals.h"

namespace wavetail::scenario {
namespace {

using namespace unit::literals;

const std::string kBody =
    "kernels:\n  k: {duration: 5 us}\n  c: {template: copy, bytes: 64 MiB}\n"
    "timeline: [{launch: k, repeat: 2}, {launch: c}]\n";

TEST(Study, ReadsEverySection) {
  const Study study = load(kHead + kBody +
                           "description: what it shows\nmodel_bytes: 16.06 GB\n"
                           "simulation: {issue_quantum: 1, replay: off, skip_waves: off, seed: 9}\n"
                           "initial: {l2: dirty}\nassume: {latency: 600 ns}\n");
  const Scenario& s = study.base;
  EXPECT_EQ(s.name, "test");
  EXPECT_EQ(s.description, "what it shows");
  EXPECT_EQ(s.file, "test.yaml");
  EXPECT_EQ(s.gpu.name, "h100-sxm");
  EXPECT_EQ(s.model_bytes, unit::Bytes{16'060'000'000});
  EXPECT_EQ(s.simulation.issue_quantum, 1);
  EXPECT_FALSE(s.simulation.replay);
  EXPECT_EQ(s.simulation.seed, 9U);
  EXPECT_EQ(s.initial_l2, InitialL2::Dirty);
  EXPECT_EQ(s.assumed_latency, 600_ns);
  EXPECT_TRUE(study.variants.empty());
}

// Variants with equal kernels do not hold them once more each.
TEST(Study, VariantsShareEqualKernels) {
  const Study study = load(kHead + kBody +
                           "variants:\n  a: {host.launch: 3 us}\n  b: {gpu.hbm.latency: 400 ns}\n"
                           "  c: {kernels.k.duration: 6 us}\n");
  ASSERT_EQ(study.variants.size(), 3U);
  const auto* base = &study.base.kernels.all();
  EXPECT_EQ(&study.variants[0].scenario.kernels.all(), base);
  EXPECT_EQ(&study.variants[1].scenario.kernels.all(), base);
  EXPECT_NE(&study.variants[2].scenario.kernels.all(), base);
  EXPECT_EQ(study.variants[0].scenario.gpu, study.base.gpu);
  EXPECT_EQ(study.variants[1].scenario.gpu.hbm.latency, 400_ns);
  EXPECT_EQ(study.variants[2].scenario.kernels.at(0).duration, 6_us);
}

TEST(Study, TooManyVariantsAreRefused) {
  std::string text = kHead + kBody + "variants:\n";
  for (int n = 0; n <= 10'000; ++n) { text += "  v" + std::to_string(n) + ": {}\n"; }
  config::Diagnostics diagnostics;
  EXPECT_FALSE(load_study_text("test.yaml", text, {}, diagnostics));
  EXPECT_NE(diagnostics.render().find("10001 variants; allowed up to 10000"), std::string::npos);
}

// An interrupt while variants are read ends the reading, without a mistake.
TEST(Study, ReadingCanBeInterrupted) {
  const std::atomic<bool> cancelled{true};
  LoadOptions all = options({});
  all.cancelled = &cancelled;
  config::Diagnostics diagnostics;
  EXPECT_FALSE(load_study_text("test.yaml", kHead + kBody + "variants: {a: {host.launch: 3 us}}\n",
                               all, diagnostics));
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.render();
}

TEST(Study, SettingsOfTheFileThenOfTheCommandLineThenOfTheVariant) {
  const std::string text = kHead + kBody +
                           "set: {gpu.hbm.latency: 400 ns, kernels.k.duration: 6 us}\n"
                           "variants: {far: {gpu.hbm.latency: x2}}\n";
  const Study plain = load(text);
  EXPECT_EQ(plain.base.gpu.hbm.latency, 400_ns);
  EXPECT_EQ(plain.base.kernels.at(0).duration, 6_us);
  ASSERT_EQ(plain.variants.size(), 1U);
  EXPECT_EQ(plain.variants[0].name, "far");
  EXPECT_EQ(plain.variants[0].scenario.gpu.hbm.latency, 800_ns);
  const Study set = load(
      text, options({"gpu.hbm.latency=x1.5", "kernels.k.duration=8 us", "timeline[0].repeat=7"}));
  EXPECT_EQ(set.base.gpu.hbm.latency, 600_ns);
  EXPECT_EQ(set.base.kernels.at(0).duration, 8_us);
  EXPECT_EQ(set.base.timeline.items.at(0).repeat, 7);
  EXPECT_EQ(set.variants[0].scenario.gpu.hbm.latency, 1200_ns);
}

TEST(Study, SettingsReachWhatTheFileLeavesOut) {
  const Study s = load(kHead + kBody,
                       options({"simulation.issue_quantum=1", "simulation.replay=off",
                                "initial.l2=clean", "assume.latency=600 ns", "model_bytes=1 GB",
                                "host.launch=4 us", "kernels.c.width=4 B"}));
  EXPECT_EQ(s.base.simulation.issue_quantum, 1);
  EXPECT_FALSE(s.base.simulation.replay);
  EXPECT_EQ(s.base.initial_l2, InitialL2::Clean);
  EXPECT_EQ(s.base.assumed_latency, 600_ns);
  EXPECT_EQ(s.base.timeline.costs.launch, 4_us);
}

TEST(Study, ASweepIsOneVariantPerValue) {
  const Study one = load(kHead + kBody + "sweep: {gpu.sms: [132, 140]}\n");
  ASSERT_EQ(one.variants.size(), 2U);
  EXPECT_EQ(one.variants[1].name, "140");
  EXPECT_EQ(one.variants[1].scenario.gpu.sms(), 140);
  const Study two = load(kHead + kBody +
                         "sweep: {gpu.sms: [132, 140], kernels.k.duration: [1 us, 2 us, 3 us]}\n");
  ASSERT_EQ(two.variants.size(), 6U);
  EXPECT_EQ(two.variants[4].name, "140, 2 us");
  EXPECT_EQ(two.variants[4].scenario.kernels.at(0).duration, 2_us);
}

TEST(Study, AnotherGpu) {
  const Study variant = load(kHead + kBody + "variants: {h200: {gpu: h200-sxm}}\n");
  EXPECT_EQ(variant.base.gpu.name, "h100-sxm");
  EXPECT_EQ(variant.variants.at(0).scenario.gpu.name, "h200-sxm");
  LoadOptions with = options();
  with.gpu = "A100 SXM 80GB";
  EXPECT_EQ(load(kHead + kBody, with).base.gpu.name, "a100-sxm-80gb");
  with.gpu = std::string(WAVETAIL_SOURCE_DIR) + "/configs/gpu/h200-sxm.yaml";
  with.folders
      .clear();  // a file of the command line may lie anywhere, and finds its base beside it
  EXPECT_EQ(load(kHead + kBody, with).base.gpu.name, "h200-sxm");
  with.gpu = "h100";
  EXPECT_NE(refusal(kHead + kBody, with).find("--gpu h100: error: unknown GPU 'h100'"),
            std::string::npos);
}

TEST(Study, AGpuWithoutAScenario) {
  config::Diagnostics diagnostics;
  const auto spec = load_gpu("h100", options({"gpu.sms=140"}), diagnostics);
  ASSERT_TRUE(spec) << diagnostics.render();
  EXPECT_EQ(spec->sms(), 140);
  EXPECT_FALSE(load_gpu("h100", options({"host.launch=1 us"}), diagnostics));
  EXPECT_EQ(diagnostics.sorted().at(0).message,
            "'host.launch' belongs to a scenario; only gpu.* can be set here");
}

TEST(Study, MistakesOfTheCommandLinePointThere) {
  const std::string text = refusal(
      kHead + kBody, options({"kernels.c.byts=1 MiB", "timeline[7].repeat=1", "bad"}));
  EXPECT_EQ(text,
            "--set bad: error: PATH=VALUE is needed; found 'bad'\n"
            "--set kernels.c.byts=1 MiB: error: unknown key 'kernels.c.byts'; did you mean "
            "'bytes'?\n"
            "--set timeline[7].repeat=1: error: 'timeline[7].repeat' does not exist: 'timeline' "
            "has 2 entries, counted from 0\n"
            "3 errors; nothing was simulated.\n");
}

// The rule is found broken at a line of a file that is sound without the setting.
TEST(Study, AMistakeThatASettingBringsAboutPointsToIt) {
  const std::string
      text = kHead + "kernels:\n  k: {grid: 1, block: 256, registers: 32, program: [{fp32: 1}]}\n" +
             "timeline: [{launch: k}]\n";
  const std::string one = refusal(
      text, options({"kernels.k.grid=2", "gpu.sm.max_threads_per_block=128", "initial.l2=clean"}));
  EXPECT_TRUE(one.starts_with("--set gpu.sm.max_threads_per_block=128: error: at test.yaml:5:"))
      << one;
  EXPECT_TRUE(one.ends_with("\n1 error; nothing was simulated.\n")) << one;
  const std::string both = refusal(text + "hots: {}\n",
                                   options({"gpu.sm.max_threads_per_block=128"}));
  EXPECT_NE(both.find("\ntest.yaml:7:1: error: unknown key 'hots'"), std::string::npos) << both;
}

TEST(Study, TimeThatCannotBeCountedIsRefused) {
  const std::string head = kHead + "kernels:\n  k: {duration: 5 us}\n";
  const std::string many = "timeline: [{launch: k, repeat: 10000000}]\n";
  const std::string message = "its calls, gaps, host work and stated durations last more than";
  load(head + many + "host: {launch: 90 ms}\n");
  EXPECT_NE(refusal(head + many + "host: {launch: 1 s}\n").find(message), std::string::npos);
  EXPECT_NE(refusal(head + many, options({"gpu.launch.stream_gap=1 s"})).find(message),
            std::string::npos);
  // The nodes of a graph are not called.
  load(head +
       "timeline: [{graph: {body: [{launch: k, repeat: 10000000}]}}]\nhost: {launch: 1 s}\n");
}

// Eight times the variants, each with an expectation: eight times the work, not 64 times.
TEST(Study, ThousandsOfVariantsTakeTimeInProportion) {
  const auto seconds = [](int variants) {
    std::string text = kHead + kBody + "variants:\n";
    std::string expect = "expect:\n";
    for (int v = 0; v < variants; ++v) {
      const std::string name = "v" + std::to_string(v);
      text += "  v " + std::to_string(v) + ": {kernels.k.duration: 6 us}\n";
      expect += "  variants." + name + ".kernels.k.time: {ratio_to: kernels.k.time, value: 1}\n";
    }
    return tests::cpu_seconds([&] { EXPECT_FALSE(load(text + expect).variants.empty()); });
  };
  EXPECT_LT(seconds(400) / seconds(50), 24);
}

TEST(Study, IsTheSameEveryTime) {
  const std::string text = kHead + kBody + "set: {gpu.hbm.latencyy: 1 ns}\nvariants: {a: {b: 1}}\n";
  EXPECT_EQ(refusal(text), refusal(text));
}

}  // namespace
}  // namespace wavetail::scenario
