// SPDX-License-Identifier: Apache-2.0
#include "base/nearest.h"

#include <algorithm>
#include <cctype>
#include <numeric>
#include <vector>

namespace wavetail::base {

namespace {

constexpr std::size_t kLongestWord = 64;  // longer ones are no typing slips

char lower(char c) { return static_cast<char>(std::tolower(static_cast<unsigned char>(c))); }

}  // namespace

int edit_distance(std::string_view a, std::string_view b) {
  std::vector<int> before(b.size() + 1), last(b.size() + 1), row(b.size() + 1);
  std::iota(last.begin(), last.end(), 0);
  for (std::size_t i = 1; i <= a.size(); ++i) {
    row[0] = static_cast<int>(i);
    for (std::size_t j = 1; j <= b.size(); ++j) {
      const bool same = lower(a[i - 1]) == lower(b[j - 1]);
      row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (same ? 0 : 1)});
      const bool swapped = i > 1 && j > 1 && lower(a[i - 1]) == lower(b[j - 2]) &&
                           lower(a[i - 2]) == lower(b[j - 1]);
      if (swapped) { row[j] = std::min(row[j], before[j - 2] + 1); }
    }
    std::swap(before, last);
    std::swap(last, row);
  }
  return last[b.size()];
}

std::optional<std::string> nearest_word(std::string_view word,
                                        std::span<const std::string> candidates) {
  if (word.empty() || word.size() > kLongestWord) { return std::nullopt; }
  const int limit = std::max(1, static_cast<int>(word.size()) / 3);
  std::optional<std::string> best;
  int best_distance = limit + 1;
  for (const std::string& candidate : candidates) {
    if (candidate.size() > 2 * kLongestWord) { continue; }
    const int distance = edit_distance(word, candidate);
    if (distance < best_distance && distance < static_cast<int>(candidate.size())) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

std::string joined(std::span<const std::string> words) {
  std::string text;
  for (const std::string& word : words) { text += (text.empty() ? "" : ", ") + word; }
  return text;
}

std::string hint(std::string_view word, std::span<const std::string> candidates, bool list) {
  if (const auto near = nearest_word(word, candidates)) {
    return "; did you mean '" + *near + "'?";
  }
  return list && !candidates.empty() ? "; allowed: " + joined(candidates) : "";
}

}  // namespace wavetail::base
