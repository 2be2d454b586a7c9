// SPDX-License-Identifier: Apache-2.0
#include "library/template.h"

#include <algorithm>
#include <charconv>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "library/all.h"
#include "library/parts.h"

namespace wavetail::library {

namespace {

// Fallbacks are ours: a whole number, for sizes followed by B, KiB, MiB or GiB.
std::int64_t parse_fallback(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<std::size_t>(end - text.data()));
  if (unit == " KiB") { return number << 10; }
  if (unit == " MiB") { return number << 20; }
  if (unit == " GiB") { return number << 30; }
  return number;
}

void fill_fallback(const Parameter& p, Arguments& arguments) {
  if (p.fallback.empty() || arguments.numbers.contains(p.name) ||
      arguments.words.contains(p.name)) {
    return;
  }
  switch (p.kind) {
    case ParameterKind::Count:
    case ParameterKind::Size: arguments.numbers.emplace(p.name, parse_fallback(p.fallback)); break;
    case ParameterKind::Flag:
      arguments.numbers.emplace(p.name, p.fallback == "true" ? 1 : 0);
      break;
    case ParameterKind::Choice:
    case ParameterKind::Word: arguments.words.emplace(p.name, p.fallback); break;
    case ParameterKind::Counts: break;  // a template chooses
  }
}

// Bytes of an element where the template has a choice of types; the widest otherwise.
int element_bytes(const Arguments& arguments) {
  const auto dtype = arguments.words.find("dtype");
  return dtype == arguments.words.end() ? 4 : dtype_bytes(dtype->second);
}

std::string too_large(double bytes) {
  return fmt::format("{:.4g} bytes; an array has up to 100 TB", bytes);
}

// The mistake of an extent that no array can have, at the largest of its counts.
std::vector<Mistake> check_extents(const Template& which, const Arguments& arguments) {
  for (const std::vector<std::string_view>& extent : which.extents) {
    double bytes = element_bytes(arguments);
    std::string_view largest;
    std::int64_t most = 0;
    for (const std::string_view name : extent) {
      const auto given = arguments.numbers.find(name);
      if (given == arguments.numbers.end()) { continue; }
      bytes *= static_cast<double>(given->second);
      if (given->second > most) {
        largest = name;
        most = given->second;
      }
    }
    if (bytes > static_cast<double>(kMostArrayBytes)) {
      return {{std::string(largest), fmt::format("is {}: {} come to {}", most,
                                                 fmt::join(extent, " x "), too_large(bytes))}};
    }
  }
  return {};
}

std::vector<Mistake> check_arrays(std::span<const kernel::Kernel> kernels) {
  for (const kernel::Kernel& k : kernels) {
    for (const kernel::Array& a : k.arrays) {
      if (a.bytes.count() > kMostArrayBytes) {
        return {{"", fmt::format("its array '{}' comes to {}", a.name,
                                 too_large(static_cast<double>(a.bytes.count())))}};
      }
    }
  }
  return {};
}

}  // namespace

std::span<const Template> templates() {
  static const std::vector<Template> kAll{
      attention_template(), copy_template(),    cross_entropy_template(), elementwise_template(),
      empty_template(),     gemm_template(),    gemv_template(),          grouped_gemm_template(),
      moe_template(),       norm_template(),    pointer_chase_template(), quantize_template(),
      read_template(),      reduce_template(),  rope_template(),          sampling_template(),
      sgemm_template(),     softmax_template(), transpose_template()};
  return kAll;
}

const Template* find_template(std::string_view name) {
  const auto all = templates();
  const auto at = std::find_if(all.begin(), all.end(),
                               [&](const Template& t) { return t.name == name; });
  return at == all.end() ? nullptr : &*at;
}

std::vector<Mistake> build(const Template& which, Arguments arguments, const gpu::GpuSpec& gpu,
                           std::vector<kernel::Kernel>& kernels) {
  for (const Parameter& p : which.parameters) { fill_fallback(p, arguments); }
  if (auto mistakes = check_extents(which, arguments); !mistakes.empty()) { return mistakes; }
  const auto first = static_cast<std::ptrdiff_t>(kernels.size());
  std::vector<Mistake> mistakes = which.make(arguments, gpu, kernels);
  std::for_each(kernels.begin() + first, kernels.end(),
                [&](kernel::Kernel& k) { k.template_name = which.name; });
  if (!mistakes.empty()) { return mistakes; }
  return check_arrays(std::span(kernels).subspan(static_cast<std::size_t>(first)));
}

}  // namespace wavetail::library
