// SPDX-License-Identifier: Apache-2.0
// The keys of a GPU file as plain lists, made by walking gpu/describe.h: for checks of paths,
// schemas and documentation.
#pragma once

#include <string>
#include <vector>

#include "config/reader.h"
#include "gpu/spec.h"
#include "unit/parse.h"

namespace wavetail::gpu {

enum class ValueKind { Number, NumberList, Choice };

// One value of a GPU file.
struct Field {
  std::string path;  // below the file's root: "hbm.bandwidth"
  ValueKind kind = ValueKind::Number;
  unit::Dimension dimension = unit::Dimension::Count;
  std::string low, high;             // allowed, as written; empty for choices
  std::vector<std::string> choices;  // Choice
  bool required = true;              // where its section is there
  bool optional_section = false;
  std::string sentence;
};

// Every value, in the file's order.
[[nodiscard]] std::vector<Field> fields();

// "hbm.bandwidth", ... in the file's order.
[[nodiscard]] std::vector<std::string> field_paths();

// The keys of the file's root and, by path, of every section, `from` included.
[[nodiscard]] config::KeyTable root_keys();
[[nodiscard]] config::KeyTable section_keys(std::string_view path);

// Names of the choices, in the enumerators' order.
[[nodiscard]] std::vector<std::string> choice_names(ClockMode);
[[nodiscard]] std::vector<std::string> choice_names(WarpPolicy);

// A type in words: "size (KiB, MiB, ...)", "count", "one of spec, boost".
[[nodiscard]] std::string type_name(const Field& field);

// JSON Schema of a GPU file.
[[nodiscard]] std::string schema_json();

}  // namespace wavetail::gpu
