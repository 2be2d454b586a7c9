// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "gpu/keys.h"
#include "library/template.h"
#include "scenario/keys.h"

namespace wavetail::scenario {
namespace {

// Every {"$ref": "#/$defs/X"} leads somewhere.
void expect_references_resolve(const nlohmann::json& node, const nlohmann::json& defs) {
  if (node.is_object() && node.contains("$ref")) {
    const std::string name = node["$ref"].get<std::string>().substr(8);
    EXPECT_TRUE(defs.contains(name)) << name;
  }
  if (node.is_structured()) {
    for (const auto& child : node) { expect_references_resolve(child, defs); }
  }
}

TEST(Schema, TheScenariosHasEveryKeyWithASentenceAndAType) {
  const auto schema = nlohmann::json::parse(schema_json());
  expect_references_resolve(schema, schema["$defs"]);
  for (const config::Key& key : root_keys()) {
    EXPECT_TRUE(schema["properties"].contains(key.name)) << key.name;
  }
  for (const auto& [name, value] : schema["$defs"]["access"]["properties"].items()) {
    EXPECT_GT(value.size(), 1U) << name << " has no type";
    EXPECT_FALSE(value["description"].get<std::string>().empty()) << name;
  }
  // A program, a stand-in, and every template.
  EXPECT_EQ(schema["$defs"]["kernel"]["anyOf"].size(), 2 + library::templates().size());
}

TEST(Schema, TheGpusHasEveryFieldWithItsUnits) {
  const auto schema = nlohmann::json::parse(gpu::schema_json());
  for (const gpu::Field& field : gpu::fields()) {
    auto pointer = "/properties/" + field.path;
    for (auto dot = pointer.find('.'); dot != std::string::npos; dot = pointer.find('.')) {
      pointer.replace(dot, 1, "/properties/");
    }
    ASSERT_TRUE(schema.contains(nlohmann::json::json_pointer(pointer))) << pointer;
  }
  const auto& clock = schema["properties"]["clock"]["properties"]["sm"]["anyOf"][0];
  EXPECT_EQ(clock["pattern"], "^[0-9]+(\\.[0-9]+)? ?(Hz|kHz|MHz|GHz)$");
}

}  // namespace
}  // namespace wavetail::scenario
