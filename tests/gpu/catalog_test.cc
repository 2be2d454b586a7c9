// SPDX-License-Identifier: Apache-2.0
#include "gpu/catalog.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace wavetail::gpu {
namespace {

namespace fs = std::filesystem;

const std::string kConfigs = std::string(WAVETAIL_SOURCE_DIR) + "/configs/gpu";

TEST(CanonicalName, CaseSeparatorsAndBracketsDoNotCount) {
  EXPECT_EQ(canonical_name("H100-SXM", false), "h100sxm");
  EXPECT_EQ(canonical_name("h100_sxm", false), "h100sxm");
  EXPECT_EQ(canonical_name("H100 SXM (1755 MHz)", false), "h100sxm");
  EXPECT_EQ(canonical_name("B300-SXM [boost]", true), "b300");
  EXPECT_EQ(canonical_name("A100-SXM-80GB", true), "a100");
  EXPECT_EQ(canonical_name("RTX PRO 6000 Server", true), "rtxpro6000");
  EXPECT_EQ(canonical_name("h200 sxm5", true), "h200");
  EXPECT_EQ(canonical_name("()", true), "");
}

TEST(Catalog, FindsByNameAliasAndShortForm) {
  const Catalog catalog({kConfigs});
  const auto stem = [&](std::string_view name) {
    const auto file = catalog.find(name);
    return file ? fs::path(*file).stem().string() : "";
  };
  EXPECT_EQ(stem("h100-sxm"), "h100-sxm");
  EXPECT_EQ(stem("H100_SXM"), "h100-sxm");
  EXPECT_EQ(stem("H100-SXM-80GB (700 W)"), "h100-sxm");
  EXPECT_EQ(stem("H200-SXM"), "h200-sxm");
  EXPECT_EQ(stem("h100-smx"), "");
  EXPECT_EQ(stem(""), "");
  EXPECT_EQ(stem("../gpu/h100-sxm"), "");
}

// configs/ and outside/ side by side, gone at the end of the test.
class CatalogFolder : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/wavetail-catalog-XXXXXX";
    folder_ = mkdtemp(name);
    fs::create_directories(folder_ + "/configs");
    fs::create_directories(folder_ + "/outside");
  }

  void TearDown() override { fs::remove_all(folder_); }

  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ + "/" + name) << "schema: wavetail/gpu/1\n" << text;
  }

  std::string mistake(const std::string& which) {
    config::Diagnostics diagnostics;
    const Catalog catalog({folder_ + "/configs"});
    EXPECT_FALSE(catalog.load(which, folder_ + "/configs", {}, diagnostics));
    EXPECT_EQ(diagnostics.count(), 1U);
    return diagnostics.ok() ? "" : diagnostics.sorted()[0].message;
  }

  std::string folder_;
};

TEST_F(CatalogFolder, NothingOutsideTheSearchPathIsRead) {
  write("outside/secret.yaml", "name: secret\n");
  fs::create_symlink(folder_ + "/outside/secret.yaml", folder_ + "/configs/link.yaml");
  fs::create_directory_symlink(folder_ + "/outside", folder_ + "/configs/folder");
  write("configs/child.yaml", "name: child\nbase: " + folder_ + "/outside/secret.yaml\n");
  const std::string outside = "lies outside the search path";
  EXPECT_NE(mistake("../outside/secret.yaml").find(outside), std::string::npos);
  EXPECT_NE(mistake(folder_ + "/outside/secret.yaml").find(outside), std::string::npos);
  EXPECT_NE(mistake("link.yaml").find(outside), std::string::npos);
  EXPECT_NE(mistake("secret").find(outside), std::string::npos);  // found through the link
  EXPECT_NE(mistake("folder/secret.yaml").find(outside), std::string::npos);
  EXPECT_NE(mistake("child").find(outside), std::string::npos);
}

TEST_F(CatalogFolder, ALinkInsideTheSearchPathIsFine) {
  write("configs/real.yaml", "name: real\n");
  fs::create_symlink("real.yaml", folder_ + "/configs/alias.yaml");
  config::Diagnostics diagnostics;
  EXPECT_TRUE(Catalog({folder_ + "/configs"}).load("alias.yaml", folder_, {}, diagnostics))
      << diagnostics.render();
}

TEST_F(CatalogFolder, LoopsAreRefused) {
  write("configs/self.yaml", "name: self\nbase: self\n");
  write("configs/a.yaml", "name: a\nbase: b\n");
  write("configs/b.yaml", "name: b\nbase: a\n");
  EXPECT_NE(mistake("self").find("'base' leads back to"), std::string::npos);
  EXPECT_NE(mistake("a").find("'base' leads back to"), std::string::npos);
}

TEST_F(CatalogFolder, ScenariosAndBrokenFilesAreNoGpus) {
  std::ofstream(folder_ + "/configs/scenario.yaml")
      << "schema: wavetail/scenario/1\nname: scenario\n";
  std::ofstream(folder_ + "/configs/broken.yaml") << "{";
  write("configs/good.yaml", "name: good\ndescription: one line\n");
  const auto entries = Catalog({folder_ + "/configs", folder_ + "/none"}).entries();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].name, "good");
  EXPECT_EQ(entries[0].description, "one line");
}

TEST_F(CatalogFolder, EarlierFoldersHideLaterOnes) {
  fs::create_directories(folder_ + "/later");
  write("configs/x.yaml", "name: x\ndescription: first\n");
  write("later/x.yaml", "name: x\ndescription: second\n");
  const auto entries = Catalog({folder_ + "/configs", folder_ + "/later"}).entries();
  ASSERT_EQ(entries.size(), 1U);
  EXPECT_EQ(entries[0].description, "first");
}

}  // namespace
}  // namespace wavetail::gpu
