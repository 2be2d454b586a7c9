// SPDX-License-Identifier: Apache-2.0
#include "gpu/architecture.h"

#include <gtest/gtest.h>

#include "config/load.h"
#include "gpu/catalog.h"
#include "gpu/keys.h"
#include "gpu/rules.h"

namespace wavetail::gpu {
namespace {

const std::string kConfigs = std::string(WAVETAIL_SOURCE_DIR) + "/configs/gpu";

std::optional<Document> document(const std::string& text, config::Diagnostics& diagnostics) {
  auto root = config::load_text("gpu.yaml", text, diagnostics);
  if (!root) { return std::nullopt; }
  Document d{std::move(*root), {}};
  d.provenance = read_provenance(d.root, diagnostics);
  add_architecture(d);
  return d;
}

std::string text_at(const Document& d, std::string_view key) {
  const config::Node* node = d.root.find("sm")->find(key);
  return node == nullptr ? "" : node->text;
}

TEST(Architecture, EveryCapabilityIsThereWithSources) {
  std::vector<std::string_view> names;
  for (const Architecture& a : architectures()) {
    names.push_back(a.name);
    for (const Field& field : fields()) {
      if (!field.path.starts_with("sm.")) { continue; }
      EXPECT_NE(source_of(a, std::string_view(field.path).substr(3)), "") << a.name << field.path;
    }
    std::string digits(a.capability);
    digits.erase(digits.find('.'), 1);
    EXPECT_EQ(a.name, "sm_" + digits);
  }
  EXPECT_EQ(names, (std::vector<std::string_view>{"sm_70", "sm_75", "sm_80", "sm_86", "sm_89",
                                                  "sm_90", "sm_100", "sm_103", "sm_120"}));
  EXPECT_EQ(find_architecture("sm_81"), nullptr);
}

TEST(Architecture, CarveOutsEndWithAllOfTheSharedMemory) {
  for (const Architecture& a : architectures()) {
    EXPECT_EQ(a.sm.carveouts.back(), a.sm.shared_memory) << a.name;
    EXPECT_EQ(a.sm.shared_memory - a.sm.shared_memory_per_block, a.sm.shared_memory_reserved);
    EXPECT_LT(a.sm.shared_memory, a.sm.unified_l1);
    EXPECT_EQ(a.sm.warp_unit, a.sm.schedulers);
  }
}

// A shipped file says what its compute capability has.
TEST(Architecture, ShippedFilesAgree) {
  const Catalog catalog({kConfigs});
  for (const CatalogEntry& entry : catalog.entries()) {
    config::Diagnostics diagnostics;
    const auto d = catalog.load(entry.name, kConfigs, {}, diagnostics);
    const auto spec = d ? read_gpu(*d, diagnostics) : std::nullopt;
    ASSERT_TRUE(spec) << diagnostics.render();
    const Architecture* a = find_architecture(spec->architecture);
    if (a == nullptr) { continue; }
    SmSpec rules = a->sm;
    rules.policy = spec->sm.policy;
    EXPECT_EQ(spec->sm, rules) << entry.name;
  }
}

TEST(Architecture, GivesWhatAFileLeavesOut) {
  config::Diagnostics diagnostics;
  const auto d = document(
      "architecture: sm_86\nsm:\n  max_warps: 40\n  from: {source: mine, confidence: derived}\n",
      diagnostics);
  ASSERT_TRUE(d) << diagnostics.render();
  EXPECT_EQ(text_at(*d, "max_warps"), "40");  // the file's own
  EXPECT_EQ(d->provenance.at("sm.max_warps").source, "mine");
  EXPECT_EQ(text_at(*d, "max_blocks"), "16");
  EXPECT_EQ(text_at(*d, "shared_memory"), "100 KiB");
  EXPECT_EQ(d->root.find("sm")->find("carveouts")->items.size(), 6U);
  EXPECT_EQ(text_at(*d, "policy"), "");  // no vendor says it
  EXPECT_EQ(d->provenance.at("sm.max_blocks").confidence, Confidence::Vendor);
  EXPECT_NE(d->provenance.at("sm.max_blocks").source.find("Programming Guide"), std::string::npos);
}

TEST(Architecture, AFileMayLeaveAllRulesOut) {
  const Catalog catalog({kConfigs});
  config::Diagnostics diagnostics;
  auto d = catalog.load("h100-sxm", kConfigs, {}, diagnostics);
  ASSERT_TRUE(d);
  const auto whole = read_gpu(*d, diagnostics);
  std::erase_if(d->root.find("sm")->entries,
                [](const config::Entry& e) { return e.key != "policy"; });
  config::Diagnostics without;
  EXPECT_FALSE(read_gpu(*d, without));
  add_architecture(*d);
  const auto filled = read_gpu(*d, diagnostics);
  ASSERT_TRUE(whole && filled) << diagnostics.render();
  EXPECT_EQ(filled->sm, whole->sm);
}

TEST(Architecture, UnknownOnesAndBrokenFilesGetNothing) {
  config::Diagnostics diagnostics;
  const auto unknown = document("architecture: gfx942\nsm: {max_warps: 32}\n", diagnostics);
  EXPECT_EQ(unknown->root.find("sm")->entries.size(), 1U);
  for (const auto* text : {"architecture: sm_90\n", "sm: {max_warps: 32}\n",
                           "architecture: [sm_90]\nsm: {}\n", "architecture: sm_90\nsm: 3\n"}) {
    EXPECT_TRUE(document(text, diagnostics)) << text;
  }
}

TEST(Architecture, IsNoGpu) {
  config::Diagnostics diagnostics;
  EXPECT_FALSE(Catalog({kConfigs}).load("sm_80", kConfigs, {}, diagnostics));
  EXPECT_NE(diagnostics.render().find("'sm_80' is a compute capability"), std::string::npos);
}

}  // namespace
}  // namespace wavetail::gpu
