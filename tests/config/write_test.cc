// SPDX-License-Identifier: Apache-2.0
// A tree that is written reads back as the same tree.
#include "config/write.h"

#include <gtest/gtest.h>

#include "config/load.h"

namespace wavetail::config {
namespace {

Node load(const std::string& text) {
  Diagnostics diagnostics;
  auto root = load_text("text.yaml", text, diagnostics);
  EXPECT_TRUE(diagnostics.ok()) << diagnostics.render() << text;
  return root ? std::move(*root) : Node{};
}

// Nodes without their places. Text may have got quotes, what begins like a number may not.
bool same(const Node& a, const Node& b) {
  const bool number = !a.text.empty() && a.text.find_first_of("-0123456789") == 0;
  bool all = a.kind == b.kind && a.text == b.text && (a.quoted == b.quoted || !number) &&
             a.items.size() == b.items.size() && a.entries.size() == b.entries.size();
  for (std::size_t i = 0; all && i < a.items.size(); ++i) { all = same(a.items[i], b.items[i]); }
  for (std::size_t i = 0; all && i < a.entries.size(); ++i) {
    all = a.entries[i].key == b.entries[i].key && same(a.entries[i].value, b.entries[i].value);
  }
  return all;
}

TEST(Write, SectionsAreIndentedAndValuesStandOnALine) {
  const std::string text = R"(schema: wavetail/gpu/1
gpcs: [18, 16]
hbm:
  bandwidth: {value: 3.352 TB/s, source: "5120 bit x 2", confidence: vendor}
  inner:
    a: -1
  from: {source: "sheet", confidence: vendor}
)";
  EXPECT_EQ(to_yaml(load(text)), text);
}

TEST(Write, TextThatYamlWouldTakeForSomethingElseIsQuoted) {
  Node text;
  text.kind = Node::Kind::Scalar;
  for (const std::string word : {"a: b", "# no", "{x}", "[1", "x, y", "'", "\"q\" \\ end", "*",
                                 "&a", "- b", "a\tb", "", " ", "!x", "%", "a #b"}) {
    Node root;
    root.kind = Node::Kind::Map;
    text.text = word;
    text.quoted = true;
    root.entries.push_back({"key", {}, text});
    EXPECT_TRUE(same(load(to_yaml(root)), root)) << word << "\n" << to_yaml(root);
  }
}

TEST(Write, ShippedGpusReadBackTheSame) {
  for (const std::string name : {"h100-sxm", "h200-sxm", "a100-sxm-80gb", "b200"}) {
    Diagnostics diagnostics;
    const auto root = load_file(WAVETAIL_SOURCE_DIR "/configs/gpu/" + name + ".yaml", diagnostics);
    ASSERT_TRUE(root);
    EXPECT_TRUE(same(load(to_yaml(*root)), *root)) << to_yaml(*root);
  }
}

}  // namespace
}  // namespace wavetail::config
