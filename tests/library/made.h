// SPDX-License-Identifier: Apache-2.0
// Kernels of a template on an H100, or the first mistake in its parameters.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "library/template.h"
#include "support/specs.h"

namespace wavetail::library {

using Numbers = std::map<std::string, std::int64_t, std::less<>>;
using Words = std::map<std::string, std::string, std::less<>>;

inline std::vector<kernel::Kernel> made(const char* name, const Numbers& numbers,
                                        const Words& words = {}) {
  std::vector<kernel::Kernel> kernels;
  const auto mistakes = build(*find_template(name), {numbers, words}, specs::h100(), kernels);
  EXPECT_THAT(mistakes, ::testing::IsEmpty())
      << mistakes.front().parameter << ' ' << mistakes.front().message;
  return kernels;
}

inline std::string mistake(const char* name, const Numbers& numbers, const Words& words = {}) {
  std::vector<kernel::Kernel> kernels;
  const auto mistakes = build(*find_template(name), {numbers, words}, specs::h100(), kernels);
  return mistakes.empty() ? "" : mistakes.front().parameter + " " + mistakes.front().message;
}

}  // namespace wavetail::library
