// SPDX-License-Identifier: Apache-2.0
// Dice with a seed, and GPUs made with them: one to three GPCs, counts of channels and slices that
// are no powers of two, one or two L2 partitions, caches of a few pages, private L2s with a
// memory-side cache below, warps that stay for their stores,
// addresses that are taken lane by lane.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <random>
#include <vector>

#include "gpu/spec.h"

namespace wavetail::tests {

// The same numbers on every platform: the distributions of <random> are not portable.
class Dice {
 public:
  explicit Dice(std::uint64_t seed) : random_(seed * 0x9e3779b97f4a7c15ULL + 1) {}

  // From first to last, both included.
  std::int64_t between(std::int64_t first, std::int64_t last) {
    return first +
           static_cast<std::int64_t>(random_() % static_cast<std::uint64_t>(last - first + 1));
  }

  bool one_in(std::int64_t n) { return between(1, n) == 1; }

  template <class T>
  T pick(std::initializer_list<T> from) {
    return from.begin()[between(0, static_cast<std::int64_t>(from.size()) - 1)];
  }

 private:
  std::mt19937_64 random_;
};

// Odd: sizes and rates that no product has. Part: an H100 with 6 to 12 SMs and its share of L2 and
// HBM. Whole: an H100.
enum class GpuKind { Odd, Part, Whole };

[[nodiscard]] gpu::GpuSpec random_gpu(Dice& dice, GpuKind kind);

}  // namespace wavetail::tests
