// SPDX-License-Identifier: Apache-2.0
// docs/gpu-files.md has a row for every value of a GPU file, under its section's heading.
#include <gtest/gtest.h>

#include <fstream>
#include <set>
#include <sstream>

#include "gpu/keys.h"

namespace wavetail::gpu {
namespace {

// "l1.ways" for a row that begins with `ways` below the heading "### l1"; a heading may name
// several sections.
std::set<std::string> documented() {
  std::ifstream file(WAVETAIL_SOURCE_DIR "/docs/gpu-files.md");
  std::set<std::string> rows;
  std::vector<std::string> sections;
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with("###")) {
      std::istringstream names(line.substr(line.find(' ')));
      sections.clear();
      for (std::string name; std::getline(names >> std::ws, name, ',');) {
        sections.push_back(name);
      }
    }
    if (!line.starts_with("| `")) { continue; }
    const std::string keys = line.substr(0, line.find('|', 1));  // `one`, `two`
    for (std::size_t from = keys.find('`'); from != std::string::npos;
         from = keys.find('`', from + 1)) {
      const std::size_t to = keys.find('`', from + 1);
      for (const std::string& section : sections) {
        rows.insert(section + "." + keys.substr(from + 1, to - from - 1));
      }
      from = to;
    }
  }
  return rows;
}

TEST(GpuDocument, HasEveryValue) {
  const std::set<std::string> rows = documented();
  for (const Field& field : fields()) {
    const std::size_t dot = field.path.rfind('.');
    if (dot == std::string::npos) { continue; }
    EXPECT_TRUE(rows.contains(field.path)) << field.path;
  }
}

}  // namespace
}  // namespace wavetail::gpu
