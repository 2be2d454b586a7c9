// SPDX-License-Identifier: Apache-2.0
#include "gpu/reader.h"

#include <gtest/gtest.h>

#include "config/load.h"
#include "gpu/catalog.h"
#include "gpu/keys.h"
#include "unit/literals.h"

namespace wavetail::gpu {
namespace {

using namespace unit::literals;

const std::string kConfigs = std::string(WAVETAIL_SOURCE_DIR) + "/configs/gpu";

std::optional<Document> document(const std::string& name, config::Diagnostics& diagnostics) {
  return Catalog({kConfigs}).load(name, kConfigs, {}, diagnostics);
}

std::optional<GpuSpec> with(const std::string& name, const std::vector<std::string>& sets,
                            std::string& messages) {
  config::Diagnostics diagnostics;
  auto doc = document(name, diagnostics);
  std::vector<config::Setting> settings;
  for (const std::string& set : sets) {
    if (auto s = config::parse_setting("--set", set, diagnostics)) {
      settings.push_back(std::move(*s));
    }
  }
  std::optional<GpuSpec> spec;
  if (doc) {
    apply_settings(*doc, settings, diagnostics);
    spec = read_gpu(*doc, diagnostics);
  }
  messages = diagnostics.render();
  return spec;
}

TEST(GpuReader, EveryShippedFileReads) {
  const auto entries = Catalog({kConfigs}).entries();
  EXPECT_GE(entries.size(), 3U);
  for (const CatalogEntry& entry : entries) {
    std::string messages;
    const auto spec = with(entry.name, {}, messages);
    EXPECT_EQ(messages, "") << entry.name;
    ASSERT_TRUE(spec) << entry.name;
    for (const Field& field : fields()) {
      const bool absent = !spec->provenance.contains(field.path);
      if (field.path == "clock.mode" || (field.optional_section && absent)) { continue; }
      ASSERT_TRUE(spec->provenance.contains(field.path)) << entry.name << " " << field.path;
      EXPECT_NE(spec->provenance.at(field.path).source, "") << entry.name << " " << field.path;
    }
  }
}

TEST(GpuReader, ValuesAndProvenanceArriveInTheSpec) {
  std::string messages;
  const auto spec = with("h100-sxm", {}, messages);
  ASSERT_TRUE(spec) << messages;
  EXPECT_EQ(spec->sms(), 132);
  EXPECT_EQ(spec->clock.sm, 1830_MHz);
  EXPECT_EQ(spec->sm.shared_memory, 228_KiB);
  EXPECT_EQ(spec->power.limit_watts, 700);
  EXPECT_EQ(spec->provenance.at("clock.sm").confidence, Confidence::Vendor);
  EXPECT_EQ(spec->provenance.at("clock.l2").confidence, Confidence::Assumed);
  EXPECT_EQ(spec->provenance.at("clock.l2").range_low, "1600 MHz");
}

TEST(GpuReader, ABaseGivesWhatTheFileLeavesOut) {
  std::string messages;
  const auto h100 = with("h100-sxm", {}, messages);
  const auto h200 = with("h200-sxm", {}, messages);
  ASSERT_TRUE(h100 && h200) << messages;
  EXPECT_EQ(h200->name, "h200-sxm");
  EXPECT_EQ(h200->l2.latency_near, h100->l2.latency_near);
  EXPECT_GT(h200->l2.capacity, h100->l2.capacity);
  EXPECT_GT(h200->hbm.bandwidth, h100->hbm.bandwidth);
  EXPECT_EQ(h200->aliases.front(), "h200");
}

TEST(GpuReader, SettingsReplaceOrScale) {
  std::string messages;
  const auto spec = with(
      "h100-sxm",
      {"gpu.hbm.bandwidth=x2", "gpu.l1.latency=x1.5", "gpu.sm.max_warps=48", "gpu.sms=140"},
      messages);
  ASSERT_TRUE(spec) << messages;
  EXPECT_EQ(spec->hbm.bandwidth, Bandwidth{6'704'000'000'000});
  EXPECT_EQ(spec->l1.latency, 50_cycles);  // 49.5, whole cycles
  EXPECT_EQ(spec->sm.max_warps, 48);
  EXPECT_EQ(spec->sms(), 140);
  EXPECT_EQ(spec->gpcs, (std::vector<std::int64_t>{18, 18, 18, 18, 18, 18, 16, 16}));
  EXPECT_EQ(spec->provenance.at("hbm.bandwidth").confidence, Confidence::Assumed);
  EXPECT_EQ(spec->provenance.at("hbm.bandwidth").source, "set: gpu.hbm.bandwidth = x2");
}

TEST(GpuReader, ASetValueIsCheckedLikeAWrittenOne) {
  std::string messages;
  EXPECT_FALSE(with("h100-sxm",
                    {"gpu.hbm.bandwith=x2", "gpu.hbm.channels=x1.03", "gpu.clock.sm=1800"},
                    messages));
  EXPECT_EQ(messages,
            "--set gpu.clock.sm=1800: error: 'gpu.clock.sm': a unit is needed (one of: Hz, kHz, "
            "MHz, GHz); found '1800'\n"
            "--set gpu.hbm.bandwith=x2: error: unknown path 'gpu.hbm.bandwith'; did you mean "
            "'gpu.hbm.bandwidth'?\n"
            "--set gpu.hbm.channels=x1.03: error: 'gpu.hbm.channels': a whole number is needed; "
            "found '164.8'\n"
            "3 errors; nothing was simulated.\n");
}

TEST(GpuReader, RulesBetweenValues) {
  const auto refused = [](const std::string& set, const std::string& part) {
    std::string messages;
    EXPECT_FALSE(with("h100-sxm", {set}, messages)) << set;
    EXPECT_NE(messages.find(part), std::string::npos) << messages;
  };
  refused("gpu.sm.schedulers=3", "it must be a multiple of sm.schedulers (3)");
  refused("gpu.l2.latency_far=100 ns",
          "'gpu.l2.latency_far' is '100 ns'; it cannot be less than l2.latency_near (145 ns)");
  refused("gpu.hbm.latency=100 ns", "must exceed l2.latency_near (145 ns)");
  refused("gpu.l1.latency=x100", "must exceed l1.latency (3300 cycles, 1803 ns at clock.sm)");
  refused("gpu.sm.carveouts=[0 KiB, 64 KiB, 32 KiB]", "its entries must ascend");
  refused("gpu.sm.carveouts=[0 KiB, 64 KiB]",
          "its largest entry must be sm.shared_memory (228 KiB)");
  refused("gpu.l1.line=48 B", "'gpu.l1.line' is 48 B; allowed is 128 B");
  refused("gpu.hbm.efficiency=120 %", "'gpu.hbm.efficiency' is 120 %; allowed 1 % to 100 %");
  refused("gpu.clock.sm_max=1 GHz", "it cannot be below clock.sm (1830 MHz)");
  refused("gpu.clock.mode=turbo", "'gpu.clock.mode' is 'turbo'; allowed: spec, boost");
}

TEST(GpuReader, EveryNumberCanBeSetAndSaysSo) {
  for (const Field& field : fields()) {
    EXPECT_FALSE(field.sentence.empty()) << field.path;
    if (field.kind == ValueKind::Number) {
      const std::string gpu = field.optional_section ? "mi300x" : "h100-sxm";
      EXPECT_TRUE(unit::parse_real(field.low, field.dimension)) << field.path << " " << field.low;
      EXPECT_TRUE(unit::parse_real(field.high, field.dimension)) << field.path << " " << field.high;
      std::string messages;
      EXPECT_TRUE(with(gpu, {"gpu." + field.path + "=x1"}, messages)) << messages;
    }
  }
}

}  // namespace
}  // namespace wavetail::gpu
