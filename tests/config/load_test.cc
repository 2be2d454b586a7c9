// SPDX-License-Identifier: Apache-2.0
#include "config/load.h"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <fstream>

namespace wavetail::config {
namespace {

namespace fs = std::filesystem;

// A folder of its own, gone at the end of the test.
class LoadFile : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/wavetail-load-XXXXXX";
    folder_ = mkdtemp(name);
  }

  void TearDown() override { fs::remove_all(folder_); }

  std::string write(const std::string& name, const std::string& text) {
    const std::string path = folder_ + "/" + name;
    std::ofstream(path, std::ios::binary) << text;
    return path;
  }

  // The messages of loading a file, which must be one, without its path.
  static std::string mistake(const std::string& path, const Limits& limits = {}) {
    Diagnostics diagnostics;
    EXPECT_FALSE(load_file(path, diagnostics, limits));
    EXPECT_EQ(diagnostics.count(), 1U);
    const Diagnostic d = diagnostics.sorted().at(0);
    EXPECT_EQ(d.place.source->name, path);
    return std::to_string(d.place.line) + ":" + std::to_string(d.place.column) + ": " + d.message;
  }

  std::string folder_;
};

TEST_F(LoadFile, WhatIsNoFileIsRefusedWithoutOpeningIt) {
  EXPECT_EQ(mistake(folder_ + "/none.yaml"), "1:1: there is no such file");
  EXPECT_EQ(mistake(folder_), "1:1: this is a folder; a YAML file is needed");
  EXPECT_EQ(mistake("/dev/zero").substr(0, 31), "1:1: this is not a regular file");
  const std::string pipe = folder_ + "/pipe.yaml";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const auto start = std::chrono::steady_clock::now();
  EXPECT_EQ(mistake(pipe).substr(0, 31), "1:1: this is not a regular file");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5));
}

TEST_F(LoadFile, SizeIsLimitedBeforeReading) {
  Limits limits;
  limits.file_bytes = 10;
  EXPECT_EQ(mistake(write("large.yaml", "key: value\n"), limits),
            "1:1: the file has 11 bytes; allowed are 10");
  Diagnostics diagnostics;
  EXPECT_TRUE(load_file(write("fits.yaml", "key: valu\n"), diagnostics, limits));
}

TEST_F(LoadFile, ASymbolicLinkToNothingIsNoFile) {
  fs::create_symlink(folder_ + "/none", folder_ + "/link.yaml");
  EXPECT_EQ(mistake(folder_ + "/link.yaml"), "1:1: there is no such file");
}

std::optional<Node> load(const std::string& text, Diagnostics& diagnostics) {
  return load_text("t.yaml", text, diagnostics);
}

TEST(LoadText, PlacesCountFromOne) {
  Diagnostics diagnostics;
  const auto root = load("a: 1\nb:\n  c: [x, 'y']\n", diagnostics);
  ASSERT_TRUE(root && diagnostics.ok());
  EXPECT_EQ(to_string(root->entries[1].place), "t.yaml:2:1");
  const Node* list = root->find("b")->find("c");
  EXPECT_EQ(to_string(list->place), "t.yaml:3:6");
  EXPECT_EQ(to_string(list->items[1].place), "t.yaml:3:10");
  EXPECT_FALSE(list->items[0].quoted);
  EXPECT_TRUE(list->items[1].quoted);
}

TEST(LoadText, ScalarsStayText) {
  Diagnostics diagnostics;
  const auto root = load("a: 010\nb: yes\nc: 1e3\nd: ~\ne:\n", diagnostics);
  ASSERT_TRUE(root);
  EXPECT_EQ(root->find("a")->text, "010");
  EXPECT_EQ(root->find("b")->text, "yes");
  EXPECT_EQ(root->find("c")->text, "1e3");
  EXPECT_EQ(root->find("e")->kind, Node::Kind::Null);
}

TEST(LoadText, AliasesAreCopies) {
  Diagnostics diagnostics;
  const auto root = load("a: &x {k: 1}\nb: *x\n", diagnostics);
  ASSERT_TRUE(root);
  EXPECT_EQ(root->find("b")->find("k")->text, "1");
}

TEST(LoadText, DuplicateKeysAreDroppedAndTheRestIsRead) {
  Diagnostics diagnostics;
  const auto root = load("a: {k: 1, k: 2}\nb: 3\na: 4\n", diagnostics);
  ASSERT_TRUE(root);
  EXPECT_EQ(diagnostics.render(),
            "t.yaml:1:11: error: 'a.k' is given twice; first at line 1\n"
            "    a: {k: 1, k: 2}\n"
            "              ^\n"
            "t.yaml:3:1: error: 'a' is given twice; first at line 1\n"
            "    a: 4\n"
            "    ^\n"
            "2 errors; nothing was simulated.\n");
  EXPECT_EQ(root->find("a")->find("k")->text, "1");
}

TEST(LoadText, NestingIsLimitedInEveryForm) {
  const auto refused = [](const std::string& text) {
    Diagnostics diagnostics;
    EXPECT_FALSE(load(text, diagnostics));
    const std::string message = diagnostics.sorted().at(0).message;
    EXPECT_EQ(message, "values are nested more than 64 deep") << text.substr(0, 40);
  };
  std::string flow, block, maps, keys;
  for (int i = 0; i < 10'000; ++i) {
    flow += "[";
    maps += "{a: ";
    block += "- ";
    keys += "? ";
  }
  refused(flow);
  refused(maps);
  refused(block + "x");
  refused(keys + "x");
  Diagnostics diagnostics;
  EXPECT_TRUE(load(std::string(64, '[') + std::string(64, ']'), diagnostics));
}

TEST(LoadText, AliasesAreCountedWhileTheyAreExpanded) {
  std::string nodes = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  std::string bytes = "a0: &a0 " + std::string(100'000, 'x') + "\n";
  for (int i = 1; i < 40; ++i) {
    const std::string before = "*a" + std::to_string(i - 1);
    nodes += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + ", " + before +
             "]\n";
    bytes += "a" + std::to_string(i) + ": &a" + std::to_string(i) + " [" + before + ", " + before +
             "]\n";
  }
  for (const std::string& text : {nodes, bytes}) {
    Diagnostics diagnostics;
    EXPECT_FALSE(load(text, diagnostics));
    EXPECT_EQ(diagnostics.sorted().at(0).message.substr(0, 54),
              "the file is too large, its aliases expanded; allowed a");
  }
}

TEST(LoadText, AByteOrderMarkAndWindowsLineEndsAreFine) {
  Diagnostics diagnostics;
  const auto root = load(
      "\xEF\xBB\xBF"
      "a: 1\r\nb: 2\r\n",
      diagnostics);
  ASSERT_TRUE(root && diagnostics.ok());
  EXPECT_EQ(root->find("a")->text, "1");
  EXPECT_EQ(root->find("b")->text, "2");
}

}  // namespace
}  // namespace wavetail::config
