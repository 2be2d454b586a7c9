// SPDX-License-Identifier: Apache-2.0
// FP32 products wave by wave: what rows of libraries (sgemm.cc) and of hand-written ladders
// (sgemm_ladders.cc) share.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "library/sgemm.h"
#include "study/protocols/bench.h"

namespace wavetail::study {

// What a row says of a product; empty or 0 where it does not.
struct SgemmRow {
  std::int64_t m = 0, n = 0, k = 0, batch = 1;
  std::vector<std::int64_t> tile, grid;
  std::int64_t stages = 0, threads = 0;
  std::string kernel;
};

// A kernel whose blocks all take `steps` equal steps; `make` gives its whole grid with so many.
struct WaveKernel {
  std::int64_t steps = 0;
  std::function<kernel::Kernel(std::int64_t steps)> make = {};
};

// Launches `shorter` and `longer` of a wave, which stands for `waves` of them; what lies between
// the two counts `more` times again.
struct WaveTime {
  std::size_t shorter = 0, longer = 0;
  double more = 0, waves = 1;
};

// How it was timed: a framework's call between two events of an idle stream, or launches that
// follow each other.
enum class Harness { Call, Launches };

[[nodiscard]] Plan waves_plan(const WaveKernel& kernel, const SgemmRow& row, Harness harness,
                              Quantity quantity, const gpu::GpuSpec& gpu);

// The template's kernel.
[[nodiscard]] WaveKernel tiles_of(const library::sgemm::Plan& plan, const gpu::GpuSpec& gpu);

// sgemm_ladders.cc: the step of a ladder that a row's `kernel` names; nothing if it names a
// library's. Throws Unmapped where the step's program is not known.
[[nodiscard]] std::optional<WaveKernel> ladder_kernel(const SgemmRow& row, const gpu::GpuSpec& gpu);

}  // namespace wavetail::study
