// SPDX-License-Identifier: Apache-2.0
#include "config/setting.h"

#include <gtest/gtest.h>

#include "config/load.h"

namespace wavetail::config {
namespace {

std::optional<Setting> parse(const std::string& text, Diagnostics& diagnostics) {
  return parse_setting("--set", text, diagnostics);
}

std::string refused(const std::string& text) {
  Diagnostics diagnostics;
  EXPECT_FALSE(parse(text, diagnostics));
  const auto all = diagnostics.sorted();
  return all.empty() ? "" : to_string(all[0].place) + ": " + all[0].message;
}

TEST(Setting, IsAPathAndAYamlValue) {
  Diagnostics diagnostics;
  const auto s = parse("gpu.gpcs=[18, 16]", diagnostics);
  ASSERT_TRUE(s);
  EXPECT_EQ(s->path, "gpu.gpcs");
  ASSERT_EQ(s->value.items.size(), 2U);
  EXPECT_EQ(to_string(s->value.items[1].place), "--set gpu.gpcs=[18, 16]");
}

TEST(Setting, MistakesNameTheOptionAndItsText) {
  EXPECT_EQ(refused("gpu.sms"), "--set gpu.sms: PATH=VALUE is needed; found 'gpu.sms'");
  EXPECT_EQ(refused("=5"), "--set =5: PATH=VALUE is needed; found '=5'");
  EXPECT_EQ(refused("gpu.sms="), "--set gpu.sms=: PATH=VALUE is needed; found 'gpu.sms='");
  EXPECT_EQ(refused("gpu.sms=[1"),
            "--set gpu.sms=[1: this is not YAML: end of sequence flow not found");
  const std::string long_text = refused(std::string(5000, 'x') + "\n");
  EXPECT_LT(long_text.size(), 400U);
  EXPECT_EQ(long_text.find('\n'), std::string::npos);
}

TEST(Setting, AFactorNeedsSomethingToScale) {
  Diagnostics diagnostics;
  const auto s = parse("host.launch=x0", diagnostics);
  ASSERT_TRUE(s);
  Node root;
  root.kind = Node::Kind::Map;
  EXPECT_FALSE(apply(root, *s, "", diagnostics));
  ASSERT_EQ(diagnostics.count(), 1U);
  EXPECT_EQ(diagnostics.sorted()[0].message,
            "'host.launch' is not given and cannot be scaled by x0; give a value");
  EXPECT_TRUE(root.entries.empty());
}

TEST(Setting, PathsHaveKeysAndIndices) {
  const auto steps = split_path("timeline[2].repeat");
  ASSERT_TRUE(steps);
  ASSERT_EQ(steps->size(), 3U);
  EXPECT_EQ((*steps)[0].key, "timeline");
  EXPECT_EQ((*steps)[1].index, 2U);
  EXPECT_EQ((*steps)[2].key, "repeat");
  for (const char* bad :
       {"", ".", "a.", ".a", "a..b", "a[", "a[]", "a[x]", "a[-1]", "[0]", "a[1]b", "a[99999999]"}) {
    EXPECT_FALSE(split_path(bad)) << bad;
  }
}

TEST(Setting, FactorsScaleExactly) {
  EXPECT_EQ(scale("3.352 TB/s", "x2").value, "6.704 TB/s");
  EXPECT_EQ(scale("262 cycles", "x1.5").value, "393 cycles");
  EXPECT_EQ(scale("33 cycles", "x1.5").value, "50 cycles");  // 49.5: whole cycles, halves up
  EXPECT_EQ(scale("33 cycles", "x1.49").value, "49 cycles");
  EXPECT_EQ(scale("80", "x1.01").value, "80.8");
  EXPECT_EQ(scale("1 ns", "x0.333333333333333333").value, "0.333333333333333 ns");
  EXPECT_EQ(scale("spec", "x2").reason, "'spec' is not a number");
  EXPECT_EQ(scale("5 ns", "x2 ns").reason, "a factor is a bare number behind the x; found 'x2 ns'");
  EXPECT_EQ(scale("999999999999999999", "x999999").reason, "the product is too large");
}

std::string apply_to(const std::string& yaml, const std::string& set, std::string_view path) {
  Diagnostics diagnostics;
  auto root = load_text("t", yaml, diagnostics);
  const auto setting = parse(set, diagnostics);
  if (!root || !setting || !apply(*root, *setting, "", diagnostics)) {
    return diagnostics.sorted().at(0).message;
  }
  const Node* node = &*root;
  const auto steps = split_path(path);
  for (const Step& step : *steps) {
    node = step.index ? &node->items.at(*step.index) : node->find(step.key);
  }
  return node->text;
}

TEST(Setting, ReplacesScalesAndMakesNodes) {
  EXPECT_EQ(apply_to("{a: {b: 1}}", "a.b=2", "a.b"), "2");
  EXPECT_EQ(apply_to("{a: {b: 3}}", "a.b=x2", "a.b"), "6");
  EXPECT_EQ(apply_to("{a: {b: {value: 3 ns, source: s}}}", "a.b=x2", "a.b"), "6 ns");
  EXPECT_EQ(apply_to("{a: 1}", "c.d=5", "c.d"), "5");
  EXPECT_EQ(apply_to("{t: [{r: 1}, {r: 2}]}", "t[1].r=7", "t[1].r"), "7");
}

TEST(Setting, SaysWhyAPathDoesNotExist) {
  EXPECT_EQ(apply_to("{t: [1]}", "t[1]=7", "t"),
            "'t[1]' does not exist: 't' has 1 entries, counted from 0");
  EXPECT_EQ(apply_to("{t: 1}", "t.x=7", "t"), "'t.x' does not exist: 't' is '1'");
  EXPECT_EQ(apply_to("{t: {a: 1}}", "t=x2", "t"),
            "'t' is a map of keys and cannot be scaled by x2; give a value");
  EXPECT_EQ(apply_to("{t: 1}", "t.=7", "t"),
            "'t.' is not a path like gpu.hbm.bandwidth or timeline[2].repeat");
}

}  // namespace
}  // namespace wavetail::config
