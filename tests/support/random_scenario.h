// SPDX-License-Identifier: Apache-2.0
// Scenarios from a seed: odd GPUs, kernels with programs of every construct, every pattern and
// walk, timelines with streams, graphs and synchronisations. All of them are legal; each takes a
// few thousand events.
#pragma once

#include <cstdint>

#include "scenario/scenario.h"
#include "support/random_gpu.h"

namespace wavetail::tests {

struct RandomOptions {
  double most_events = 20'000;  // about
  bool streams = true;          // else everything in one stream
  GpuKind gpu = GpuKind::Odd;
};

[[nodiscard]] scenario::Scenario random_scenario(std::uint64_t seed,
                                                 const RandomOptions& options = {});

}  // namespace wavetail::tests
