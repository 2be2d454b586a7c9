// SPDX-License-Identifier: Apache-2.0
// A template turns a shape (rows, cols, dtype, ...) into the kernel, or the few kernels in a row,
// that a library would launch for it. Every template declares its parameters once; the scenario
// reader checks a file against the declaration and `wavetail list templates` prints it.
//
//   const Template* t = find_template("gemv");
//   std::vector<kernel::Kernel> kernels;
//   std::vector<Mistake> mistakes = build(*t, arguments, gpu, kernels);
//
// Names. A kernel's name is empty (it takes the scenario's name for it) or a suffix (NAME.combine).
// An array's name that begins with '.' is private to the scenario's kernel (NAME.weights); any
// other is the scenario's own word and is shared by all kernels that use it.
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
  Word,    // a free name, e.g. of an array that kernels share
  Counts,  // a list of up to `most` bare whole numbers, each in the allowed range
};

struct Parameter {
  std::string_view name;
  ParameterKind kind = ParameterKind::Count;
  bool required = false;
  std::int64_t low = 0, high = 0;         // allowed range of Count and Size (bytes)
  std::string_view fallback;              // as it would be written; empty: chosen by the template
  std::vector<std::string_view> choices;  // for Choice
  std::string_view sentence;
  std::size_t most = 1;  // entries of Counts
};

// Values by parameter name; what the file left out is absent.
struct Arguments {
  // Count, Size in bytes, Flag as 0 or 1
  std::map<std::string, std::int64_t, std::less<>> numbers = {};
  std::map<std::string, std::string, std::less<>> words = {};                // Choice, Word
  std::map<std::string, std::vector<std::int64_t>, std::less<>> lists = {};  // Counts
};

struct Mistake {
  std::string parameter;  // the one to point at; empty: the template as a whole
  std::string message;    // what was found, what is allowed
};

struct Template {
  std::string_view name;
  std::string_view sentence;
  std::vector<Parameter> parameters;
  // Appends the kernels in launch order; returns mistakes that no single range could catch. Expects
  // arguments with every fallback filled in: call it through build().
  std::vector<Mistake> (*make)(const Arguments&, const gpu::GpuSpec&,
                               std::vector<kernel::Kernel>&) = nullptr;
  // Counts whose product is the elements of an array, by name: build() refuses what is too large
  // before `make` multiplies.
  std::vector<std::vector<std::string_view>> extents = {};
};

// All templates, in alphabetical order.
[[nodiscard]] std::span<const Template> templates();
[[nodiscard]] const Template* find_template(std::string_view name);

// The largest array, as in programs of a scenario's own.
inline constexpr std::int64_t kMostArrayBytes = 100'000'000'000'000;

// Fills in the fallbacks and appends the kernels in launch order. `kernels` is complete only where
// no mistake is returned.
[[nodiscard]] std::vector<Mistake> build(const Template& which, Arguments arguments,
                                         const gpu::GpuSpec& gpu,
                                         std::vector<kernel::Kernel>& kernels);

}  // namespace wavetail::library
