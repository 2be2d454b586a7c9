// SPDX-License-Identifier: Apache-2.0
// What a block moves of a box of the TMA, on the average over a launch's tiles: with multicast the
// blocks of a cluster share a box, and of clipped boxes the rows beyond the array stay away.
#pragma once

#include "kernel/kernel.h"

namespace wavetail::bound {

// Bytes that a block fetches or stores of one such box, the mean over the grid (with `shares`, over
// the tiles). Loops around the box do not count: those of clipped boxes stay within rows.
[[nodiscard]] double moved_bytes(const kernel::Box& box, const kernel::Kernel& kernel);

}  // namespace wavetail::bound
