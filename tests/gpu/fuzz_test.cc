// SPDX-License-Identifier: Apache-2.0
// Whatever the bytes of a GPU file, reading it ends with a spec or with messages that have a place.
#include <gtest/gtest.h>

#include <fstream>
#include <random>
#include <sstream>

#include "config/load.h"
#include "gpu/reader.h"

namespace wavetail::gpu {
namespace {

std::string shipped() {
  std::ifstream in(std::string(WAVETAIL_SOURCE_DIR) + "/configs/gpu/h100-sxm.yaml");
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

bool has_an_answer(const std::string& text) {
  config::Diagnostics diagnostics;
  auto root = config::load_text("fuzz.yaml", text, diagnostics);
  std::optional<GpuSpec> spec;
  if (root) {
    Document document{std::move(*root), {}};
    document.provenance = read_provenance(document.root, diagnostics);
    spec = read_gpu(document, diagnostics);
  }
  for (const config::Diagnostic& d : diagnostics.sorted()) {
    if (!d.place.source || d.place.line < 1 || d.place.column < 1) { return false; }
  }
  return spec.has_value() || !diagnostics.ok();
}

TEST(GpuFuzz, SeededMutationsHaveAnAnswer) {
  const std::string good = shipped();
  ASSERT_TRUE(has_an_answer(good));
  std::mt19937_64 random(7);
  const std::string spice = "[]{}:,&*!|'\"%#-?0123456789. \n";
  for (int round = 0; round < 150; ++round) {
    std::string text = good;
    for (int change = 0; change < 1 + round % 6; ++change) {
      const std::size_t at = random() % text.size();
      const char c = spice[random() % spice.size()];
      switch (random() % 3) {
        case 0: text[at] = c; break;
        case 1: text.insert(at, 1, c); break;
        default: text.erase(at, 1 + random() % 60); break;
      }
    }
    EXPECT_TRUE(has_an_answer(text)) << text;
  }
}

TEST(GpuFuzz, CutFilesHaveAnAnswer) {
  const std::string good = shipped();
  for (std::size_t n = 0; n < good.size(); n += 97) {
    EXPECT_TRUE(has_an_answer(good.substr(0, n))) << n;
  }
}

}  // namespace
}  // namespace wavetail::gpu
