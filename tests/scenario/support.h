// SPDX-License-Identifier: Apache-2.0
// Short ways to load a scenario from text in tests of the scenario room.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "scenario/load.h"

namespace wavetail::scenario {

inline const std::string kHead = "schema: wavetail/scenario/1\nname: test\ngpu: h100-sxm\n";

// The folder of the GPU files that the project ships.
inline LoadOptions options(std::vector<std::string> sets = {}) {
  return {.sets = std::move(sets),
          .gpu = {},
          .folders = {std::string(WAVETAIL_SOURCE_DIR) + "/configs/gpu"}};
}

// A study that must be free of mistakes.
inline Study load(const std::string& text, const LoadOptions& with = options()) {
  config::Diagnostics diagnostics;
  auto study = load_study_text("test.yaml", text, with, diagnostics);
  EXPECT_TRUE(study) << diagnostics.render();
  return study ? std::move(*study) : Study{};
}

// The messages of a study that must be refused.
inline std::string refusal(const std::string& text, const LoadOptions& with = options()) {
  config::Diagnostics diagnostics;
  EXPECT_FALSE(load_study_text("test.yaml", text, with, diagnostics));
  return diagnostics.render();
}

}  // namespace wavetail::scenario
