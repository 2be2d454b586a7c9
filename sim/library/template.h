// SPDX-License-Identifier: Apache-2.0
// A template turns a shape (rows, cols, dtype, ...) into a kernel::Kernel as a library would launch
// it. Every template declares its parameters once; the scenario reader checks a file against the
// declaration and `wavetail list templates` prints it.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "gpu/spec.h"
#include "kernel/kernel.h"

namespace wavetail::library {

enum class ParameterKind : std::uint8_t {
  Count,   // a bare whole number
  Size,    // bytes, with a unit
  Choice,  // one of `choices`
  Flag,    // true | false
};

struct Parameter {
  std::string_view name;
  ParameterKind kind = ParameterKind::Count;
  bool required = false;
  std::int64_t low = 0, high = 0;         // allowed range of Count and Size (bytes)
  std::string_view fallback;              // as it would be written; empty: chosen by the template
  std::vector<std::string_view> choices;  // for Choice
  std::string_view sentence;
};

// Values by parameter name; what the file left out is absent.
struct Arguments {
  std::map<std::string, std::int64_t, std::less<>> numbers;  // Count, Size in bytes, Flag as 0 or 1
  std::map<std::string, std::string, std::less<>> words;     // Choice
};

struct Mistake {
  std::string parameter;  // the one to point at; empty: the template as a whole
  std::string message;    // what was found, what is allowed
};

struct Template {
  std::string_view name;
  std::string_view sentence;
  std::vector<Parameter> parameters;
  // Fills `kernel` (all but its name); returns mistakes that no single range could catch.
  std::vector<Mistake> (*make)(const Arguments&, const gpu::GpuSpec&,
                               kernel::Kernel& kernel) = nullptr;
};

// All templates, in alphabetical order.
[[nodiscard]] std::span<const Template> templates();
[[nodiscard]] const Template* find_template(std::string_view name);

}  // namespace wavetail::library
