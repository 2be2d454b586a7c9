// SPDX-License-Identifier: Apache-2.0
// The hint in "unknown key 'chanels'; did you mean 'channels'?": the candidate that is fewest
// typing slips away (letters left out, added, changed, or two neighbours swapped), if any is close
// enough.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace wavetail::base {

// Typing slips between two words, without regard to case.
[[nodiscard]] int edit_distance(std::string_view a, std::string_view b);

// The closest candidate within a third of the word's length (at least one slip); the first of
// equals.
[[nodiscard]] std::optional<std::string> nearest_word(std::string_view word,
                                                      std::span<const std::string> candidates);

// "; did you mean 'x'?" where there is a close word, else "" (or, with `list`, "; allowed: a, b,
// c").
[[nodiscard]] std::string hint(std::string_view word, std::span<const std::string> candidates,
                               bool list = true);

// "a, b, c"
[[nodiscard]] std::string joined(std::span<const std::string> words);

}  // namespace wavetail::base
