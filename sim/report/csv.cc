// SPDX-License-Identifier: Apache-2.0
#include "report/csv.h"

#include <fmt/format.h>

#include "report/json.h"
#include "result/describe.h"

namespace wavetail::report {

namespace {

std::string cell(const std::string& v) { return csv_cell(v); }

std::string cell(std::int64_t v) { return std::to_string(v); }

std::string cell(double v) {
  const auto n = number(v);
  return n.is_null() ? "" : n.dump();
}

std::string cell(const std::vector<std::string>& v) {
  return csv_cell(fmt::format("{}", fmt::join(v, "+")));
}

template <class T>
std::string cell(const std::optional<T>& v) {
  return v ? cell(*v) : "";
}

void add_rows(std::string& out, const result::RunResult& run) {
  for (const auto& k : run.kernels) {
    out += csv_cell(run.variant);
    result::describe([&](std::string_view, const auto& value, std::string_view,
                         std::string_view) { out += "," + cell(value); },
                     k);
    out += fmt::format(",{},{}\n", csv_cell(k.bound.name), cell(k.bound.time_us));
  }
}

}  // namespace

std::string csv_cell(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) { return std::string(text); }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c;
    if (c == '"') { quoted += c; }
  }
  return quoted + "\"";
}

std::string to_csv(const result::RunResult& run) {
  std::string out = "variant";
  result::describe([&](std::string_view key, const auto&, std::string_view,
                       std::string_view) { out += fmt::format(",{}", key); },
                   result::KernelResult{});
  out += ",bound,bound_time_us\n";
  add_rows(out, run);
  for (const auto& v : run.variants) { add_rows(out, v); }
  return out;
}

}  // namespace wavetail::report
