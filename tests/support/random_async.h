// SPDX-License-Identifier: Apache-2.0
// Scenarios of asynchronous kernels from a seed: rings of boxes with and without multicast, copy
// pipelines, warpgroup matrix instructions, peers' shared memory. All of them end.
#pragma once

#include <cstdint>

#include "scenario/scenario.h"

namespace wavetail::tests {

enum class AsyncKind { Ring, Copies, Tensor, Peers };

[[nodiscard]] scenario::Scenario random_async(std::uint64_t seed, AsyncKind kind, bool odd_gpu);

}  // namespace wavetail::tests
