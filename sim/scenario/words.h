// SPDX-License-Identifier: Apache-2.0
// Words that expectations may use: what a text figure can say, and the admitted deviations of the
// model that a miss may be excused by.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace wavetail::scenario {

// The ids of docs/deviations.md, in its order.
[[nodiscard]] std::vector<std::string> deviation_ids();

// What the text figure at `path` can be, or each word of a list; empty: anything.
[[nodiscard]] std::vector<std::string> words_of(std::string_view path);

}  // namespace wavetail::scenario
