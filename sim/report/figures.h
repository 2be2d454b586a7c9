// SPDX-License-Identifier: Apache-2.0
// Small questions about results that several writers ask.
#pragma once

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "result/result.h"

namespace wavetail::report {

// The value of a closed-form link, by key.
[[nodiscard]] inline std::optional<double> link(const std::vector<result::ChainLink>& chain,
                                                std::string_view key) {
  const auto it = std::find_if(chain.begin(), chain.end(),
                               [&](const auto& l) { return l.key == key; });
  return it == chain.end() ? std::nullopt : std::optional(it->value);
}

[[nodiscard]] inline double share(const std::map<std::string, double>& of,
                                  const std::string& name) {
  const auto it = of.find(name);
  return it == of.end() ? 0 : it->second;
}

[[nodiscard]] inline double percent(double part, double whole) {
  return whole > 0 ? 100 * part / whole : 0;
}

// SMs of the GPU, from the chain that divides by them.
[[nodiscard]] inline std::optional<double> sms_of(const result::KernelResult& k) {
  const auto all = link(k.bound.chain, "needed_in_flight_bytes");
  const auto one = link(k.bound.chain, "needed_in_flight_per_sm_bytes");
  return all && one && *one > 0 ? std::optional(*all / *one) : std::nullopt;
}

}  // namespace wavetail::report
