// SPDX-License-Identifier: Apache-2.0
// Files and text to nodes. Input is not trusted: a folder, a pipe, a binary or an oversized file is
// refused before it is read, nesting and the size after expanding aliases are limited, duplicate
// keys, merge keys and second documents are errors. Every message has a place.
#pragma once

#include <istream>
#include <optional>
#include <string>

#include "config/diagnostics.h"
#include "config/node.h"

namespace wavetail::config {

struct Limits {
  std::size_t file_bytes = std::size_t{4} << 20;
  std::size_t nodes = 200'000;                     // after expanding aliases
  std::size_t text_bytes = std::size_t{16} << 20;  // scalars and keys, after expanding aliases
  int depth = 64;
};

// The one document of a file; "-" is standard input. Nothing comes back where there is no tree to
// look at; duplicate and merge keys are reported and dropped, so that the rest is checked in the
// same go.
[[nodiscard]] std::optional<Node> load_file(const std::string& path, Diagnostics& diagnostics,
                                            const Limits& limits = {});

// The same from text that is already here; `name` stands for it in messages.
[[nodiscard]] std::optional<Node> load_text(std::string name, std::string text,
                                            Diagnostics& diagnostics, const Limits& limits = {});

}  // namespace wavetail::config
