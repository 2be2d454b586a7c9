// SPDX-License-Identifier: Apache-2.0
#include "library/template.h"

#include <algorithm>
#include <charconv>

#include "library/all.h"

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

}  // namespace

std::span<const Template> templates() {
  static const std::vector<Template> kAll{
      attention_template(), copy_template(),   elementwise_template(), empty_template(),
      gemm_template(),      gemv_template(),   norm_template(),        pointer_chase_template(),
      read_template(),      reduce_template(), rope_template(),        sampling_template(),
      transpose_template()};
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
  const auto first = static_cast<std::ptrdiff_t>(kernels.size());
  std::vector<Mistake> mistakes = which.make(arguments, gpu, kernels);
  std::for_each(kernels.begin() + first, kernels.end(),
                [&](kernel::Kernel& k) { k.template_name = which.name; });
  return mistakes;
}

}  // namespace wavetail::library
