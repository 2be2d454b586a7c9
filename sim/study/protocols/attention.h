// SPDX-License-Identifier: Apache-2.0
// An attention operation of a framework or a benchmark, and the plan that simulates it: whole, or,
// where its grid is long, in parts that tell what it takes per head, per tile and per block of
// keys.
#pragma once

#include <string>

#include "study/protocols/library.h"

namespace wavetail::study {

struct Attention {
  bool decode = false;
  std::int64_t batch = 1, q_heads = 1, kv_heads = 1, dim = 128, dim_v = 128;
  std::int64_t length = 1, prefix = 0;  // tokens of the prompt, or of the cache
  bool causal = true;
  std::string dtype = "bf16", kernel = {};  // empty: the library's choice
  bool overlap = true, specialised = true, packed = true,
       varlen = false;  // as the template's parameters
  std::int64_t page = 0;
  bool latent = false;  // values are part of the keys
  // Without the kernels of a framework around it: sums of the lengths, the write of the new keys
  // and values to the cache.
  bool alone = false;
  bool rotates = false;  // the kernel that writes the cache rotates the queries, too
  bool lean = false;     // kernels of few instructions that start ahead of the end of those before

  [[nodiscard]] std::int64_t units() const { return batch * kv_heads; }
};

// Blocks of keys that a simulation goes through at most, over all blocks of the grid, before it is
// done in parts.
inline constexpr double kMostSteps = 4000;

// The figure is the time of one operation, in seconds.
[[nodiscard]] Plan attention_plan(const Attention& attention, const gpu::GpuSpec& gpu,
                                  double most_steps = kMostSteps);

}  // namespace wavetail::study
