// SPDX-License-Identifier: Apache-2.0
#include "study/apart.h"

#include <algorithm>
#include <charconv>

namespace wavetail::study {

namespace {

constexpr double kMostRatio = 2.5;    // of independent collections of one kernel
constexpr double kMostHeadDim = 256;  // of libraries' tensor core kernels
constexpr double kMostGroup = 48;     // query heads per KV head
constexpr int kFewCollections = 2;
constexpr double kBytesPerElement = 2;

// A parameter that is a number; 0 where it is absent or none.
double number_of(const Measurement& row, std::string_view key) {
  double n = 0;
  for (const auto& [name, text] : row.params) {
    if (name == key) { std::from_chars(text.data(), text.data() + text.size(), n); }
  }
  return n;
}

double seconds_per(const std::string& unit) {
  return unit == "us" ? 1e-6 : unit == "ms" ? 1e-3 : unit == "ns" ? 1e-9 : unit == "s" ? 1 : 0;
}

bool beats_dram(const Measurement& row, const gpu::GpuSpec& gpu) {
  const double seconds = row.value.value_or(0) * seconds_per(row.unit);
  const double bytes = 2 * kBytesPerElement * std::max(1.0, number_of(row, "batch")) *
                       number_of(row, "kv_heads") * number_of(row, "kv_len") *
                       number_of(row, "head_dim");
  return seconds > 0 && bytes > static_cast<double>(gpu.l2.capacity.count()) &&
         bytes / seconds > static_cast<double>(gpu.hbm.bandwidth.count());
}

}  // namespace

std::string apart_of(const Measurement& row, const gpu::GpuSpec& gpu) {
  if (row.lo && row.hi && *row.lo > 0 && *row.hi > kMostRatio * *row.lo) {
    return "collections differ by more than 2.5 times";
  }
  if (row.kind.find("attention") == std::string::npos) { return {}; }
  if (number_of(row, "head_dim") > kMostHeadDim) { return "head_dim above 256"; }
  const double kv_heads = number_of(row, "kv_heads");
  if (kv_heads > 0 && number_of(row, "q_heads") >= kMostGroup * kv_heads && row.collections() > 0 &&
      row.collections() <= kFewCollections) {
    return "48 or more query heads per KV head, at most two collections";
  }
  if (beats_dram(row, gpu)) { return "more bytes than L2 holds, faster than DRAM's peak"; }
  return {};
}

}  // namespace wavetail::study
